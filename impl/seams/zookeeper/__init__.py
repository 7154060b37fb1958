"""ZooKeeper as a broker knows it: its session, the znodes that Kafka keeps, and what the steps ask for, live."""
