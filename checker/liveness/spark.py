"""Deciding liveness on Spark, for graphs that one process cannot hold: rounds of messages between partitions.

Each round is one Spark job. What a partition knows after it is written to the run directory, as are the states and
steps themselves, so that a task that is run again begins where it did. What the rounds leave is small, or empty, and
is searched in the driver.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

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
from kafkaproof.checker.spark.cluster import ClusterError, LostLevel, run_job

MOST_LEFT = 3_000_000
MESSAGE = 3

_PARTS: dict[tuple[str, int], Part] = {}


@dataclass(frozen=True)
class Work:
    """What a task does for one question in round `number`, from 1 on; pickled to the executors."""

    uri: str
    question: Question
    number: int
    partitions: int

    def round(self, name: str, partition: int, blocks: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
        """One round of a partition, by the name of the method of `Rounds`: what it tells, as (owner, block)."""
        run, rounds = RunDirectory(self.uri), self.before(partition)
        messages = np.frombuffer(b"".join(block for _, block in blocks), np.uint64).reshape(-1, MESSAGE)
        told = getattr(rounds, name)(messages, self.number)
        run.write_columns(f"{_round(self.number)}/known-{partition}", rounds.known)
        facts = {"removed": np.array([rounds.removed]), "answered": np.array([rounds.answered])}
        run.write_columns(f"{_round(self.number)}/facts-{partition}", facts)
        owners = owner_of(np.ascontiguousarray(told[:, 0]), self.partitions)
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
        """How many states of a partition wait; of them have a fair step that is cut; are alive; have what must last."""
        rounds, question = self.before(partition), self.question
        waiting = (rounds.known["distance"] < FAR) & ((rounds.part.marks & np.uint64(question.goal)) == 0)
        cut = (rounds.part.cut & np.uint64(question.weak | question.strong)) != 0
        lasts = (rounds.part.marks & np.uint64(question.lasting)) == np.uint64(question.lasting)
        yield int(waiting.sum()), int((waiting & cut).sum()), int(rounds.known["alive"].sum()), int(lasts.sum())

    def possible(self, partition: int, _) -> Iterator[int]:
        """The actions of which some state of a partition has a step, as bits."""
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
    """What the rounds leave of a question: a graph that holds every fair set, and where its states are reached.

    Of the `waiting` states `cut` have a fair step that a bound cuts; `answered`: whether any has a step to the goal;
    `lasts`: whether any state at all has what must last.
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
        run.delete_columns(FOLDER)

        def write(partition, _):
            write_part(RunDirectory(uri), look, partition, partitions)
            return iter(())

        self._each(write)

    def decide(self, question: Question) -> Left:
        """Take away all that cannot belong to a fair set; raises UserError when too much is left for the driver."""
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
        """The actions of which some state has a step, as bits."""
        return int(np.bitwise_or.reduce(self._each(self._work(1).possible)))

    def way_to(self, state: np.ndarray) -> tuple[np.ndarray, int, list[int]]:
        """Where the waiting begins that ends in a packed state: that state, its level, and the steps from there."""
        numbers, here = [], hashes_of(state.reshape(1, -1))[0]
        while True:
            rounds = self._work(1).before(int(owner_of(here, self._partitions)))
            place = rounds.part.places(np.array([here]))[0]
            step = int(rounds.known["step"][place])
            if step < 0:
                return rounds.part.states[place], int(rounds.part.level[place]), numbers
            numbers.insert(0, step)
            here = rounds.known["parent"][place]

    def close(self) -> None:
        """Delete what was kept for liveness."""
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
        """One round; whether it has no messages for the next."""
        self._number += 1
        silent = self._exchange(self._work(), name)
        self._run.delete_columns(_round(self._number - 2))
        return silent

    def _exchange(self, work, name):
        """One Spark job: each partition takes the messages that it has received, and tells others."""
        if self._received is None:
            told = self._range().mapPartitionsWithIndex(lambda p, _: work.round(name, p, ()))
        else:
            told = self._received.mapPartitionsWithIndex(lambda p, blocks: work.round(name, p, blocks))
        received = told.partitionBy(self._partitions, lambda owner: owner)
        silent = _job(received._jrdd.isEmpty)
        self._received = None if silent else received
        return silent

    def _told(self, name):
        """Whether any partition has a fact of the last round."""
        files = (f"{_round(self._number)}/facts-{p}" for p in range(self._partitions))
        return any(self._run.read_columns(file)[name][0] for file in files)

    def _range(self):
        return self._context.range(self._partitions, numSlices=self._partitions)

    def _each(self, work):
        return _job(lambda: self._range().mapPartitionsWithIndex(work).collect())


def _graph(columns):
    """The graph of what is left, and the region that it is."""
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
