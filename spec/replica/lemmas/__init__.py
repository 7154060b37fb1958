"""Lemmas of replicas: what proofs of properties rest on."""
