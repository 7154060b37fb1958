"""Lemmas of control requests: what proofs of properties rest on."""
