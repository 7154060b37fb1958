"""Kafka's bytes: requests and answers on the wire, record batches, records of the offsets partition."""
