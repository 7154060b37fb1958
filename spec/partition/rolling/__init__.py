"""A rolling upgrade: controllers of two releases write states."""
