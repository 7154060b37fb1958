"""Exploring a model by hand: choose a step, step back, take another; on a local page or in a terminal."""
