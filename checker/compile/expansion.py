"""Running a compiled model: packed states in, packed successors and tallies out."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.compile.kernel import Compiled, Kernel
from kafkaproof.checker.compile.machine import SPEED, Code


class Expansion:
    """Runs the compiled `expand` over arrays of packed states and keeps the tallies; `speed` is that of `Code`."""

    def __init__(self, compiled: Compiled, capacity: int = 1 << 14, speed: int = SPEED):
        self.compiled = compiled
        self._s, self._t = np.zeros(compiled.size, np.uint8), np.zeros(compiled.size, np.uint8)
        self._size = capacity + compiled.most_successors
        self._out = np.zeros((self._size, compiled.words), np.uint64)
        self._origins, self._numbers = np.zeros(self._size, np.int64), np.zeros(self._size, np.int64)
        self._following = np.zeros(1, np.int64)
        self.coverage = np.zeros(len(compiled.transition_names), np.int64)
        self.cuts = np.zeros(max(1, len(compiled.bounds)), np.int64)
        self._trial, self._ties = np.zeros(compiled.words, np.uint64), np.array(compiled.ties, np.int64)
        self.clear()
        self._code = Code(compiled.text, *compiled.exported, speed=speed)

    def representatives(self, states: np.ndarray) -> np.ndarray:
        """The packed representative of each packed state, shape (n, words); without symmetry, the states."""
        if not self.compiled.ties:
            return states
        found = np.array(states, np.uint64)
        self._code.call("represent_all", found, len(found), self._s, self._trial, self._ties)
        return found

    def clear(self) -> None:
        """Forget the tallies, for instance before the next level."""
        self.coverage[:] = 0
        self.cuts[:] = 0
        self.judged = np.full(max(1, len(self.compiled.state_names)), -1, np.int64)
        self.broken = np.full((max(1, len(self.compiled.step_names)), 2), -1, np.int64)
        self.fault = np.full(2, -1, np.int64)
        self.dead = np.full(1, -1, np.int64)

    def run(self, states: np.ndarray):
        """Judge and expand `states`, shape (n, words); yields (successors, origins, numbers) by batches.

        `origins` are indices into `states`, `numbers` step numbers; the arrays are reused by the next
        batch. Afterwards `judged` holds, for each property of states, the first index that violates it
        (or reaches it, for *sometimes*), `broken` the first (index, step number) for each property of
        steps, `fault` the first step that left a declared range (a number below 0: an index was out of range in some
        step from that state), and `dead` the first state without a step; -1 for none.
        """
        first, states = 0, np.ascontiguousarray(states, np.uint64)
        while first < len(states):
            n = self._expand_from(states, first)
            first = int(self._following[0])
            yield self._out[:n], self._origins[:n], self._numbers[:n]

    def _expand_from(self, states, first):
        return self._code.call(
            "expand",
            states,
            first,
            len(states),
            self.compiled.most_successors,
            self._size,
            self._following,
            self._s,
            self._t,
            self._out,
            self._origins,
            self._numbers,
            self.judged,
            self.broken,
            self.coverage,
            self.cuts,
            self.fault,
            self.dead,
            self._trial,
            self._ties,
        )


def require_in_range(kernel: Kernel, expansion: Expansion) -> None:
    """Raise UserError when a step has put a value, or an index, out of its range."""
    if expansion.fault[0] >= 0:
        raise UserError(f"{told_fault(kernel, int(expansion.fault[1]))}; mend the specification")


def told_fault(kernel: Kernel, number: int) -> str:
    """The message about a `fault`: a step left a declared range, or (a number below 0) used an index out of range."""
    name = kernel.model.name
    if number < 0:
        return f"{name}: {kernel.compiled.places[-number]}"
    transition, arguments = kernel.step(number)
    return f"{name}: {transition.name}{arguments} puts a value out of its declared range"


def compile_all(kernels: Iterable[Compiled], speed: int) -> None:
    """Compile kernels, one after the other, into the cache of this machine; `speed` is that of `Code`."""
    for compiled in kernels:
        Code(compiled.text, *compiled.exported, speed=speed)
