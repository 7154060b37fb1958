"""Spark: starting it, checking that it can do the work, and running one job for each level."""

from __future__ import annotations

import gc
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import numpy as np

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.compile.kernel import Compiled, Expansion
from kafkaproof.checker.compile.machine import cache_directory
from kafkaproof.checker.runs.directory import RunDirectory
from kafkaproof.checker.runs.table import Table, owners_of
from kafkaproof.checker.spark.partition import advance, expand, seen_before, table_directory, take_new

Answer = TypeVar("Answer")
JAVA = 17
# A local JVM only passes blocks on; optimizing its code would take processor time from the kernel.
SPARING = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


class ClusterError(UserError):
    """Spark cannot be used; the message says why and what to do."""


def start(master: str):
    """A SparkContext on `master`; raises ClusterError without Java 17+ or when the master is not there."""
    _require_java()
    _require_master(master)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    from pyspark import SparkConf, SparkContext

    conf = SparkConf().setMaster(master).setAppName("kafkaproof")
    for name, value in _settings(master).items():
        conf.setIfMissing(name, value)
    log = cache_directory().parent / "spark.log"
    try:
        with _stderr_to(log):
            return SparkContext(conf=conf)
    except Exception as error:  # py4j and the launcher raise errors of many kinds
        raise ClusterError(f"cannot start Spark on {master}: {_reason(error)} (its log is {log})") from error


def _reason(error):
    """The line of a Java error that says what is wrong, or the first line of any other."""
    lines = (str(error).strip() or type(error).__name__).splitlines()
    return next((line.removeprefix(": ") for line in lines if line.startswith(": ")), lines[0])


@contextmanager
def _stderr_to(log):
    """Redirect the standard error of processes started in this block to the file `log`, for as long as they live."""
    log.parent.mkdir(parents=True, exist_ok=True)
    own = os.dup(2)
    with open(log, "w") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(own, 2)
        os.close(own)


def _settings(master):
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.stage.maxConsecutiveAttempts": "1",
        "spark.speculation": "false",
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.kryoserializer.buffer.max": "512m",
        "spark.driver.memory": "2g",
        "spark.python.unix.domain.socket.enabled": "true",
    }
    if re.match(r"local(\[|$)", master):
        settings |= {
            "spark.driver.extraJavaOptions": SPARING,
            "spark.shuffle.compress": "false",
            "spark.shuffle.checksum.enabled": "false",
        }
    host = re.match(r"spark://\[?([^:\]]+)", master)
    if host is None or host[1] in ("localhost", "127.0.0.1"):
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return settings


def _require_java():
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")
    if java is None:
        where = f"under JAVA_HOME={home}" if home else "on PATH"
        raise ClusterError(f"no java {where}; install Java {JAVA} or later (Debian: openjdk-17-jre-headless)")
    text = subprocess.run([java, "-version"], capture_output=True, text=True).stderr
    version = re.search(r'version "(?:1\.)?(\d+)', text)
    if not version or int(version[1]) < JAVA:
        found = version[1] if version else "unknown"
        raise ClusterError(f"{java} is Java {found}; Spark needs Java {JAVA} or later")


def _require_master(master):
    if not re.fullmatch(r"local(\[.*\])?|local-cluster\[\d+,\d+,\d+\]|(spark|yarn|k8s).*", master):
        raise ClusterError(
            f"unknown Spark master {master!r}; try local[*], local-cluster[2,1,1024] or spark://HOST:PORT"
        )
    for host, port in re.findall(r"(?:spark://|,)\[?([^:,\]]+)\]?:(\d+)", master):
        try:
            socket.create_connection((host, int(port)), timeout=5).close()
        except OSError as error:
            raise ClusterError(f"cannot reach the Spark master {master}: {error}; is it running?") from error


_EXPANSIONS: dict[str, Expansion] = {}


class LevelTask:
    """What a Spark task does; pickled to the executors."""

    def __init__(self, uri: str, compiled: Compiled, partitions: int, generated):
        self.uri, self.compiled, self.partitions, self.generated = uri, compiled, partitions, generated

    def _report(self, generated):
        self.generated.add(generated)

    def expansion(self) -> Expansion:
        """The loaded kernel, which the worker keeps from task to task."""
        entry = self.compiled.entry
        if entry not in _EXPANSIONS:
            _EXPANSIONS.clear()
            _EXPANSIONS[entry] = Expansion(self.compiled)
            gc.freeze()  # a worker collects garbage after every task, and numba leaves many objects to scan
        return _EXPANSIONS[entry]

    def probe(self, index: int, _) -> Iterator[str]:
        """Load all machine code and write a file into the run directory; yields the file's name."""
        words = self.compiled.words
        rows = take_new(Table(words), [bytes(8 * (words + 1))], words)
        list(expand(self.expansion(), np.ascontiguousarray(rows[:, :-1]), self.partitions))
        owners_of(np.zeros((0, words), np.uint64), self.partitions)
        name = f"probe-{index}"
        RunDirectory(self.uri).write_probe(name)
        yield name

    def restart(self, level: int, partition: int) -> Iterator[tuple[int, bytes]]:
        """Expand the new states of a complete level again."""
        run = RunDirectory(self.uri)
        done = run.levels()[level]
        for states in run.states(done, partition, self.partitions):
            yield from expand(self.expansion(), np.ascontiguousarray(states), self.partitions)

    def advance(self, level: int, partition: int, blocks: Iterable[tuple[int, bytes]]):
        """Do one level of one partition; see `partition.advance`."""
        run = RunDirectory(self.uri)
        with seen_before(run, self.compiled, level, partition, self.partitions) as table:
            yield from advance(
                run,
                self.expansion(),
                table,
                level,
                (block for _, block in blocks),
                partition,
                self.partitions,
                self._report,
            )

    def clear(self, _) -> Iterator[None]:
        """Remove this executor's tables of the run."""
        shutil.rmtree(table_directory(RunDirectory(self.uri)), ignore_errors=True)
        return iter(())


class Levels:
    """The chain of Spark jobs that follows one complete level of a run."""

    def __init__(self, context, run: RunDirectory, compiled: Compiled, partitions: int):
        self._context, self._partitions = context, partitions
        self.generated = context.accumulator(0)
        self._task = LevelTask(run.uri, compiled, partitions, self.generated)

    def probe(self, run: RunDirectory) -> None:
        """Have every executor load the kernel and write to the run directory; raises ClusterError."""
        task = self._task
        slots = max(self._partitions, self._context.defaultParallelism)
        try:
            names = run_job(
                lambda: self._context.range(slots, numSlices=slots).mapPartitionsWithIndex(task.probe).collect()
            )
        except LostLevel as lost:
            raise ClusterError(f"the executors cannot load the model: {lost}") from lost
        unseen = [name for name in names if not run.take_probe(name)]
        if unseen:
            raise ClusterError(f"the run directory {run.uri} is not shared with the executors; name one that is")

    def restart(self, level: int) -> None:
        """Begin after `level`, the last complete one."""
        task = self._task
        source = self._context.range(self._partitions, numSlices=self._partitions)
        self._exchange(source.mapPartitionsWithIndex(lambda p, _: task.restart(level, p)))

    def advance(self, level: int) -> None:
        """Run one level as one Spark job, which ends when every successor is with its owner.

        Whether there is any successor is decided inside Spark's JVM, by a look at one block and without Python.
        """
        task = self._task
        self._exchange(self._received.mapPartitionsWithIndex(lambda p, blocks: task.advance(level, p, blocks)))
        run_job(self._received._jrdd.isEmpty)

    def clear(self) -> None:
        """Remove the tables of the executors that answer; the next run removes those of dead ones."""
        slots = max(self._partitions, self._context.defaultParallelism)
        task = self._task
        run_job(lambda: self._context.range(slots, numSlices=slots).mapPartitions(task.clear).count())

    def _exchange(self, successors):
        """Hand blocks to their owners."""
        self._received = successors.partitionBy(self._partitions, lambda owner: owner)


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


class LostLevel(Exception):
    """A Spark job failed, for instance because an executor was lost; the level can be run again."""


def _cause(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("at ")]
    told = [line for line in lines if "Error" in line or "Exception" in line or "lost" in line.lower()]
    return (told or lines or ["no reason given"])[-1 if told else 0][:300]
