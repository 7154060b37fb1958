"""The whole cluster as a state of the specification, while a recording is followed."""
