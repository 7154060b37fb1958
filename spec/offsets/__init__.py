"""Where a group keeps its offset: in ZooKeeper, in Kafka, or in both while it moves from one to the other."""
