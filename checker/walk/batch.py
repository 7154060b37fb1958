"""A batch of random walks that advance together, a step at a time, by the compiled kernel.

Each walk takes one of the enabled transitions, all equally likely, and then one of the choices of its arguments; so a
transition with many choices does not crowd out the others. Steps to states that no walk of the batch has visited are
more likely. A walk begins again where it has no step, or has come to no such state for long.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kafkaproof.checker.compile.expansion import Expansion
from kafkaproof.checker.compile.kernel import Compiled
from kafkaproof.checker.runs.table import hashes_of
from kafkaproof.checker.spark.cluster import kept
from kafkaproof.checker.walk.estimate import Different

WIDTH = 1024
"""The walks of a batch."""
DEADLOCK = "deadlock"
NEWS = 64
"""How many times more likely a step is that leads to a state that no walk of the batch has visited."""
PATIENCE = 32
"""After so many steps without such a state a walk begins again."""
_MARKS = 22


@dataclass(frozen=True)
class Path:
    """A walk: the place of its first state among the initial ones, and the numbers of its steps."""

    start: int
    steps: tuple[int, ...]


@dataclass(frozen=True)
class Task:
    """What all batches share; `initial`: the packed initial states, `bases`: the first step number of each transition,
    `length`: the most steps of a walk.
    """

    compiled: Compiled
    initial: np.ndarray
    bases: tuple[int, ...]
    seed: int
    length: int
    deadlock: bool = False


@dataclass
class Walked:
    """What the batch of a `number` met: the first walk, with the fewest steps in it, that violates each property or
    reaches each goal; `taken`: how often each transition was enabled; `cuts`: what was left out at each bound; `fault`: the
    number of the step that left a range, None where none did.
    """

    number: int
    paths: dict[str, Path] = field(default_factory=dict)
    taken: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    cuts: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    fault: int | None = None
    steps: int = 0
    different: Different = field(default_factory=Different)


class Batch:
    """Walks of one batch; `run` takes them to their end."""

    def __init__(self, task: Task, expansion: Expansion, number: int):
        self._task, self._expansion = task, expansion
        self._random = np.random.default_rng([task.seed, number])
        self._starts = self._random.integers(len(task.initial), size=WIDTH)
        self._states = np.ascontiguousarray(task.initial[self._starts])
        self._began = np.zeros(WIDTH, np.int64)
        self._history = np.zeros((task.length, WIDTH), np.int32)
        self._marks, self._idle = np.zeros(1 << _MARKS, bool), np.zeros(WIDTH, np.int64)
        self._depth, self._walked = 0, Walked(number)

    def run(self) -> Walked:
        """Take all walks to their end, or until a step leaves a declared range."""
        expansion, walked = self._expansion, self._walked
        expansion.clear()
        for depth in range(self._task.length):
            self._depth = depth
            self._mark()
            after, moved = self._next()
            self._note()
            if expansion.fault[0] >= 0:
                walked.fault = int(expansion.fault[1])
                break
            self._states[moved] = after[moved]
            walked.steps += int(np.count_nonzero(moved))
            self._begin_again(~moved | (self._idle >= PATIENCE))
        walked.taken, walked.cuts = expansion.coverage.copy(), expansion.cuts.copy()
        return walked

    def _mark(self) -> None:
        """Note where the walks are, and of each for how long it has been nowhere new."""
        hashes = hashes_of(self._states)
        self._walked.different.add(hashes)
        marks = hashes >> np.uint64(64 - _MARKS)
        self._idle = np.where(self._marks[marks], self._idle + 1, 0)
        self._marks[marks] = True

    def _next(self) -> tuple[np.ndarray, np.ndarray]:
        """The state after the next step of each walk, and which walks have a step."""
        after, moved = np.zeros_like(self._states), np.zeros(WIDTH, bool)
        for successors, origins, numbers in self._expansion.run(self._states):
            transitions = np.searchsorted(self._task.bases, numbers, "right")
            known = self._marks[hashes_of(successors) >> np.uint64(64 - _MARKS)]
            places = chosen(self._random, origins, transitions, known)
            walks = origins[places]
            after[walks], moved[walks] = successors[places], True
            self._history[self._depth, walks] = numbers[places]
        return after, moved

    def _begin_again(self, walks: np.ndarray) -> None:
        """Let walks that have no step begin anew."""
        self._starts[walks] = self._random.integers(len(self._task.initial), size=int(np.count_nonzero(walks)))
        self._states[walks] = self._task.initial[self._starts[walks]]
        self._began[walks], self._idle[walks] = self._depth + 1, 0

    def _note(self) -> None:
        """Keep the walks that were the first to show something at this step."""
        expansion, compiled, paths = self._expansion, self._task.compiled, self._walked.paths
        for name, walk in zip(compiled.state_names, expansion.judged.tolist()):
            if walk >= 0 and name not in paths:
                paths[name] = self._path(walk)
        for name, (walk, number) in zip(compiled.step_names, expansion.broken.tolist()):
            if walk >= 0 and name not in paths:
                paths[name] = self._path(walk, number)
        if self._task.deadlock and expansion.dead[0] >= 0 and DEADLOCK not in paths:
            paths[DEADLOCK] = self._path(int(expansion.dead[0]))

    def _path(self, walk: int, *last: int) -> Path:
        steps = self._history[self._began[walk] : self._depth, walk].tolist()
        return Path(int(self._starts[walk]), (*steps, *last))


def chosen(random: np.random.Generator, origins: np.ndarray, transitions: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The places of one successor of each origin: each of its transitions is equally likely, and so is each successor by it,
    but those that are `known` are less likely.

    Origins rise, and so do the transitions of each of them.
    """
    if not len(origins):
        return np.zeros(0, np.int64)
    begins = np.flatnonzero(np.diff(origins, prepend=-1))
    together = np.flatnonzero((np.diff(origins, prepend=-1) != 0) | (np.diff(transitions, prepend=-1) != 0))
    counts = np.diff(together, append=len(origins))
    waits = random.standard_exponential(len(origins)) * np.repeat(counts, counts) * np.where(known, NEWS, 1)
    soonest = np.repeat(np.minimum.reduceat(waits, begins), np.diff(begins, append=len(origins)))
    places = np.flatnonzero(waits == soonest)
    return places[np.flatnonzero(np.diff(origins[places], prepend=-1))]


def walk(task: Task, number: int) -> Walked:
    """The batch of a number, which is the same on every machine."""
    return Batch(task, kept(task.compiled), number).run()
