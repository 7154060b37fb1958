"""Deliberate mistakes in topics."""

from kafkaproof.spec.topics.mutants import topics

MUTANTS = {"kip455": topics.KIP455, "two-phase": topics.TWO_PHASE}
