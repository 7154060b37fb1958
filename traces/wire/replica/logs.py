"""What is known of a replica's log: the batches that were seen of it, and between which offsets it ends."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from operator import attrgetter
from typing import NamedTuple

from kafkaproof.spec.protocol.batches import NO_PRODUCER, Batch

FAR = 1 << 62
"""An offset behind every other: where nothing bounds it."""
_BASE = attrgetter("base_offset")


class Run(NamedTuple):
    """Offsets, from `start` to before `end`, whose records are of one leader epoch."""

    start: int
    end: int
    epoch: int


def end_of(batch: Batch) -> int:
    """The offset behind a batch."""
    return batch.base_offset + batch.count


def is_same(batch: Batch, other: Batch) -> bool:
    """Whether two batches are one, wherever they stand: the same records, of the same producer."""
    return (batch.crc, batch.count, batch.producer) == (other.crc, other.count, other.producer)


class Log:
    """Batches by their offsets, and where the log ends: at `least` or later. `is_known`: nothing may have changed unseen."""

    def __init__(self) -> None:
        self._batches: list[Batch] = []
        self._runs: list[Run] | None = []
        self.least = 0
        self.is_known = True

    def at(self, offset: int) -> Batch | None:
        """The batch that has an offset, if it was seen."""
        place = bisect_right(self._batches, offset, key=_BASE) - 1
        return self._batches[place] if place >= 0 and end_of(self._batches[place]) > offset else None

    def other_than(self, batch: Batch) -> Batch | None:
        """A batch that was seen where another stands now; None where there is none."""
        place = max(bisect_right(self._batches, batch.base_offset, key=_BASE) - 1, 0)
        for each in self._batches[place:]:
            if each.base_offset >= end_of(batch):
                return None
            if end_of(each) > batch.base_offset and not _is_there(each, batch):
                return each
        return None

    def add(self, batch: Batch) -> None:
        """A batch stands in the log; what was seen in its place does not any more."""
        place = bisect_left(self._batches, batch.base_offset, key=_BASE)
        if place < len(self._batches) and _is_there(self._batches[place], batch):
            self.least = max(self.least, end_of(batch))
            return
        if place < len(self._batches) or place and end_of(self._batches[place - 1]) > batch.base_offset:
            self._runs = None
            self._batches = [
                each for each in self._batches if end_of(each) <= batch.base_offset or each.base_offset >= end_of(batch)
            ]
            place = bisect_left(self._batches, batch.base_offset, key=_BASE)
        if self._runs is not None and place == len(self._batches):
            _extend(self._runs, batch)
        else:
            self._runs = None
        self._batches.insert(place, batch)
        self.least = max(self.least, end_of(batch))

    def cut(self, offset: int) -> None:
        """The log ends at an offset."""
        while self._batches and end_of(self._batches[-1]) > offset:
            self._batches.pop()
            self._runs = None
        self.least = offset

    def runs(self) -> list[Run]:
        """The leader epochs of all that was seen, by offset."""
        if self._runs is None:
            self._runs = []
            for each in self._batches:
                _extend(self._runs, each)
        return self._runs

    def of_producer(self, id: int, epoch: int, most: int) -> list[Batch]:
        """The last batches of a producer in a leader epoch, oldest first: so many at most."""
        found: list[Batch] = []
        for each in reversed(self._batches):
            if each.epoch != epoch or len(found) == most:
                break
            if each.producer.id == id:
                found.append(each)
        return found[::-1]


def _extend(runs: list[Run], batch: Batch) -> None:
    if runs and (runs[-1].end, runs[-1].epoch) == (batch.base_offset, batch.epoch):
        runs[-1] = runs[-1]._replace(end=end_of(batch))
    else:
        runs.append(Run(batch.base_offset, end_of(batch), batch.epoch))


def _is_there(one: Batch, other: Batch) -> bool:
    return one.base_offset == other.base_offset and one.epoch == other.epoch and is_same(one, other)


class Records:
    """Which batch each leader wrote where, of one partition: all replicas that have a batch have the same.

    `keeps`: a leader was seen to keep what a producer had sent as it was; otherwise it may have compressed or stamped it.
    """

    def __init__(self) -> None:
        self._of_epoch: dict[int, Log] = defaultdict(Log)
        self._sent: set[int] = set()
        self.keeps = False

    def send(self, batch: Batch) -> None:
        """A producer has sent a batch."""
        self._sent.add(batch.crc)

    def other_than(self, batch: Batch) -> Batch | None:
        """What the leader of this epoch wrote there instead."""
        return self._of_epoch[batch.epoch].other_than(batch)

    def add(self, batch: Batch) -> None:
        """A batch was fetched."""
        self.keeps = self.keeps or batch.producer.id == NO_PRODUCER and batch.crc in self._sent
        self._of_epoch[batch.epoch].add(batch)


def words_of(batch: Batch) -> str:
    """A batch, in words."""
    return f"{batch.count} records at offset {batch.base_offset} in leader epoch {batch.epoch} (CRC {batch.crc:#x})"


def told(offsets: Iterator[int]) -> str:
    """Offsets, in words."""
    return " or ".join(map(str, sorted(set(offsets)))) or "none"
