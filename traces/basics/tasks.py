"""Work that is done piece by piece: here, one piece after the other, or (see `jobs`) in tasks of Spark."""

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace

from kafkaproof.checker.basics.printable import obeyed

Progress = Callable[[int, int], None]
_SELDOM = 100_000, 10, 10


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """Python looks for garbage in cycles less often: of a log millions of objects are alive, and few are in cycles.

    Its own thresholds (700, 10, 10) cost a sixth of the time of a replay.
    """
    before = gc.get_threshold()
    gc.set_threshold(*_SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)


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
            print(f"\r{done:,} of {of:,} {what}", end="\n" if done == of else "", file=obeyed(sys.stderr), flush=True)

    return show
