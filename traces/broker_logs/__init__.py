"""Holds what brokers' own logs tell to what ZooKeeper's log shows."""
