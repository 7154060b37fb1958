"""What operators would have seen: the metrics that ZooKeeper alone can show, over time."""
