"""Collects the metrics record by record: how each of them went in the course of a log."""

from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import compress
from operator import ne
from typing import NamedTuple

import numpy as np

from kafkaproof.traces.basics.columns import Rows
from kafkaproof.traces.metrics.observer import COUNTERS, GAUGES, Observer
from kafkaproof.traces.metrics.partitions import OF_STATES
from kafkaproof.traces.metrics.rules import COUNTED
from kafkaproof.traces.reading.cluster import Members
from kafkaproof.traces.reading.current_states import Standing
from kafkaproof.traces.reading.state_records import StateWrite, StateWrites
from kafkaproof.traces.reading.sweep import Listener
from kafkaproof.traces.zookeeper.transactions import Transaction
from kafkaproof.traces.zookeeper.tree import Tree


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

    def extend(self, samples: np.ndarray, values: np.ndarray) -> None:
        """Note new values, and the numbers of the samples that brought them."""
        self.samples.frombytes(samples.astype(np.uint32).tobytes())
        self.values.frombytes(values.astype(np.int64).tobytes())

    def at(self, numbers: np.ndarray) -> np.ndarray:
        """The value after each of some samples."""
        values = np.concatenate([[self.initial], np.array(self.values)])
        return values[np.searchsorted(np.array(self.samples), numbers, "right")]

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
        self._of_states = [self._courses.index(self.courses[name]) for name in OF_STATES]
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

    def add_of_states(self, zxids: np.ndarray, times: np.ndarray, values: np.ndarray) -> None:
        """Note the metrics OF_STATES after each of some records, a row for each, all other metrics staying."""
        last = [self._last[place] for place in self._of_states]
        changed = np.diff(values, axis=0, prepend=[last]) != 0
        sampled = changed.any(axis=1)
        numbers = len(self.moments) - 1 + np.cumsum(sampled)
        columns, rows = np.nonzero(changed.T)
        bounds = np.searchsorted(columns, np.arange(len(last) + 1)).tolist()
        numbers, values = numbers[rows], values[rows, columns]
        for place, first, end in zip(self._of_states, bounds, bounds[1:]):
            if first < end:
                self._courses[place].extend(numbers[first:end], values[first:end])
                self._last[place] = int(values[end - 1])
        self.moments.extend(zxids[sampled], times[sampled])

    @property
    def changes(self) -> Iterator[tuple[int, int, dict[str, int]]]:
        """Zxid and time of each sample, and the metrics that its record changed."""
        waiting = [(name, iter(zip(course.samples, course.values))) for name, course in self.courses.items()]
        following = {name: next(rows, None) for name, rows in waiting}
        for number, (zxid, time) in enumerate(self.moments):
            changed = {}
            for name, rows in waiting:
                if (row := following[name]) and row[0] == number:
                    changed[name] = row[1]
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


class Metrics(Listener):
    """Collects the metrics of a log that is swept; records written while the snapshot was taken are not counted."""

    def __init__(self, members: Members, root: str):
        self._members, self._root = members, root

    def begin(self, tree: Tree, standing: Standing) -> None:
        """The tree before the first record that counts."""
        self._observer = Observer(self._members, self._root, tree)
        self.series: Series | None = None

    def before(self, transaction: Transaction) -> None:
        """A record, and the tree before it."""
        self._begin(transaction.time)
        self._changed = self._observer.add(transaction)

    def after(self, transaction: Transaction, contradictions: tuple[str, ...]) -> None:
        """The same record, and the tree after it."""
        observer, zxid, time = self._observer, transaction.zxid, transaction.time
        series = self._begin(time)
        series.ended = time
        if self._changed:
            for partition, counted in observer.settle().items():
                series.counted.append(zxid, time, partition, counted)
            series.add(zxid, time, observer.values())

    def state_written(self, write: StateWrite, contradictions: tuple[str, ...]) -> None:
        """A record that sets a partition's state."""
        self._begin(write.transaction.time)
        self._observer.note_state(write.partition, write.state)
        self._changed = True
        self.after(write.transaction, contradictions)

    def states_written(self, writes: StateWrites) -> None:
        """Many such records."""
        series, partitions = self._begin(int(writes.times[0])), self._observer.partitions
        series.ended = int(writes.times[-1])
        before, after, values = partitions.set_states(writes)
        rows = np.flatnonzero(before != after)
        series.counted.extend(
            writes.zxids[rows], writes.times[rows], (writes.partitions[rows], partitions.named), (after[rows], COUNTED)
        )
        series.add_of_states(writes.zxids, writes.times, values)

    def end(self) -> None:
        """The log is over."""
        self._begin(0).unclean_by_epoch = self._observer.partitions.unclean_by_epoch

    def _begin(self, began: int) -> Series:
        if self.series is not None:
            return self.series
        self.series = series = Series(dict(zip((*GAUGES, *COUNTERS), self._observer.values())), began)
        for partition, counted in self._observer.settled.items():
            series.counted.append(0, began, partition, counted)
        return series
