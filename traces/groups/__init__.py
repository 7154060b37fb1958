"""Groups of a real cluster, followed record by record in the `__consumer_offsets` segments of its brokers."""
