"""Properties of the old consumer."""
