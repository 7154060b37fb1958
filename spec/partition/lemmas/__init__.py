"""Lemmas of partitions: what proofs of properties rest on."""
