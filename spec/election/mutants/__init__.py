"""Deliberate mistakes in controller election."""

from kafkaproof.spec.election.mutants import election, events, liveness, rolling

MUTANTS = {
    "fenced": election.MUTANTS + events.MUTANTS + liveness.ELECTION,
    "fenced-standing": liveness.STANDING,
    "rolling": rolling.MUTANTS,
}
