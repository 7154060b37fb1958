"""What `kafkaproof replay` does with each kind of recording."""
