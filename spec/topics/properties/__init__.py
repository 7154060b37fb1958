"""Properties of topics."""
