"""The explorer: level-synchronous breadth-first search, in the driver first and then on Spark.

Breadth first makes the first counterexample a shortest one. Every level is committed to the run directory
before the next begins. After a failed level or a killed run, exploration resumes after the last complete level.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from pathlib import Path

import numpy as np

from kafkaproof.checker.basics.spent import Spent
from kafkaproof.checker.compile.kernel import Expansion, Kernel
from kafkaproof.checker.compile.machine import SPEED
from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.runs.directory import RunDirectory
from kafkaproof.checker.runs.outcome import Outcome, Tally
from kafkaproof.checker.runs.seen import Seen
from kafkaproof.checker.spark.blocks import LostLevel
from kafkaproof.checker.spark.cluster import Levels
from kafkaproof.checker.spark.partition import advance, expand
from kafkaproof.checker.spark.session import ClusterError

SPREAD = 40_000
DRIVER_STATES = 5_000_000
ATTEMPTS = 5
FEW = 500_000
"""In the driver, up to this many states are expanded by code that compiles faster and runs slower."""


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
    of which None is `SPREAD`. Tables of seen states take at most `memory` bytes together; what is more goes to disk.
    After a violation it goes on up to `further` states, or with `keep_going` to the end.
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
        self._spread = SPREAD if spread is None else spread
        self._further = inf if keep_going else further
        kinds = {p.name: p.kind for p in kernel.state_properties}
        initial = Execution(kernel.model, kernel.scope).initial_states()
        packed = np.array([kernel.packing.pack(s) for s in initial], np.uint64)
        self._initial = Expansion(kernel.compiled, speed=self._speed(len(packed))).representatives(packed)
        self._tally = Tally(kernel.compiled, kinds, len(self._initial), deadlock)
        self._levels = run.levels()
        for level in self._levels:
            self._tally.add(level)
        self.stopped_by: str | None = None

    def _speed(self, states):
        return SPEED if states > FEW else 0

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
        if not self._over():
            self._explore_here()
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

    def _is_small(self):
        outcome = self.outcome
        return self._context is None or (outcome.frontier < self._spread and outcome.distinct < DRIVER_STATES)

    def _explore_here(self):
        """The first levels, in this process, until the frontier is worth handing out."""
        if self._is_small():
            with tempfile.TemporaryDirectory() as directory:
                self._explore_with(Seen(self._kernel.compiled.words, None, self._memory, Path(directory)))

    def _explore_with(self, seen):
        compiled, speed = self._kernel.compiled, self._speed(self.outcome.distinct)
        expansion = Expansion(compiled, speed=speed)
        blocks = [np.hstack([self._initial, np.zeros((len(self._initial), 1), np.uint64)]).tobytes()]
        for known in self._levels:
            states = np.concatenate(list(self._run.states(known)))
            seen.know(known["level"], [states])
            if known is self._levels[-1]:
                blocks = [block for _, block in expand(expansion, states, 1, Spent())]
        while not self._over() and self._is_small():
            level = len(self._levels)
            self._run.begin_level(level)
            blocks = [b for _, b in advance(self._run, expansion, seen, level, blocks, None, 1)]
            self._complete([None])
            if speed < self._speed(self.outcome.distinct):
                speed = SPEED
                expansion = Expansion(compiled)

    def _hand_over(self):
        """Compile the kernel, so that executors need not, and see that they can work."""
        Levels(self._context, self._run, self._kernel.compiled, self._partitions).probe(self._run)

    def _explore_on_spark(self):
        """The following levels, one job each, until one fails."""
        levels = Levels(self._context, self._run, self._kernel.compiled, self._partitions, self._memory)
        levels.restart(len(self._levels) - 1)
        while not self._over():
            self._run.begin_level(len(self._levels))
            if not self._watched(levels):
                break
            self._complete(range(self._partitions))
        levels.clear()

    def _watched(self, levels):
        """Run one level while showing progress; False when the time is up first."""
        failure = []

        def work():
            try:
                levels.advance(len(self._levels))
            except Exception as error:  # noqa: BLE001 - handed to the caller's thread
                failure.append(error)

        job = threading.Thread(target=work, daemon=True)
        job.start()
        while job.is_alive():
            job.join(0.2)
            self._progress(self.outcome, levels.generated.value)
            seconds = time.monotonic() - self._began
            if job.is_alive() and self._limits.minutes and seconds / 60 >= self._limits.minutes:
                self._context.cancelAllJobs()
                job.join()
                return False
        if failure:
            raise failure[0]
        return True
