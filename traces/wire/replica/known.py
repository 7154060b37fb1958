"""What is known of the replicas of partitions, as traffic goes on: logs, high watermarks, and what leaders know of followers."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

from kafkaproof.spec.protocol.batches import Batch
from kafkaproof.spec.replica.broker import UNKNOWN_END
from kafkaproof.spec.replica.storage import NO_EPOCH
from kafkaproof.traces.wire.history import Partition
from kafkaproof.traces.wire.replica.logs import FAR, Log, Records


class Next(NamedTuple):
    """Where a follower may fetch next: its log's end, and the epoch of its last record, None where that is not known;
    `batches`: what it has appended for it.
    """

    end: int
    last: int | None
    batches: tuple[Batch, ...] = ()


@dataclass
class Replica:
    """A replica. As a leader its high watermark is between `hw_least` and `hw_most`, and the end that it knows of a
    follower is at most that in `ends_most` and, where it has one in `ends_least`, at least that; `has_begun`: it was seen
    to begin to lead, so that it knows of no follower but by what was seen.
    """

    log: Log = field(default_factory=Log)
    hw_least: int = 0
    hw_most: int = FAR
    ends_most: dict[int, int] = field(default_factory=dict)
    ends_least: dict[int, int] = field(default_factory=dict)
    has_begun: bool = False
    nexts: list[Next] | None = None

    def most_of(self, follower: int) -> int:
        """The highest end that it can know of a follower."""
        return self.ends_most.get(follower, UNKNOWN_END if self.has_begun else FAR)

    def begin(self, hw: int) -> None:
        """It begins to lead, with a high watermark that is at most there: it knows no follower's end."""
        self.ends_most, self.ends_least, self.has_begun = {}, {}, True
        self.hw_least, self.hw_most, self.nexts = 0, hw, None

    def restart(self) -> None:
        """A new process begins: what it has on disk may have changed."""
        self.ends_least, self.hw_least, self.nexts = {}, 0, None
        self.log.is_known, self.log.least = False, 0

    def create(self) -> None:
        """The partition is new: its log is empty."""
        self.log, self.hw_least, self.hw_most = Log(), 0, 0
        self.nexts = [Next(0, NO_EPOCH)]


class Known:
    """The replicas by broker and partition, and the records of partitions."""

    def __init__(self) -> None:
        self.replicas: dict[Partition, dict[int, Replica]] = defaultdict(lambda: defaultdict(Replica))
        self.records: dict[Partition, Records] = defaultdict(Records)
        self._created: set[Partition] = set()

    def of(self, broker: int, partition: Partition) -> Replica:
        """The replica of a partition on a broker."""
        own = self.replicas[partition]
        if broker not in own and partition in self._created:
            own[broker].create()
        return own[broker]

    def create(self, partition: Partition) -> None:
        """A partition is new."""
        self._created.add(partition)
        self.records[partition] = Records()
        for each in self.replicas[partition].values():
            each.create()

    def begin(self, broker: int, partition: Partition) -> None:
        """A broker begins to lead; as a follower it was told of no high watermark that no leader had."""
        own = self.of(broker, partition)
        own.begin(max(each.hw_most for each in self.replicas[partition].values()))

    def free(self, broker: int, partition: Partition) -> None:
        """A broker has led, and follows: what it had asked for before says nothing of where it fetches."""
        self.of(broker, partition).nexts = None

    def remove(self, broker: int, partition: Partition) -> None:
        """A replica is deleted: if the broker gets another one, that begins with an empty log."""
        self.of(broker, partition).create()

    def restart(self, broker: int) -> None:
        """A broker registers: its process may be new."""
        for own in self.replicas.values():
            if broker in own:
                own[broker].restart()
