"""Deliberate mistakes in replicas."""

from kafkaproof.spec.replica.mutants import liveness, producing, replica, steps

MUTANTS = {
    "current": replica.MUTANTS + steps.MUTANTS + liveness.REPLICA,
    "fenced": replica.FENCED_MUTANTS,
    "idempotent": producing.MUTANTS,
    "idempotent-unknown": producing.REFUSING,
}
