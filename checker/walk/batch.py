"""A batch of random walks that advance together, a step at a time, by the compiled kernel.

Walks go to states that no walk of the batch has come to before. Each takes one of the transitions that lead to such a
state, all equally likely, and then one of the choices of its arguments; so a transition with many choices does not crowd
out the others. A walk with no such step goes on from a state that another one left with such steps to spare.

Source: Holzmann, Joshi, Groce, Swarm verification techniques, IEEE TSE 37(6), 2011 (many searches, each of which goes deep
in an order of its own and remembers little).
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
_MARKS = 22
_REST = np.uint64(64 - _MARKS)


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


class Visits:
    """The states that the walks of a batch have come to, each with the visit before it and the step from there."""

    def __init__(self, task: Task):
        most = (task.length + 1) * WIDTH
        self.states = np.empty((most, task.initial.shape[1]), np.uint64)
        self._before, self._steps = np.empty(most, np.int32), np.empty(most, np.int32)
        self._count = 0

    def add(self, states: np.ndarray, before: np.ndarray | int, steps: np.ndarray) -> np.ndarray:
        """The numbers of new visits; `before` is -1 for initial states, and `steps` their places then."""
        visits = slice(self._count, self._count + len(states))
        self.states[visits], self._before[visits], self._steps[visits] = states, before, steps
        self._count = visits.stop
        return np.arange(visits.start, visits.stop)

    def path(self, visit: int) -> Path:
        """The walk that came to a visit."""
        steps = []
        while self._before[visit] >= 0:
            steps.append(int(self._steps[visit]))
            visit = self._before[visit]
        return Path(int(self._steps[visit]), tuple(reversed(steps)))


class Batch:
    """Walks of one batch; `run` takes them to their end."""

    def __init__(self, task: Task, expansion: Expansion, number: int):
        self._task, self._expansion = task, expansion
        self._random = np.random.default_rng([task.seed, number])
        self._visits, self._walked = Visits(task), Walked(number)
        starts = self._random.integers(len(task.initial), size=WIDTH)
        self._at = self._visits.add(task.initial[starts], -1, starts)
        self._open = np.zeros(0, np.int64)
        self._marks = np.zeros(1 << _MARKS, bool)
        self._marks[hashes_of(task.initial[starts]) >> _REST] = True

    def run(self) -> Walked:
        """Take all walks to their end, until there is nothing new, or until a step leaves a declared range."""
        expansion, walked = self._expansion, self._walked
        expansion.clear()
        for _ in range(self._task.length):
            states = self._visits.states[self._at]
            walked.different.add(hashes_of(states))
            after = self._next(states)
            self._note()
            if expansion.fault[0] >= 0:
                walked.fault = int(expansion.fault[1])
                break
            moved = after >= 0
            walked.steps += int(np.count_nonzero(moved))
            if not moved.any() and not len(self._open):
                break
            self._at[moved] = after[moved]
            self._turn_back(np.flatnonzero(~moved))
        walked.taken, walked.cuts = expansion.coverage.copy(), expansion.cuts.copy()
        return walked

    def _next(self, states: np.ndarray) -> np.ndarray:
        """The visit after the next step of each walk, -1 where no step leads to a new state."""
        after = np.full(WIDTH, -1)
        for successors, origins, numbers in self._expansion.run(states):
            marks = hashes_of(successors) >> _REST
            new = np.flatnonzero(~self._marks[marks])
            transitions = np.searchsorted(self._task.bases, numbers[new], "right")
            places = new[chosen(self._random, origins[new], transitions)]
            places = places[np.unique(marks[places], return_index=True)[1]]
            walks = origins[places]
            after[walks] = self._visits.add(successors[places], self._at[walks], numbers[places])
            self._marks[marks[places]] = True
            spare = np.bincount(origins[new], minlength=WIDTH) > 1
            self._open = np.append(self._open, self._at[spare])
        return after

    def _turn_back(self, walks: np.ndarray) -> None:
        """Let walks go on from visits with steps to spare; those for which there is none begin anew."""
        count = min(len(walks), len(self._open))
        places = self._random.choice(len(self._open), count, replace=False)
        self._at[walks[:count]] = self._open[places]
        self._at[walks[count:]] = self._random.integers(WIDTH, size=len(walks) - count)
        self._open = np.delete(self._open, places)

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
        path = self._visits.path(self._at[walk])
        return Path(path.start, (*path.steps, *last))


def chosen(random: np.random.Generator, origins: np.ndarray, transitions: np.ndarray) -> np.ndarray:
    """The places of one successor of each origin: each of its transitions is equally likely, and so is each successor by it.

    Origins rise, and so do the transitions of each of them.
    """
    if not len(origins):
        return np.zeros(0, np.int64)
    begins = np.flatnonzero(np.diff(origins, prepend=-1))
    together = np.flatnonzero((np.diff(origins, prepend=-1) != 0) | (np.diff(transitions, prepend=-1) != 0))
    counts = np.diff(together, append=len(origins))
    waits = random.standard_exponential(len(origins)) * np.repeat(counts, counts)
    soonest = np.repeat(np.minimum.reduceat(waits, begins), np.diff(begins, append=len(origins)))
    places = np.flatnonzero(waits == soonest)
    return places[np.flatnonzero(np.diff(origins[places], prepend=-1))]


def walk(task: Task, number: int) -> Walked:
    """The batch of a number, which is the same on every machine."""
    return Batch(task, kept(task.compiled), number).run()
