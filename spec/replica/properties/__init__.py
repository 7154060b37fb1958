"""Properties of replicas."""
