"""Words for what people read."""

from collections.abc import Sized


def counted(things: Sized, name: str) -> str:
    """How many things there are, in words: ``1 transition``, ``3 transitions``."""
    return f"{len(things)} {name}{'' if len(things) == 1 else 's'}"
