"""The reassignment of partitions in two phases (up to 2.3), by the controller of `partition`."""
