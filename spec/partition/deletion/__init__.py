"""The deletion of topics, by the controller of `partition`."""
