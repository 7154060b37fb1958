"""Deliberate mistakes in replicas."""
