"""Deliberate mistakes in topics."""
