"""Words for what people read."""

from collections.abc import Sized


def counted(things: Sized | int, name: str) -> str:
    """How many things there are, in words: ``1 transition``, ``3 transitions``, ``2 processes``."""
    count = things if isinstance(things, int) else len(things)
    ending = "" if count == 1 else "es" if name.endswith("s") else "s"
    return f"{count:,} {name}{ending}"


def times(count: int) -> str:
    """How often, in words: ``once``, ``3 times``."""
    return "once" if count == 1 else f"{count:,} times"
