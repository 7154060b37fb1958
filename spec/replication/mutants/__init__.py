"""Deliberate mistakes in replication."""
