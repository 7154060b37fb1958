"""Deliberate mistakes in topics."""

from kafkaproof.spec.topics.mutants import liveness, steps, topics, writes

MUTANTS = {
    "kip455": topics.MUTANTS + writes.MUTANTS + steps.MUTANTS + liveness.KIP455,
    "two-phase": topics.TWO_PHASE_MUTANTS + liveness.TWO_PHASE,
}
