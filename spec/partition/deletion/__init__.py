"""The deletion of topics, in the controller that `partition` has."""
