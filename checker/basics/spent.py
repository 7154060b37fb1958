"""Seconds by phase, measured where the work of a partition is done."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

RECEIVING, TABLE, STEPS, ROUTING, WRITING = "receiving", "table", "steps", "routing", "writing"
PHASES = {
    STEPS: "run transitions, judge properties, pack successors",
    TABLE: "look up successors in the table of seen states",
    ROUTING: "sort successors by the partition that owns them",
    RECEIVING: "receive blocks of successors",
    WRITING: "write new states to the run directory",
}
"""The phases of a level, and what each does."""


class Spent:
    """The seconds that one partition spends on each phase of a level."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._within = [0.0]

    @contextmanager
    def on(self, phase: str) -> Iterator[None]:
        """Count the seconds of a block as those of a phase, but for those of phases within it."""
        began = time.perf_counter()
        self._within.append(0.0)
        try:
            yield
        finally:
            seconds = time.perf_counter() - began
            self.seconds[phase] += seconds - self._within.pop()
            self._within[-1] += seconds

    def each(self, phase: str, found: Iterator) -> Iterator:
        """What an iterator yields; the seconds until each is there are those of a phase."""
        end = object()
        while True:
            with self.on(phase):
                item = next(found, end)
            if item is end:
                return
            yield item

    @property
    def rounded(self) -> dict[str, float]:
        """The seconds of each phase, to the microsecond."""
        return {phase: round(seconds, 6) for phase, seconds in self.seconds.items()}
