"""Work that is done piece by piece: here, one piece after the other, or (see `jobs`) in tasks of Spark."""

import sys
from collections.abc import Callable
from types import SimpleNamespace

Progress = Callable[[int, int], None]


class Here:
    """Does the work in this process."""

    @staticmethod
    def shared(value: object) -> SimpleNamespace:
        """A `value` that all pieces need."""
        return SimpleNamespace(value=value)

    def each(self, items: list, function: Callable, progress: Progress) -> list:
        """What a function answers for each item, in order; tells how many are done."""
        found = []
        for item in items:
            found.append(function(item))
            progress(len(found), len(items))
        return found


def shown(what: str) -> Progress:
    """Shows on a terminal how much of long work is done."""
    def show(done: int, of: int) -> None:
        if sys.stderr.isatty() and of > 1:
            print(f"\r{done:,} of {of:,} {what}", end="\n" if done == of else "", file=sys.stderr, flush=True)

    return show
