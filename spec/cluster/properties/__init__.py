"""Properties of the composed cluster."""
