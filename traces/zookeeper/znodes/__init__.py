"""What Kafka keeps in znodes, as every version writes it."""
