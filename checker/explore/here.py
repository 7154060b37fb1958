"""The levels of a run in this process, without Spark: one thread for each partition, or one for all states."""

from __future__ import annotations

import tempfile
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from kafkaproof.checker.basics.spent import Spent
from kafkaproof.checker.compile.expansion import Expansion
from kafkaproof.checker.compile.kernel import Compiled
from kafkaproof.checker.runs.directory import RunDirectory
from kafkaproof.checker.runs.few import Few
from kafkaproof.checker.runs.seen import Seen
from kafkaproof.checker.spark.partition import advance, expand
from kafkaproof.checker.spark.routing import Router, Single


class Stopped(Exception):
    """A level was given up."""


class Part:
    """One partition of the states: what it has seen, its kernel, and the blocks of successors that wait for it.

    `number` is None where the states are not partitioned.
    """

    def __init__(self, number: int | None, seen: Seen | Few, expansion: Expansion):
        self.number, self.seen, self.expansion = number, seen, expansion
        self.waiting: deque[bytes] = deque()
        self.generated = 0

    def arrived(self) -> Iterator[bytes]:
        """The blocks that wait, each given away."""
        while self.waiting:
            yield self.waiting.popleft()


class Here:
    """The chain of levels of a run, in `partitions` threads; tables take at most `memory` bytes together.

    With `small`, there is a set in place of tables.
    """

    def __init__(
        self, run: RunDirectory, compiled: Compiled, partitions: int, memory: int | None, speed: int, small: bool
    ):
        self._run, self._compiled, self._partitions, self._small = run, compiled, partitions, small
        self._directory = tempfile.TemporaryDirectory()
        self._pool = ThreadPoolExecutor(partitions)
        self._stopping = threading.Event()
        limit = None if memory is None else memory // partitions
        numbers = [None] if partitions == 1 else range(partitions)
        self._parts = [
            Part(
                number,
                Few(compiled.words)
                if small
                else Seen(compiled.words, None, limit, Path(self._directory.name) / f"older-{number}"),
                Expansion(compiled, speed=speed),
            )
            for number in numbers
        ]

    @property
    def numbers(self) -> list[int | None]:
        """The numbers of the partitions; None alone where the states are not partitioned."""
        return [part.number for part in self._parts]

    @property
    def generated(self) -> int:
        """Successors found so far in the present level."""
        return sum(part.generated for part in self._parts)

    def begin(self, initial: np.ndarray) -> None:
        """Wait for packed initial states, shape (n, words), as successors of nothing; there is one partition."""
        rows = np.hstack([initial, np.zeros((len(initial), 1), np.uint64)])
        self._parts[0].waiting.append(rows.tobytes())

    def restart(self, levels: list[dict]) -> None:
        """Learn the states of complete levels, and expand those of the last one again."""
        self._each(lambda part: self._known(part, levels))

    def advance(self, level: int) -> None:
        """Do one level; raises `Stopped` when `stop` was called meanwhile."""
        self._each(lambda part: self._advanced(part, level))

    def stop(self) -> None:
        """Give up the present level."""
        self._stopping.set()

    def faster(self, speed: int) -> None:
        """Go on with a kernel compiled for another `speed`."""
        for part in self._parts:
            part.expansion = Expansion(self._compiled, speed=speed)

    def close(self) -> None:
        """Give up what is not done, end the threads, and remove what was kept on disk."""
        self.stop()
        self._pool.shutdown()
        self._directory.cleanup()

    def _each(self, work):
        """Do the work of each partition, and hand all blocks that it gives to their owners."""
        for successors in list(self._pool.map(work, self._parts)):
            for owner, block in successors:
                self._parts[owner].waiting.append(block)

    def _advanced(self, part, level):
        part.generated = 0
        blocks = part.arrived()
        found = advance(
            self._run, part.expansion, part.seen, level, blocks, part.number, self._router(), self._reporter(part)
        )
        return list(found)

    def _router(self):
        return Single() if self._small else Router(self._compiled.words, self._partitions)

    def _reporter(self, part):
        def report(generated):
            part.generated += generated
            if self._stopping.is_set():
                raise Stopped

        return report

    def _known(self, part, levels):
        for level in levels:
            part.seen.know(level["level"], self._states(level, part))
        last = np.concatenate(list(self._states(levels[-1], part)))
        return list(expand(part.expansion, last, self._router(), Spent()))

    def _states(self, level, part) -> Iterable[np.ndarray]:
        return self._run.states(level, part.number, self._partitions)
