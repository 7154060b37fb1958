"""Deliberate mistakes in partitions."""

from kafkaproof.spec.partition.mutants import (
    creation,
    deletion,
    elections,
    expansion,
    liveness,
    partition,
    phases,
    reassignment,
    recovering,
    releases,
    steps,
    updates,
)

MUTANTS = {
    "fenced": partition.MUTANTS + steps.MUTANTS + liveness.FENCED,
    "creating": creation.MUTANTS,
    "deleting": deletion.MUTANTS,
    "expanding": expansion.MUTANTS,
    "forgetting": updates.DELETIONS,
    "recovering": recovering.MUTANTS,
    "reassigning": reassignment.MUTANTS,
    "altering": reassignment.ALTERATION,
    "legacy": elections.LEGACY_MUTANTS + liveness.LEGACY + releases.LEGACY,
    "phases-checked": phases.MUTANTS,
    "updating": updates.MUTANTS,
    "zkclient": releases.ZKCLIENT,
}
