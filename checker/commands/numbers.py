"""Numbers in the options of commands."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def not_negative(text: str, number: Callable[[str], float], wanted: str) -> float:
    """The finite number, 0 or more, that `number` reads in a text; argparse reports that it is not `wanted` otherwise."""
    try:
        value = number(text)
    except ValueError:
        value = -1
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not {wanted}")
    return value
