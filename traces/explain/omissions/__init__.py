"""Writes that a handler of a controller had to make, and that are missing when it is left."""
