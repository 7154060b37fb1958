"""Deliberate mistakes in replication."""

from kafkaproof.spec.replication.mutants import replication, steps

MUTANTS = {"kip320": replication.MUTANTS + steps.MUTANTS}
