"""Deciding liveness on Spark, for graphs too large for one process: rounds of messages between partitions.

Each round is one Spark job. States, steps and what a partition knows after each round are written to the run directory,
so that a repeated task starts from the same data. What remains after the rounds is small or empty, and is searched in
the driver.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.liveness.graph import Graph
from kafkaproof.checker.liveness.kernel import Look
from kafkaproof.checker.liveness.labels import Question
from kafkaproof.checker.liveness.parts import FOLDER, Part, read_part, write_part
from kafkaproof.checker.liveness.rounds import Rounds
from kafkaproof.checker.liveness.search import FAR, Region
from kafkaproof.checker.runs.directory import RunDirectory
from kafkaproof.checker.runs.table import hashes_of, owner_of
from kafkaproof.checker.spark.blocks import LostLevel, exchanged, places, whole
from kafkaproof.checker.spark.cluster import run_job
from kafkaproof.checker.spark.session import ClusterError

MOST_LEFT = 3_000_000
MESSAGE = 3

_PARTS: dict[tuple[str, int], Part] = {}


@dataclass(frozen=True)
class Work:
    """The work of a task for one question in round `number`, from 1 on; pickled to the executors."""

    uri: str
    question: Question
    number: int
    partitions: int

    def round(self, name: str, partition: int, blocks: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
        """Do one round, named by the method of `Rounds`; yields its messages as (owner, block)."""
        run, rounds = RunDirectory(self.uri), self.before(partition)
        messages = np.frombuffer(b"".join(whole(blocks)), np.uint64).reshape(-1, MESSAGE)
        told = getattr(rounds, name)(messages, self.number)
        run.write_columns(f"{_round(self.number)}/known-{partition}", rounds.known)
        facts = {"removed": np.array([rounds.removed]), "answered": np.array([rounds.answered])}
        run.write_columns(f"{_round(self.number)}/facts-{partition}", facts)
        owners = owner_of.plain(np.ascontiguousarray(told[:, 0]), self.partitions)
        for owner in np.unique(owners):
            yield int(owner), told[owners == owner].tobytes()

    def before(self, partition: int) -> Rounds:
        """What a partition knows before this round."""
        run, key = RunDirectory(self.uri), (self.uri, partition)
        if key not in _PARTS:
            _PARTS.clear()
            _PARTS[key] = read_part(run, partition)
        known = run.read_columns(f"{_round(self.number - 1)}/known-{partition}") if self.number > 1 else None
        return Rounds(_PARTS[key], self.question, known)

    def counts(self, partition: int, _) -> Iterator[tuple[int, int, int, int]]:
        """The numbers of states of a partition that wait; that wait and have a fair step that is cut; that are alive;
        where the lasting condition holds.
        """
        rounds, question = self.before(partition), self.question
        waiting = (rounds.known["distance"] < FAR) & ((rounds.part.marks & np.uint64(question.goal)) == 0)
        cut = (rounds.part.cut & np.uint64(question.weak | question.strong)) != 0
        lasts = (rounds.part.marks & np.uint64(question.lasting)) == np.uint64(question.lasting)
        yield int(waiting.sum()), int((waiting & cut).sum()), int(rounds.known["alive"].sum()), int(lasts.sum())

    def possible(self, partition: int, _) -> Iterator[int]:
        """The actions that have a step in some state of a partition, as bits."""
        yield int(np.bitwise_or.reduce(self.before(partition).part.enabled, initial=np.uint64(0)))

    def left(self, partition: int, _) -> Iterator[dict[str, np.ndarray]]:
        """The states of a partition that are alive, with their steps."""
        rounds = self.before(partition)
        part, alive = rounds.part, np.flatnonzero(rounds.known["alive"])
        steps, _ = part.steps_from(alive)
        yield {
            **{name: getattr(part, name)[alive] for name in ("states", "hashes", "level", "marks", "enabled", "cut")},
            **{name: getattr(part, name)[steps] for name in ("to", "number", "taken")},
            "degree": np.diff(part.first)[alive],
            "distance": rounds.known["distance"][alive],
        }


def _round(number):
    return f"{FOLDER}/round-{number:05d}"


@dataclass(frozen=True)
class Left:
    """What remains of a question after the rounds: a graph with every fair set, and where its states are reached.

    `cut` of the `waiting` states have a fair step that a bound cuts. `answered`: whether any waiting state has a step
    to the goal. `lasts`: whether the lasting condition holds in any state.
    """

    graph: Graph
    region: Region
    waiting: int
    cut: int
    answered: bool
    lasts: bool


class Partitions:
    """The graph of a finished run, in the partitions in which Spark has explored it."""

    def __init__(self, context, run: RunDirectory, look: Look, partitions: int):
        self._context, self._run, self._partitions = context, run, partitions
        self._levels, uri = len(run.levels()), run.uri
        self._places: Any = None
        run.delete_columns(FOLDER)

        def write(partition, _):
            write_part(RunDirectory(uri), look, partition, partitions)
            return iter(())

        self._each(write)

    def decide(self, question: Question) -> Left:
        """Remove all states that cannot belong to a fair set; raises UserError when too many remain for the driver."""
        self._question, self._number, self._received = question, 0, None
        answered = question.settles
        while not question.settles and not (self._do("spread") and self._number > self._levels):
            answered = answered or self._told("answered")
        self._trim()
        waiting, cut, alive, lasting = map(sum, zip(*self._each(self._work(1).counts)))
        if alive > MOST_LEFT:
            raise UserError(f"{alive:,} states may belong to a lasso, more than the driver holds; take a smaller scope")
        parts = self._each(self._work(1).left)
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        graph, region = _graph(columns)
        return Left(graph, region, waiting, cut, answered, lasting > 0)

    def possible(self) -> int:
        """The actions that have a step in some state, as bits."""
        return int(np.bitwise_or.reduce(self._each(self._work(1).possible)))

    def way_to(self, state: np.ndarray) -> tuple[np.ndarray, int, list[int]]:
        """The state where the wait that leads to a packed state begins, its level, and the steps from there."""
        numbers, here = [], hashes_of(state.reshape(1, -1))[0]
        while True:
            rounds = self._work(1).before(int(owner_of.plain(here, self._partitions)))
            place = rounds.part.places(np.array([here]))[0]
            step = int(rounds.known["step"][place])
            if step < 0:
                return rounds.part.states[place], int(rounds.part.level[place]), numbers
            numbers.insert(0, step)
            here = rounds.known["parent"][place]

    def close(self) -> None:
        """Delete what was stored for liveness."""
        if self._places is not None:
            self._places.unpersist()
        self._run.delete_columns(FOLDER)

    def _trim(self):
        self._do("begin")
        still = self._do("add")
        while True:
            while not still:
                still = self._do("weigh")
            still = self._do("charge")
            while not still:
                still = self._do("pay")
            still = self._do("refuse")
            if not self._told("removed"):
                return

    def _work(self, ahead=0):
        return Work(self._run.uri, self._question, self._number + ahead, self._partitions)

    def _do(self, name):
        """Do one round; returns whether it sends no messages to the next."""
        self._number += 1
        silent = self._exchange(self._work(), name)
        self._run.delete_columns(_round(self._number - 2))
        return silent

    def _exchange(self, work, name):
        """Run one Spark job, in which each partition reads the messages it received, and sends others."""
        if self._places is None:
            self._places = places(self._context, self._partitions)
        messages = self._places if self._received is None else self._received.union(self._places)
        told = messages.mapPartitionsWithIndex(lambda p, blocks: work.round(name, p, blocks))
        received = exchanged(told, self._partitions)
        silent = _job(received._jrdd.isEmpty)
        self._received = None if silent else received
        return silent

    def _told(self, name):
        """Whether a fact of the last round is true in any partition."""
        files = (f"{_round(self._number)}/facts-{p}" for p in range(self._partitions))
        return any(self._run.read_columns(file)[name][0] for file in files)

    def _range(self):
        return self._context.range(self._partitions, numSlices=self._partitions)

    def _each(self, work):
        return _job(lambda: self._range().mapPartitionsWithIndex(work).collect())


def _graph(columns):
    """The graph of the remaining states, and its region."""
    order = np.argsort(columns["hashes"])
    hashes = columns["hashes"][order]
    places = np.searchsorted(hashes, columns["to"]) if len(hashes) else np.zeros(0, np.int64)
    places[places == len(hashes)] = 0
    target = np.where(hashes[places] == columns["to"], order[places], -1).astype(np.int32)
    graph = Graph(
        states=columns["states"],
        level=columns["level"],
        marks=columns["marks"],
        enabled=columns["enabled"],
        cut=columns["cut"],
        first=np.append(0, np.cumsum(columns["degree"])),
        target=target,
        number=columns["number"],
        taken=columns["taken"],
    )
    inside = np.ones(len(hashes), bool)
    return graph, Region(inside, columns["distance"], np.full(len(hashes), -1, np.int64))


def _job(action):
    try:
        return run_job(action)
    except LostLevel as lost:
        raise ClusterError(f"Spark failed while liveness was decided: {lost}; resume the run") from lost
