"""Kafka's ZooKeeper-mode control plane as explicit transition systems."""
