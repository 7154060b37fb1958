"""Walks on all processors of a Spark cluster: rounds of batches, until something is violated, or there were enough."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.compile.expansion import compile_all, told_fault
from kafkaproof.checker.compile.kernel import Kernel
from kafkaproof.checker.compile.machine import SPEED
from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.spark.cluster import run_job
from kafkaproof.checker.walk.batch import WIDTH, Path, Task, Walked, walk
from kafkaproof.checker.walk.estimate import Different

ROUND = 2
"""The batches of each processor in a round."""


@dataclass(frozen=True)
class Walks:
    """How far to walk: so many walks, or so many minutes, each of at most `length` steps. A seed draws them."""

    seed: int
    length: int
    walks: int | None = None
    minutes: float | None = None

    @property
    def batches(self) -> int | None:
        """How many batches that is; None where only time is a limit."""
        return None if self.walks is None else -(-self.walks // WIDTH)


@dataclass
class Met:
    """What the batches up to now have met; `violated` and `goals`: the path of the batch with the lowest number for each,
    `batches`: how many there were.
    """

    transitions: tuple[str, ...]
    bounds: tuple[str, ...]
    violated: dict[str, tuple[int, Path]] = field(default_factory=dict)
    goals: dict[str, tuple[int, Path]] = field(default_factory=dict)
    batches: int = 0
    steps: int = 0
    seconds: float = 0.0
    different: Different = field(default_factory=Different)

    def __post_init__(self) -> None:
        self._taken = np.zeros(len(self.transitions), np.int64)
        self._cuts = np.zeros(max(1, len(self.bounds)), np.int64)

    def add(self, walked: Walked, goals: set[str]) -> None:
        """Add a batch; they come in the order of their numbers."""
        for name, path in walked.paths.items():
            (self.goals if name in goals else self.violated).setdefault(name, (walked.number, path))
        self.batches, self.steps = self.batches + 1, self.steps + walked.steps
        self.different.join(walked.different.registers)
        self._taken += walked.taken
        self._cuts += walked.cuts

    def is_enough(self, walks: Walks, keep_going: bool) -> bool:
        """Whether no more batches are wanted."""
        if self.violated and not keep_going:
            return True
        if walks.batches is not None and self.batches >= walks.batches:
            return True
        return walks.minutes is not None and self.seconds >= 60 * walks.minutes

    @property
    def walks(self) -> int:
        """How many walks there were."""
        return self.batches * WIDTH

    @property
    def taken(self) -> dict[str, int]:
        """How often each transition was enabled in a state that a walk came to."""
        return dict(zip(self.transitions, self._taken.tolist()))

    @property
    def cuts(self) -> dict[str, int]:
        """How many steps each bound has left out."""
        return dict(zip(self.bounds, self._cuts.tolist()))


def walk_all(
    kernel: Kernel,
    context,
    walks: Walks,
    *,
    keep_going: bool = False,
    deadlock: bool = False,
    progress: Callable[[Met], None] = lambda met: None,
) -> Met:
    """Walk until a batch violates a property, or to the end with `keep_going`. What a batch meets does not depend on how many
    processors there are. The first batch walks in this process, the others on Spark.

    Raises UserError where a step leaves a declared range, and ClusterError where Spark fails.
    """
    began, task = time.monotonic(), _task(kernel, walks, deadlock)
    compile_all([kernel.compiled], SPEED)
    goals = {p.name for p in kernel.state_properties if p.kind == "sometimes"}
    met = Met(kernel.compiled.transition_names, kernel.compiled.bounds)
    rounds = _rounds(task, context, walks.batches)
    while not met.is_enough(walks, keep_going):
        for walked in next(rounds):
            if walked.fault is not None:
                raise UserError(f"{told_fault(kernel, walked.fault)}; mend the specification")
            met.add(walked, goals)
            if met.violated and not keep_going:
                break
        met.seconds = time.monotonic() - began
        progress(met)
    return met


def _task(kernel: Kernel, walks: Walks, deadlock: bool) -> Task:
    states = Execution(kernel.model, kernel.scope).initial_states()
    initial = np.array([kernel.packing.pack(state) for state in states], np.uint64)
    return Task(kernel.compiled, initial, tuple(kernel.bases[:-1]), walks.seed, walks.length, deadlock)


def _rounds(task: Task, context, batches: int | None) -> Iterator[list[Walked]]:
    """The first batch, then all others, as many at a time as there are processors for."""
    yield [walk(task, 0)]
    shared, first = context.broadcast(task), 1
    while batches is None or first < batches:
        end = first + context.defaultParallelism * ROUND
        numbers = range(first, end if batches is None else min(end, batches))
        first = numbers.stop
        yield run_job(context.parallelize(numbers, len(numbers)).map(_Job(shared)).collect)


class _Job:
    """What a Spark task does with the number of a batch."""

    def __init__(self, shared):
        self._shared = shared

    def __call__(self, number: int) -> Walked:
        return walk(self._shared.value, number)
