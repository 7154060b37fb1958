"""Deliberate mistakes: a transition replaced, a statement left out."""
