"""Properties of controller election."""
