"""The reassignment of partitions (KIP-455), in the controller that `partition` has."""
