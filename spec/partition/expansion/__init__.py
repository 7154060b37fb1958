"""Partitions are added to a topic, by the controller of `partition`."""
