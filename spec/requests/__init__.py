"""Control requests between controllers and brokers: their channels, how brokers fence them, what answers do."""
