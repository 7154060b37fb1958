"""Deliberate mistakes in the migration."""

from kafkaproof.spec.migration.mutants import drivers

MUTANTS = {"fenced": drivers.MUTANTS}
