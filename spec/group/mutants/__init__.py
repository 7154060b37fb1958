"""Deliberate mistakes in groups."""

from kafkaproof.spec.group.mutants import events, group, liveness

MUTANTS = {
    "current": group.MUTANTS + events.MUTANTS + liveness.GROUP,
    "forgetful": group.FORGETFUL_MUTANTS,
    "static": group.STATIC_MUTANTS,
    "locked": group.LOCKED_MUTANTS,
    "limited": group.LIMITED_MUTANTS,
    "scheduled": group.SCHEDULED_MUTANTS,
    "transactional": group.TRANSACTIONAL_MUTANTS,
}
