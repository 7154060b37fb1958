"""Properties of replication."""
