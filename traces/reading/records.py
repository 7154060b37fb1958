"""The records of a log that are kept in files of events: read when they are asked for, and never all in memory."""

from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import chain, islice, repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from kafkaproof.traces.reading.events import table_of
from kafkaproof.traces.reading.stored_events import batches_in, numbers_of, transactions_of
from kafkaproof.traces.reading.survey import Survey
from kafkaproof.traces.zookeeper.records import Records
from kafkaproof.traces.zookeeper.transactions import Transaction

_MANY = 20_000


class Part(NamedTuple):
    """A file of events, and which of its records count; `survey` is of these.

    `runs`: their zxids, as the first and the last one (columns) of each run of them without a gap.
    """

    file: Path
    runs: np.ndarray
    survey: Survey | None

    @property
    def first(self) -> int:
        """The zxid of its first record."""
        return int(self.runs[0, 0])

    @property
    def last(self) -> int:
        """The zxid of its last record."""
        return int(self.runs[-1, 1])

    def between(self, first: int, last: int) -> "Part":
        """The records from one zxid to another."""
        if first <= self.first and self.last <= last:
            return self
        runs = np.stack([np.maximum(self.runs[:, 0], first), np.minimum(self.runs[:, 1], last)], 1)
        return Part(self.file, runs[runs[:, 0] <= runs[:, 1]], None)

    def transactions(self) -> Iterator[Transaction]:
        """Its records in the order of their zxids."""
        return chain.from_iterable(map(transactions_of, self.batches()))

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The same as rows, those of one record in one batch."""
        for batch in batches_in(self.file):
            zxids = numbers_of(batch, "zxid")
            first, last = np.searchsorted(zxids, self.first), np.searchsorted(zxids, self.last, "right")
            if first < last:
                yield batch.slice(first, last - first)

    def zxids(self) -> np.ndarray:
        """Their zxids."""
        counts = self.runs[:, 1] - self.runs[:, 0] + 1
        ends = np.cumsum(counts)
        return np.arange(ends[-1]) + np.repeat(self.runs[:, 0] - ends + counts, counts)


def runs_of(zxids: np.ndarray) -> np.ndarray:
    """The first and the last (columns) of each run without a gap of zxids, which rise."""
    cuts = np.flatnonzero(np.diff(zxids) != 1)
    return np.stack([zxids[np.append(0, cuts + 1)], zxids[np.append(cuts, -1)]], 1)


class Logged(Sequence):
    """Transactions in the order of their zxids, each once, though several files may have it.

    `kept`: the directory of the files is there as long as this is, if it is a temporary one; `groups`: parts that may
    have the same records are in one group.
    """

    def __init__(self, parts: list[Part], kept: TemporaryDirectory | None):
        self.parts, self.kept = parts, kept
        self.groups = _neighbours(parts)
        self._count = sum(len(zxids) for zxids in self.blocks())

    def __reduce__(self) -> tuple:
        """In another process: the files are there as long as they are in this one."""
        return Logged, (self.parts, None)

    @property
    def ends(self) -> tuple[int, int]:
        """The zxids of the first and the last record."""
        return min(part.first for part in self.parts), max(part.last for part in self.parts)

    def blocks(self) -> Iterator[np.ndarray]:
        """The zxids of all records in order, some at a time."""
        for group in self.groups:
            zxids = [part.zxids() for part in group]
            yield zxids[0] if len(group) == 1 else np.unique(np.concatenate(zxids))

    def all(self, group: list[Part]) -> Iterator[tuple[Transaction, Part]]:
        """Every record of every file of a group, with its part, in order."""
        return merge(*(zip(part.transactions(), repeat(part)) for part in group), key=lambda each: each[0].zxid)

    def between(self, first: int, last: int) -> "Logged":
        """The records from one zxid to another."""
        parts = [part.between(first, last) for part in self.parts]
        return Logged([part for part in parts if len(part.runs)], self.kept)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Transaction]:
        for group in self.groups:
            yield from _in_order(group)

    def __getitem__(self, place):
        if isinstance(place, slice):
            return list(self)[place]
        place = range(len(self))[place]
        for zxids in self.blocks():
            if place < len(zxids):
                return next(iter(self.between(int(zxids[place]), int(zxids[place]))))
            place -= len(zxids)
        raise IndexError(place)


def batches_of(transactions: Sequence[Transaction]) -> Iterator[pa.RecordBatch]:
    """Transactions as rows of events, those of one record in one batch."""
    if not isinstance(transactions, Logged):
        yield from _rows_of(transactions)
        return
    for group in transactions.groups:
        if len(group) == 1:
            yield from group[0].batches()
        else:
            yield from _rows_of(_in_order(group))


def _rows_of(transactions: Iterable[Transaction]) -> Iterator[pa.RecordBatch]:
    rest = iter(transactions)
    while some := list(islice(rest, _MANY)):
        yield table_of(Records.of(some)).combine_chunks().to_batches()[0]


def _neighbours(parts: list[Part]) -> list[list[Part]]:
    """The parts in groups: those in one group may have the same records, those in different ones do not."""
    groups: list[list[Part]] = []
    last = -1
    for part in sorted(parts, key=lambda part: part.first):
        if groups and part.first <= last:
            groups[-1].append(part)
        else:
            groups.append([part])
        last = max(last, part.last)
    return groups


def _in_order(group: list[Part]) -> Iterator[Transaction]:
    """The records of a group, each once."""
    if len(group) == 1:
        return group[0].transactions()
    return _once(merge(*(part.transactions() for part in group), key=lambda t: t.zxid))


def _once(transactions: Iterator[Transaction]) -> Iterator[Transaction]:
    last = None
    for transaction in transactions:
        if transaction.zxid != last:
            yield transaction
        last = transaction.zxid
