"""Deliberate mistakes in groups."""

from kafkaproof.spec.group.mutants import clients, events, group, liveness

MUTANTS = {
    "current": group.MUTANTS + events.MUTANTS + liveness.GROUP,
    "forgetful": clients.FORGETFUL,
    "static": group.STATIC_MUTANTS,
    "never-empty": group.NEVER_EMPTY_MUTANTS,
    "locked": group.LOCKED_MUTANTS,
    "limited": group.LIMITED_MUTANTS,
    "scheduled": clients.SCHEDULED,
    "transactional": group.TRANSACTIONAL_MUTANTS,
}
