"""Deliberate mistakes in control requests."""

from kafkaproof.spec.requests.mutants import events, liveness, requests

MUTANTS = {"current": requests.MUTANTS + events.MUTANTS + liveness.REQUESTS}
