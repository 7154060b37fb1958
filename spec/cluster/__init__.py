"""The composed cluster: controllers that fail over, over partitions whose replicas have logs and clients."""
