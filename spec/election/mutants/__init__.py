"""Deliberate mistakes in controller election."""
