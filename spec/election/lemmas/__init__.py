"""Lemmas of controller election: what proofs of properties rest on."""
