"""The composed cluster: controllers that fail over, and partitions whose replicas have logs and clients."""
