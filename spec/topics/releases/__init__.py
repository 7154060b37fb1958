"""The topics system as in earlier releases of Kafka."""
