"""Deliberate mistakes in groups."""
