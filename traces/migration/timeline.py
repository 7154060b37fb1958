"""What a quorum's log says at each offset: the subjects of both stores, brokers, and how far the migration is.

Source: org.apache.kafka.image.loader.MetadataBatchLoader, 3.6 to 3.9 (what a transaction has counts from its end on).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from typing import Any, NamedTuple

from kafkaproof.traces.migration.decoding import Metadata
from kafkaproof.traces.migration.in_force import InForce, Subject
from kafkaproof.traces.migration.metadata_log import Entry, Image, MetadataLog
from kafkaproof.traces.zookeeper.znodes.quorum import Owner

SKEW = 10_000
"""How far the clocks of ZooKeeper and of a controller may differ, in ms."""
COPY = "ZK Migration"
"""What the transaction is called that copies from ZooKeeper."""


class Mode(NamedTuple):
    """From which offset on a broker is registered with the quorum, when, and whether in migration mode."""

    offset: int
    time: int
    broker: int
    migrating: bool


class Copy(NamedTuple):
    """A transaction that copies from ZooKeeper: where it begins and ends, and whether it was aborted."""

    begin: int
    end: int
    aborted: bool


class Timeline:
    """The history of one quorum's log.

    `values`: of each subject the offsets at which it changed, and to what; `removed`: the topic ids that were deleted,
    with the offset; `states`: how far the migration is, from which offset on; `modes`: registrations of brokers;
    `copies`; `contradictions`: snapshots that say otherwise than the records, each with its offset.
    """

    def __init__(self, log: MetadataLog):
        self.log = log
        self.values: dict[Subject, tuple[list[int], list[Any]]] = defaultdict(lambda: ([], []))
        self.removed: dict[str, int] = {}
        self.states: list[tuple[int, str]] = []
        self.modes: list[Mode] = []
        self.copies: list[Copy] = []
        self.contradictions: list[tuple[int, str]] = []
        self.known_from = 0
        self._in_force = InForce()
        self._open: tuple[int, str | None, list[Entry]] | None = None
        self._follow(log)

    @property
    def begins(self) -> int:
        """The time of its first record in ms, 0 where it has none."""
        return self.log.entries[0].time if self.log.entries else 0

    def is_led_by(self, owner: Owner, time: int) -> bool:
        """Whether a controller leads in its epoch, and did not before a time in ms, where that is known."""
        leader = self.log.leaders.get(owner.epoch)
        return leader is not None and leader.id == owner.id and (not time or leader.time <= time + SKEW)

    def at(self, subject: Subject, offset: int) -> Any:
        """What a subject is by the record at an offset, None where it is not there."""
        offsets, values = self.values.get(subject, ([], []))
        place = bisect_right(offsets, offset)
        return values[place - 1] if place else None

    def within(self, subject: Subject, first: int, last: int) -> list[Any]:
        """What a subject is at one offset and up to another."""
        offsets, values = self.values.get(subject, ([], []))
        return [self.at(subject, first), *values[bisect_right(offsets, first) : bisect_right(offsets, last)]]

    def changed(self, first: int, last: int) -> list[Subject]:
        """The subjects that change behind one offset and up to another."""
        return [
            subject
            for subject, (offsets, _) in self.values.items()
            if bisect_right(offsets, first) < bisect_right(offsets, last)
        ]

    def since(self, subject: Subject, offset: int) -> int | None:
        """From which offset on a subject is as it is at an offset; None where it never was there."""
        offsets, _ = self.values.get(subject, ([], []))
        place = bisect_right(offsets, offset)
        return offsets[place - 1] if place else None

    def state_at(self, offset: int) -> str:
        """How far the migration is at an offset."""
        place = bisect_right([each[0] for each in self.states], offset)
        return self.states[place - 1][1] if place else "NONE"

    def _follow(self, log: MetadataLog) -> None:
        images = sorted(log.images, key=lambda each: each.end)
        if log.begin:
            first = next((each for each in images if each.end >= log.begin), None)
            self.known_from = first.end if first else log.end
            if first:
                self._load(first)
        later = [each for each in images if each.end > self.known_from]
        for entry in log.entries:
            while later and later[0].end <= entry.offset:
                self._compare(later.pop(0))
            if entry.offset >= self.known_from:
                self._take(entry)
        for image in later:
            if image.end == log.end:
                self._compare(image)

    def _load(self, image: Image) -> None:
        for record in image.records:
            self._in_force.apply(record)
        self._note(image.end - 1)
        self.states.append((image.end - 1, self._in_force.migration))

    def _take(self, entry: Entry) -> None:
        """Take in a record, one of a transaction when that ends."""
        name, fields = entry.record
        if name == "BeginTransaction":
            self._open = entry.offset, fields.get("name"), []
        elif name in ("EndTransaction", "AbortTransaction") and self._open:
            begin, called, held = self._open
            self._open, aborted = None, name == "AbortTransaction"
            if called == COPY:
                self.copies.append(Copy(begin, entry.offset, aborted))
            for each in () if aborted else held:
                self._apply(each._replace(offset=entry.offset))
        elif self._open:
            self._open[2].append(entry)
        else:
            self._apply(entry)

    def _apply(self, entry: Entry) -> None:
        record = entry.record
        if record.name == "RegisterBroker":
            migrating = bool(record.fields.get("is_migrating_zk_broker"))
            self.modes.append(Mode(entry.offset, entry.time, record.fields["broker_id"], migrating))
        if record.name == "RemoveTopic":
            self.removed[record.fields["topic_id"]] = entry.offset
        self._in_force.apply(record)
        if record.name == "ZkMigrationState":
            self.states.append((entry.offset, self._in_force.migration))
        self._note(entry.offset)

    def _note(self, offset: int) -> None:
        for subject in self._in_force.changed:
            offsets, values = self.values[subject]
            place = bisect_left(offsets, offset)
            del offsets[place:], values[place:]
            offsets.append(offset)
            values.append(self._in_force.values.get(subject))
        self._in_force.changed = set()

    def _compare(self, image: Image) -> None:
        """Hold a snapshot against the records up to it."""
        found = in_force_of(image.records)
        mine = self._in_force.values
        wrong = sorted(each for each in mine.keys() | found.keys() if mine.get(each) != found.get(each))
        if wrong:
            named = " ".join(wrong[0])
            text = f"{image.path}: {named} is {found.get(wrong[0])}, and by the records {mine.get(wrong[0])}"
            self.contradictions.append((image.end, text))


def in_force_of(records: tuple[Metadata, ...]) -> dict[Subject, Any]:
    """What some records put in force."""
    found = InForce()
    for record in records:
        found.apply(record)
    return found.values
