"""Which brokers, on which racks, get the replicas of a topic."""
