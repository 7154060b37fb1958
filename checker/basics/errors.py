"""Errors that a user can act on."""

from kafkaproof.spec.errors import UserError

__all__ = ["UserError"]
