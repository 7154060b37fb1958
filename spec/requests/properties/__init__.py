"""Properties of control requests."""
