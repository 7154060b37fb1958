"""Errors that a user can act on."""

from spec.errors import UserError

__all__ = ["UserError"]
