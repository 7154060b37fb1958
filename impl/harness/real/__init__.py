"""Brokers of unmodified Kafka releases, driven from outside."""
