"""Idempotent producers, in the data plane of `replica`."""
