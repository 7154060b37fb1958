"""Lemmas of topics: what proofs of properties rest on."""
