"""Deliberate mistakes in the migration."""

from kafkaproof.spec.migration.mutants import drivers, hybrid

MUTANTS = {"fenced": drivers.MUTANTS, "hybrid": hybrid.MUTANTS}
