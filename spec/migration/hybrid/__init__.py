"""Content of control requests while the quorum rules and brokers run with ZooKeeper (Kafka: hybrid mode)."""
