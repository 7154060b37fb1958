"""Breadth-first search over the states of a model, and reachable graphs."""
