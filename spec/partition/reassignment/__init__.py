"""The reassignment of partitions (KIP-455), by the controller of `partition`."""
