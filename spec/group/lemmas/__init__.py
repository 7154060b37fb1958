"""Lemmas of groups: what proofs of properties rest on."""
