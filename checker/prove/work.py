"""How much z3 may do, by its own count of steps, which is the same on every machine."""

from __future__ import annotations

from collections.abc import Callable

import z3

from kafkaproof.checker.explore.progress import silent

MILLION = 1_000_000
MOST = 2**32 - 1
PATIENCE = 10


class Work:
    """Work for all questions of a proof, in millions of z3's own steps (its resource count, `rlimit`).

    Everything that z3 does in this process counts, building formulas too. `patience` is the limit for one question
    about several goals at once. `note` is called with what is being done.
    """

    def __init__(self, millions: float, note: Callable[[str], object] = silent):
        self._meter, self.patience = z3.SimpleSolver(), millions / PATIENCE
        self._begin = self._count()
        self._end = self._begin + millions * MILLION
        self._note, self._whole = note, self

    def part(self, millions: float) -> Work:
        """A part of the work: `millions` million steps from now on, which also count as steps of the whole."""
        part = Work(millions, self._note)
        part._whole = self._whole
        return part

    def tell(self, text: str) -> None:
        """Report what is being done."""
        self._note(f"{text}  {self._whole.done():,.0f} million steps of z3")

    def _count(self):
        return self._meter.statistics().get_key_value("rlimit count")

    def left(self) -> float:
        """Millions of steps left."""
        return (self._end - self._count()) / MILLION

    def done(self) -> float:
        """Millions of steps done."""
        return (self._count() - self._begin) / MILLION

    def limit(self, solver: z3.Solver, millions: float | None = None) -> None:
        """Limit a solver's next question to the work left, and to `millions` million steps if given."""
        left = self.left() if millions is None else min(millions, self.left())
        solver.set("rlimit", min(MOST, max(1, int(left * MILLION))))
