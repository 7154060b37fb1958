"""The work of one partition in one level: drop seen states, judge the new ones, expand them, route the successors.

The same code runs in the threads of the driver and in Spark's tasks.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import resource
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from kafkaproof.checker.basics.spent import RECEIVING, ROUTING, STEPS, TABLE, Spent
from kafkaproof.checker.compile.expansion import Expansion
from kafkaproof.checker.compile.kernel import Compiled
from kafkaproof.checker.runs.directory import RunDirectory
from kafkaproof.checker.runs.few import Few
from kafkaproof.checker.runs.seen import Seen
from kafkaproof.checker.runs.table import SMALLEST, keys_of, owners_of
from kafkaproof.checker.spark.routing import Router, Single, rows_of

TABLES = "kafkaproof-tables-"
MEMORY = Path("/dev/shm")
ROOM = 1 << 30


def take_new(seen: Seen | Few, level: int, blocks: Iterable[bytes], words: int, spent: Spent) -> np.ndarray:
    """The rows of `blocks` whose states are new in `level`, shape (n, words + 1)."""
    with spent.on(TABLE):
        return seen.take(level, (rows_of(block, words) for block in spent.each(RECEIVING, iter(blocks))))


def warm_up(words: int, partitions: int) -> None:
    """Load the functions that a level needs beside the kernel, or compile them; a state has so many `words`."""
    seen, router, spent = Seen(words), Router(words, partitions), Spent()
    rows = np.zeros((SMALLEST, words + 1), np.uint64)
    rows[:, 0] = np.arange(SMALLEST)
    states = np.ascontiguousarray(take_new(seen, 0, [rows.tobytes()], words, spent)[:, :-1])
    owners_of(states, partitions)
    numbers = np.zeros(len(states), np.int64)
    list(router.send(states, numbers, numbers, keys_of(states)))


def expand(
    expansion: Expansion, states: np.ndarray, router: Router | Single, spent: Spent, report=lambda generated: None
) -> Iterator[tuple[int, bytes]]:
    """Expand packed states and yield the successors as (owner, block)."""
    keys = keys_of(states)
    for out, origins, numbers in spent.each(STEPS, expansion.run(states)):
        report(len(out))
        yield from spent.each(ROUTING, router.send(out, origins, numbers, keys))
    yield from router.rest()


def summary_of(expansion: Expansion, states: np.ndarray, seen: Seen | Few) -> dict:
    """The summary of an expansion that is written beside the states: tallies, first violations, memory."""

    def hexed(i):
        return states[i].tobytes().hex()

    return {
        "generated": int(expansion.coverage.sum()),
        "coverage": expansion.coverage.tolist(),
        "cuts": expansion.cuts.tolist(),
        "judged": [None if i < 0 else hexed(i) for i in expansion.judged],
        "broken": [None if i < 0 else [hexed(i), int(number)] for i, number in expansion.broken],
        "deadlock": None if expansion.dead[0] < 0 else hexed(expansion.dead[0]),
        "fault": None if expansion.fault[0] < 0 else [hexed(expansion.fault[0]), int(expansion.fault[1])],
        "table_bytes": seen.bytes,
        "older_bytes": seen.on_disk,
        "rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def advance(
    run: RunDirectory,
    expansion: Expansion,
    seen: Seen | Few,
    level: int,
    blocks: Iterable[bytes],
    partition: int | None,
    router: Router | Single,
    report=lambda generated: None,
) -> Iterator[tuple[int, bytes]]:
    """Take `level`'s new states out of `blocks`, write them down, and yield their successors."""
    spent = Spent()
    rows = take_new(seen, level, blocks, expansion.compiled.words, spent)
    states = np.ascontiguousarray(rows[:, :-1])
    expansion.clear()
    yield from expand(expansion, states, router, spent, report)
    run.write_part(level, partition, rows, summary_of(expansion, states, seen), spent)


@contextmanager
def seen_before(
    run: RunDirectory, compiled: Compiled, level: int, partition: int, partitions: int, memory: int | None
) -> Iterator[Seen]:
    """What one partition has seen in the levels before `level`, locked for one task; all together take so much `memory`.

    What lacks levels (a new executor's) gets them from the run directory; what has others (of an attempt
    that failed, or of a task that was killed) is made anew.
    """
    own = table_directory(run) / f"partition-{partition}"
    limit, beside = None, None
    if memory is not None:
        limit, beside = memory // partitions, older_directory(run) / f"older-{partition}"

    def opened():
        own.mkdir(exist_ok=True)
        return Seen(compiled.words, own / "table", limit, beside)

    with open(own.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        seen = opened()
        if not -1 <= seen.level < level:
            shutil.rmtree(own)
            seen = opened()
        if seen.level < level - 1:
            missing = run.levels()[seen.level + 1 : level]
            seen.know(level - 1, (states for done in missing for states in run.states(done, partition, partitions)))
        yield seen


def table_directory(run: RunDirectory) -> Path:
    """Where the executor that this worker belongs to keeps its tables of `run`.

    In memory (``/dev/shm``) if there is room, else in the temporary directory. It is named after the worker's parent,
    so that the workers of a lost executor never share a table with those of its successor. Directories whose
    owner is gone are removed.
    """
    in_memory = os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= ROOM
    return _own_directory(MEMORY if in_memory else Path(tempfile.gettempdir()), run)


def older_directory(run: RunDirectory) -> Path:
    """Where the executor that this worker belongs to keeps older states of `run`: in the temporary directory."""
    return _own_directory(Path(tempfile.gettempdir()), run)


def _own_directory(base, run):
    remove_orphans(base)
    directory = base / f"{TABLES}{os.getppid()}-{hashlib.sha256(run.uri.encode()).hexdigest()[:16]}"
    directory.mkdir(exist_ok=True)
    return directory


def remove_orphans(base: Path) -> None:
    """Remove tables whose owner, named by its process id, no longer runs."""
    for directory in base.glob(f"{TABLES}*"):
        owner = directory.name.removeprefix(TABLES).split("-")[0]
        if not Path(f"/proc/{owner}").exists():
            shutil.rmtree(directory, ignore_errors=True)
