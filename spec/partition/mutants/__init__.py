"""Deliberate mistakes in partitions."""
