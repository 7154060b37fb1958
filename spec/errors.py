"""Errors that a user can act on."""

from collections.abc import Iterable
from difflib import get_close_matches


class UserError(Exception):
    """Wrong use or bad input: the message is one line that says what, where and what to do; `code` the exit code."""

    code = 2


class Unfinished(UserError):
    """What was begun cannot come to its end."""

    code = 3


def meant(name: str, known: Iterable[str]) -> str:
    """The known name that is most like an unknown one, as the end of a message; empty where none is like it."""
    close = get_close_matches(name, [*known], 1)
    return f"; did you mean {close[0]}?" if close else ""
