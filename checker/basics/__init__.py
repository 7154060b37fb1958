"""Errors that a user can act on, and text that is safe to print."""
