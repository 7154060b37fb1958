"""Collects the metrics record by record: how each of them went in the course of a log."""

from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import compress
from operator import ne
from typing import NamedTuple

from traces.cluster import Members
from traces.metrics.observer import COUNTERS, GAUGES, Observer
from traces.pipeline.columns import Rows
from traces.pipeline.standing import Standing
from traces.pipeline.states import StateWrite, StateWrites
from traces.pipeline.sweep import Listener, sweep
from traces.recording import Recording
from traces.zookeeper.transactions import Transaction
from traces.zookeeper.tree import Tree


class Moment(NamedTuple):
    """A record and its time in milliseconds since 1970."""

    zxid: int
    time: int


@dataclass(frozen=True)
class Sample:
    """All metrics after one record; `time` in milliseconds since 1970."""

    zxid: int
    time: int
    values: dict[str, int]


class Course:
    """How one metric went: its value at first, and each new one with the number of the sample that brought it."""

    def __init__(self, initial: int):
        self.initial, self.samples, self.values = initial, array("I"), array("q")

    @property
    def last(self) -> int:
        """The present value."""
        return self.values[-1] if self.values else self.initial


class Series:
    """The metrics of a log: the values before the first record, and a sample for each record that changed one.

    `courses`: how each metric went, by its name; `moments`: zxid and time of each sample; `unclean_by_epoch`: unclean
    elections by the controller epoch in the state written; `ended`: time of the last record; `counted`: zxid, time,
    partition and what it counts for from that record on: what it counted for before the first record stands at zxid 0.
    """

    def __init__(self, initial: dict[str, int], began: int):
        self.initial, self.began, self.ended = initial, began, began
        self.courses = {name: Course(value) for name, value in initial.items()}
        self._courses = list(self.courses.values())
        self._last = list(initial.values())
        self.moments = Rows("qq", Moment)
        self.unclean_by_epoch: Counter = Counter()
        self.counted = Rows("qqrr")

    def add(self, zxid: int, time: int, values: list[int]) -> None:
        """Note the metrics after a record, in the order of `initial`."""
        if values == self._last:
            return
        number = len(self.moments)
        for place in compress(range(len(values)), map(ne, values, self._last)):
            course = self._courses[place]
            course.samples.append(number)
            course.values.append(values[place])
        self.moments.append(zxid, time)
        self._last = values

    @property
    def changes(self) -> Iterator[tuple[int, int, dict[str, int]]]:
        """Zxid and time of each sample, and the metrics that its record changed."""
        waiting = [(name, iter(zip(course.samples, course.values))) for name, course in self.courses.items()]
        following = {name: next(rows, None) for name, rows in waiting}
        for number, (zxid, time) in enumerate(self.moments):
            changed = {}
            for name, rows in waiting:
                if following[name] and following[name][0] == number:
                    changed[name] = following[name][1]
                    following[name] = next(rows, None)
            yield zxid, time, changed

    @property
    def samples(self) -> list[Sample]:
        """All samples with all metrics."""
        values, found = self.initial, []
        for zxid, time, changed in self.changes:
            values = values | changed
            found.append(Sample(zxid, time, values))
        return found


def metrics_of(recording: Recording, root: str) -> Series:
    """The metrics over a recording; records written while the snapshot was taken are not counted."""
    collected = Metrics(Members(recording, root), root)
    sweep(recording, root, collected)
    return collected.series


class Metrics(Listener):
    """Collects the metrics of a log that is swept."""

    def __init__(self, members: Members, root: str):
        self._members, self._root = members, root

    def begin(self, tree: Tree, standing: Standing) -> None:
        """The tree before the first record that counts."""
        self._observer = Observer(self._members, self._root, tree)
        self.series: Series | None = None

    def before(self, transaction: Transaction) -> None:
        """A record, and the tree before it."""
        if self.series is None:
            self.series = self._series(transaction.time)
        self._changed = self._observer.add(transaction)

    def after(self, transaction: Transaction, contradictions: tuple[str, ...]) -> None:
        """The same record, and the tree after it."""
        series, observer, zxid, time = self.series, self._observer, transaction.zxid, transaction.time
        series.ended = time
        if self._changed:
            for partition, counted in observer.settle().items():
                series.counted.append(zxid, time, partition, counted)
            series.add(zxid, time, observer.values())

    def state_written(self, write: StateWrite, contradictions: tuple[str, ...]) -> None:
        """A record that sets a partition's state."""
        if self.series is None:
            self.series = self._series(write.transaction.time)
        self._observer.note_state(write.partition, write.data)
        self._changed = True
        self.after(write.transaction, contradictions)

    def states_written(self, writes: StateWrites) -> None:
        """Many such records."""
        for row in range(len(writes)):
            path = writes.names.states.values[writes.partitions[row]]
            self.state_written(StateWrite(writes.transaction(row), path.known, path.place, path.place.partition, None,
                                          None, False), ())

    def end(self) -> None:
        """The log is over."""
        self.series = self.series or self._series(0)
        self.series.unclean_by_epoch = self._observer.unclean_by_epoch

    def _series(self, began: int) -> Series:
        series = Series(dict(zip((*GAUGES, *COUNTERS), self._observer.values())), began)
        for partition, counted in self._observer.settled.items():
            series.counted.append(0, began, partition, counted)
        return series
