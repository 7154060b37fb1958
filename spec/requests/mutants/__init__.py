"""Deliberate mistakes in control requests."""
