"""Deliberate mistakes in the old consumer."""

from kafkaproof.spec.consumer.mutants import consumer, events, liveness

MUTANTS = {"orderly": consumer.MUTANTS + events.MUTANTS + liveness.CONSUMER}
