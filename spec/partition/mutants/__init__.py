"""Deliberate mistakes in partitions."""

from kafkaproof.spec.partition.mutants import (
    creation,
    deletion,
    electing,
    elections,
    expansion,
    liveness,
    partition,
    phases,
    reassignment,
    recovering,
    recreation,
    releases,
    steps,
    updates,
)

MUTANTS = {
    "fenced": partition.MUTANTS + steps.MUTANTS + liveness.FENCED,
    "creating": creation.MUTANTS,
    "deleting": deletion.MUTANTS,
    "electing": electing.TWO_STEPS,
    "electing-fenced": electing.MUTANTS,
    "expanding": expansion.MUTANTS,
    "forgetting": updates.DELETIONS,
    "recovering": recovering.MUTANTS,
    "reassigning": reassignment.MUTANTS,
    "altering": reassignment.ALTERATION,
    "recreating": recreation.MUTANTS,
    "kip460": releases.KIP460,
    "legacy": elections.LEGACY_MUTANTS + liveness.LEGACY + releases.LEGACY,
    "phases-checked": phases.MUTANTS,
    "updating": updates.MUTANTS,
    "zkclient": releases.ZKCLIENT,
}
