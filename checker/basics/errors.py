"""Errors that a user can act on."""

from kafkaproof.spec.errors import UserError, meant

__all__ = ["UserError", "meant"]
