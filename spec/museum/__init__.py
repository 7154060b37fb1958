"""Earlier forms of each protocol, kept as models that fail the way Kafka once did."""
