"""The explorer: level-synchronous breadth-first search, in the driver first and then on Spark.

Breadth first makes the first counterexample a shortest one. Every level is committed to the run directory
before the next begins. After a failed level or a killed run, exploration resumes after the last complete level.
Small levels are explored by one thread. Where Spark has no other machine, larger ones are explored by threads of this
process, and only the largest by Spark, whose blocks need not fit into memory.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from math import inf

import numpy as np

from kafkaproof.checker.compile.expansion import Expansion
from kafkaproof.checker.compile.kernel import Kernel
from kafkaproof.checker.compile.machine import SPEED, is_made
from kafkaproof.checker.explore.here import Here
from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.runs.directory import RunDirectory
from kafkaproof.checker.runs.outcome import Outcome, Tally
from kafkaproof.checker.spark.blocks import LostLevel
from kafkaproof.checker.spark.cluster import Levels
from kafkaproof.checker.spark.session import ClusterError, is_local

SMALL, ALONE, TOGETHER, ON_SPARK = range(4)
"""How a level is explored: without tables, by one thread, by a thread for each partition, or on Spark."""
LEAST = 10_000
"""A run of so many states is worth tables, whose functions are machine code."""
ENOUGH = 2_000
"""Levels of this many states are worth several threads."""
SPREAD = 40_000
"""Levels of this many states are explored on Spark, if it has other machines."""
SPREAD_HERE = 5_000_000
"""Levels of this many states are explored on Spark, if it has only this one."""
ATTEMPTS = 5
FEW = 500_000
"""In the driver, up to this many states are expanded by code that compiles faster and runs slower, unless better is there."""


@dataclass(frozen=True)
class Limits:
    """When to stop early; None is no limit. Minutes are wall time of this process; disk is in bytes."""

    states: int | None = None
    depth: int | None = None
    minutes: float | None = None
    disk: int | None = None

    def reached(self, outcome: Outcome, seconds: float) -> str | None:
        """The name of the first limit reached, or None."""
        numbers = {
            "max-states": (self.states, outcome.distinct),
            "max-depth": (self.depth, outcome.depth),
            "max-minutes": (self.minutes, seconds / 60),
            "max-disk": (self.disk, outcome.bytes),
        }
        return next((name for name, (most, now) in numbers.items() if most is not None and now >= most), None)


class Explorer:
    """Explores one model into one run directory; `outcome` sums up the complete levels.

    Without a Spark `context`, all levels are explored in this process; with one, those of fewer than `spread` states,
    of which None is `SPREAD` or `SPREAD_HERE`. Tables of seen states take at most `memory` bytes together; what is more
    goes to disk. After a violation it goes on up to `further` states, or with `keep_going` to the end.
    """

    def __init__(
        self,
        run: RunDirectory,
        kernel: Kernel,
        context,
        partitions: int,
        *,
        keep_going: bool = False,
        further: int = 0,
        deadlock: bool = False,
        limits: Limits = Limits(),
        spread: int | None = None,
        memory: int | None = None,
        progress: Callable[[Outcome, int], None] = lambda outcome, generated: None,
    ):
        self._run, self._kernel, self._context, self._partitions = run, kernel, context, partitions
        self._limits, self._progress, self._memory = limits, progress, memory
        here = context is not None and is_local(context.master)
        self._threads = partitions if here and partitions <= context.defaultParallelism else 1
        self._spread = spread if spread is not None else SPREAD_HERE if here else SPREAD
        self._further = inf if keep_going else further
        kinds = {p.name: p.kind for p in kernel.state_properties}
        initial = Execution(kernel.model, kernel.scope).initial_states()
        self._at_first = SPEED if is_made(kernel.compiled.text, SPEED) else 0
        packed = np.array([kernel.packing.pack(s) for s in initial], np.uint64)
        expansion = Expansion(kernel.compiled, speed=self._speed(0))
        self._initial = np.unique(expansion.representatives(packed), axis=0) if kernel.representatives else packed
        self._tally = Tally(kernel.compiled, kinds, len(self._initial), deadlock)
        self._levels = run.levels()
        for level in self._levels:
            self._tally.add(level)
        self.stopped_by: str | None = None

    def _speed(self, states):
        return SPEED if states > FEW else self._at_first

    @property
    def outcome(self) -> Outcome:
        """What was found so far."""
        return self._tally.outcome

    def explore(self) -> None:
        """Explore to the end, to a violation, or to a limit (then `stopped_by` names it).

        Raises RunError when the run directory cannot be written, ClusterError when Spark fails for good
        or cannot share the run directory.
        """
        self._began = time.monotonic()
        stage = SMALL
        while not self._over() and stage < ON_SPARK:
            stage = max(stage, self._stage())
            if stage < ON_SPARK:
                self._explore_here(stage)
        if not self._over():
            self._hand_over()
        failures = 0
        while not self._over():
            before = len(self._levels)
            try:
                self._explore_on_spark()
            except LostLevel as lost:
                failures = 1 if len(self._levels) > before else failures + 1
                if failures == ATTEMPTS:
                    raise ClusterError(f"Spark failed {ATTEMPTS} times at level {len(self._levels)}: {lost}") from lost

    def _over(self):
        outcome = self.outcome
        if outcome.finished or outcome.fault or (outcome.violations and outcome.distinct > self._further):
            return True
        self.stopped_by = self._limits.reached(outcome, time.monotonic() - self._began)
        return self.stopped_by is not None

    def _complete(self, partitions):
        level = self._run.commit_level(len(self._levels), partitions)
        self._levels.append(level)
        self._tally.add(level)
        self._progress(self.outcome, 0)

    def _stage(self):
        """How the next level is explored best."""
        frontier = self.outcome.frontier
        if self._context is not None and frontier >= self._spread:
            return ON_SPARK
        if self._memory is None and self.outcome.distinct < LEAST:
            return SMALL
        return TOGETHER if self._threads > 1 and frontier >= ENOUGH else ALONE

    def _explore_here(self, stage):
        """The following levels, in this process, until they are worth more than this `stage`."""
        compiled, speed = self._kernel.compiled, self._speed(self.outcome.distinct)
        threads = self._threads if stage == TOGETHER else 1
        with closing(Here(self._run, compiled, threads, self._memory, speed, stage == SMALL)) as levels:
            if self._levels:
                levels.restart(self._levels)
            else:
                levels.begin(self._initial)
            while not self._over() and self._stage() <= stage and self._advanced(levels):
                self._complete(levels.numbers)
                if speed < self._speed(self.outcome.distinct):
                    speed = SPEED
                    levels.faster(speed)

    def _hand_over(self):
        """Compile the kernel, so that executors need not, and see that they can work."""
        Levels(self._context, self._run, self._kernel.compiled, self._partitions).probe(self._run)

    def _explore_on_spark(self):
        """The following levels, one job each, until one fails."""
        levels = Levels(self._context, self._run, self._kernel.compiled, self._partitions, self._memory)
        levels.restart(len(self._levels) - 1)
        while not self._over() and self._advanced(levels):
            self._complete(range(self._partitions))
        levels.clear()

    def _advanced(self, levels):
        """Run one level while showing progress; False when the time is up first."""
        level, failure = len(self._levels), []
        self._run.begin_level(level)

        def work():
            try:
                levels.advance(level)
            except Exception as error:  # noqa: BLE001 - handed to the caller's thread
                failure.append(error)

        job = threading.Thread(target=work, daemon=True)
        job.start()
        while job.is_alive():
            job.join(0.2)
            self._progress(self.outcome, levels.generated)
            seconds = time.monotonic() - self._began
            if job.is_alive() and self._limits.minutes and seconds / 60 >= self._limits.minutes:
                levels.stop()
                job.join()
                return False
        if failure:
            raise failure[0]
        return True
