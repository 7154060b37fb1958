"""How wide the terminal is that text goes to."""

import shutil
import sys

_LEAST = 40


def columns(most: int) -> int:
    """How many columns a text may have: those of the terminal and at most so many; so many where it goes to none."""
    return max(_LEAST, min(most, shutil.get_terminal_size().columns)) if sys.stdout.isatty() else most
