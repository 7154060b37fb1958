"""Proofs with z3: the merged relation of a model, induction, lemmas, bounded model checking."""
