"""The command `kafkaproof run`."""
