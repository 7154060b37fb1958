"""Deliberate mistakes in topics."""

MUTANTS = {}
