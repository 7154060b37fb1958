"""The creation of topics, by the controller of `partition`."""
