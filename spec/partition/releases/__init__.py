"""The partition system as in earlier releases of Kafka."""
