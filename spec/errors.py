"""Errors that a user can act on."""


class UserError(Exception):
    """Wrong use or bad input: the message is one line that says what, where and what to do; `code` the exit code."""

    code = 2


class Unfinished(UserError):
    """What was begun cannot come to its end."""

    code = 3
