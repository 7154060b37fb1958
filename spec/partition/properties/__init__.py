"""Properties of partitions."""
