"""Deliberate mistakes in the old consumer."""
