"""What brokers tell each other: messages, the requests of Kafka that carry them, and the connections."""
