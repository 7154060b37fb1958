"""Whether a log is sound by itself: what neither Kafka nor ZooKeeper can have written, later snapshots, sessions."""
