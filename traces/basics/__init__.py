"""What knows nothing of Kafka or ZooKeeper: columns, values over time, files, tasks."""
