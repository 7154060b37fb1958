"""The work of executors: whether they can do it, and one Spark job for each level."""

from __future__ import annotations

import gc
import platform
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

import numpy as np

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.basics.source import source
from kafkaproof.checker.basics.spent import Spent
from kafkaproof.checker.compile.expansion import Expansion
from kafkaproof.checker.compile.kernel import Compiled
from kafkaproof.checker.compile.machine import made_here, take
from kafkaproof.checker.runs.directory import RunDirectory
from kafkaproof.checker.spark.blocks import LostLevel, exchanged, places, remove, whole
from kafkaproof.checker.spark.partition import advance, expand, older_directory, seen_before, table_directory, warm_up
from kafkaproof.checker.spark.routing import Router
from kafkaproof.checker.spark.session import ClusterError

Answer = TypeVar("Answer")


_EXPANSIONS: dict[str, Expansion] = {}


def kept(compiled: Compiled) -> Expansion:
    """The loaded kernel, which a worker keeps from task to task."""
    if compiled.entry not in _EXPANSIONS:
        _EXPANSIONS.clear()
        _EXPANSIONS[compiled.entry] = Expansion(compiled)
        gc.freeze()  # a worker collects garbage after every task: what it has imported is not scanned each time
    return _EXPANSIONS[compiled.entry]


class Given(NamedTuple):
    """What executors are given before the first level: the `source` that theirs must be, and the kernel's machine code."""

    source: str
    code: tuple[str, bytes]


class LevelTask:
    """What a Spark task does; pickled to the executors."""

    def __init__(self, uri: str, compiled: Compiled, partitions: int, memory: int | None, generated):
        self.uri, self.compiled, self.partitions, self.generated = uri, compiled, partitions, generated
        self.memory = memory

    def _report(self, generated):
        self.generated.add(generated)

    def probe(self, index: int, given: Given) -> Iterator[str]:
        """Load all machine code and write a file into the run directory; yields the file's name.

        Raises UserError when this executor has another kafkaproof than the driver.
        """
        if source() != given.source:
            raise UserError(
                f"the executor on {platform.node()} has another version of kafkaproof than this command has"
            )
        take(self.compiled.text, given.code)
        warm_up(self.compiled.words, self.partitions)
        kept(self.compiled)
        name = f"probe-{index}"
        RunDirectory(self.uri).write_probe(name)
        yield name

    def restart(self, level: int, partition: int) -> Iterator[tuple[int, bytes]]:
        """Expand the new states of a complete level again."""
        run = RunDirectory(self.uri)
        done = run.levels()[level]
        for states in run.states(done, partition, self.partitions):
            yield from expand(kept(self.compiled), np.ascontiguousarray(states), self._router(), Spent())

    def advance(self, level: int, partition: int, blocks: Iterable[tuple[int, bytes]]):
        """Do one level of one partition; see `partition.advance`."""
        run = RunDirectory(self.uri)
        with seen_before(run, self.compiled, level, partition, self.partitions, self.memory) as seen:
            yield from advance(
                run, kept(self.compiled), seen, level, whole(blocks), partition, self._router(), self._report
            )

    def _router(self):
        return Router(self.compiled.words, self.partitions)

    def clear(self, _) -> Iterator[None]:
        """Remove what this executor keeps of seen states."""
        for directory in (table_directory, older_directory):
            shutil.rmtree(directory(RunDirectory(self.uri)), ignore_errors=True)
        return iter(())


class Levels:
    """The chain of Spark jobs that follows one complete level of a run; `memory` is that of all tables, in bytes."""

    def __init__(self, context, run: RunDirectory, compiled: Compiled, partitions: int, memory: int | None = None):
        self._context, self._partitions = context, partitions
        self._generated = context.accumulator(0)
        self._task = LevelTask(run.uri, compiled, partitions, memory, self._generated)
        self._places = places(context, partitions)

    @property
    def generated(self) -> int:
        """Successors found so far, on all executors."""
        return self._generated.value

    def stop(self) -> None:
        """Give up the present level."""
        self._context.cancelAllJobs()

    def probe(self, run: RunDirectory) -> None:
        """Have every executor load the kernel and write to the run directory; raises ClusterError."""
        task = self._task
        slots = max(self._partitions, self._context.defaultParallelism)
        given = Given(source(), made_here(task.compiled.text))
        probes = self._context.range(slots, numSlices=slots).mapPartitionsWithIndex(lambda i, _: task.probe(i, given))
        try:
            names = run_job(probes.collect)
        except LostLevel as lost:
            raise ClusterError(f"the executors cannot load the model: {lost}") from lost
        unseen = [name for name in names if not run.take_probe(name)]
        if unseen:
            raise ClusterError(f"the run directory {run.uri} is not shared with the executors; name one that is")

    def restart(self, level: int) -> None:
        """Begin after `level`, the last complete one."""
        task = self._task
        successors = self._places.mapPartitionsWithIndex(lambda p, _: task.restart(level, p))
        self._received = exchanged(successors, self._partitions)

    def advance(self, level: int) -> None:
        """Run one level as one Spark job, which ends when every successor is with its owner.

        Whether there is any successor is decided inside Spark's JVM, by a look at one block and without Python. The
        successors that it has read are no longer needed then.
        """
        task, read = self._task, self._received
        blocks = self._received.union(self._places)
        successors = blocks.mapPartitionsWithIndex(lambda p, blocks: task.advance(level, p, blocks))
        self._received = exchanged(successors, self._partitions)
        run_job(self._received._jrdd.isEmpty)
        remove(read)

    def clear(self) -> None:
        """Remove the tables and blocks of the executors that answer; the next run removes tables of dead ones."""
        slots = max(self._partitions, self._context.defaultParallelism)
        task = self._task
        run_job(lambda: self._context.range(slots, numSlices=slots).mapPartitions(task.clear).count())
        self._places.unpersist()
        remove(self._received)
        remove(self._places)


def run_job(action: Callable[[], Answer]) -> Answer:
    """Run a Spark action; raises LostLevel when it failed, and ClusterError when it would fail again."""
    try:
        return action()
    except Exception as error:  # noqa: BLE001 - py4j raises its own kinds
        text = str(error)
        told = re.search(r"(?:RunError|UnitError|UserError): (.*)", text)
        if told:
            raise ClusterError(told[1]) from error
        raise LostLevel(_cause(text)) from error


def _cause(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("at ")]
    told = [line for line in lines if "Error" in line or "Exception" in line or "lost" in line.lower()]
    return (told or lines or ["no reason given"])[-1 if told else 0][:300]
