"""The offsets partition as a group's steps see it: their seams to what is appended, and to what is read."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Protocol

from kafkaproof.impl.broker.record import Nothing
from kafkaproof.impl.protocol.offset_records import Committed, Entry, GroupValue, batch_of
from kafkaproof.spec.group import storage
from kafkaproof.spec.group.records import (
    GROUP_RECORD,
    GROUP_TOMBSTONE,
    NO_RECORD,
    OFFSET_RECORD,
    OFFSET_TOMBSTONE,
    RECORD,
    TOMBSTONES,
)
from kafkaproof.spec.group.sorts import NOWHERE
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.plain import new_state
from kafkaproof.spec.running.coordinators import SCOPE

TOMBS = (GROUP_TOMBSTONE, OFFSET_TOMBSTONE, TOMBSTONES)
"""The kinds of tombstones."""


class Stored(Protocol):
    """What of a group is put into the offsets log, and read from it."""

    name: str
    brought: dict[str, bytes]
    contents: dict[int, dict]
    offsets: dict[tuple[str, int], Committed]
    stored: dict[int, tuple[dict[str, bytes], int]]

    def value(self, record) -> GroupValue: ...

    def tombstones(self, kind: int) -> list[Entry]: ...

    def describe(self, record, value: GroupValue | None) -> None: ...

    def install_assignments(self, brought: dict[str, bytes]) -> None: ...


class GroupStorage:
    """The seams to the offsets log, each the one of its name in `kafkaproof.spec.group.storage`.

    `log` is how the specification reads it; `append` puts a batch into it and tells its place, -1 where the log
    refuses it. `deliveries` has what has become of appends, by place: None for acknowledged, else the error.
    """

    ghosts = Nothing()

    def __init__(self, group: Stored, leader):
        self._group, self._leader = group, leader
        self.deliveries: dict[int, int | None] = {}
        self.offered: dict[tuple[str, int], Committed] = {}
        self.log = SimpleNamespace(slots=_Slots(group, leader))

    def leads(self, b):
        """Whether this broker leads the offsets partition."""
        return self._leader.leads()

    def has_begun(self, epoch):
        """Whether the election of an epoch was held: a broker that knows of it has heard of it."""
        return True

    def has_news(self, epoch):
        """Whether this broker has heard of a later leader than the one of `epoch`."""
        return len(self._leader.changes) > epoch

    def is_next_leader(self, b, epoch):
        """Whether this broker is that leader."""
        return self._leader.changes[epoch]

    def has_more(self, b, read):
        """Whether there is another batch to be read."""
        return self.leads(b) and read < self._leader.length

    def is_readable(self, read):
        """Whether all was read."""
        return read == self._leader.length

    def put_record(self, b, kind, generation):
        """Append the offsets at hand: the place, -1 where the log refuses them."""
        name = self._group.name
        if kind in TOMBS:
            return self._leader.append(name, batch_of(self._group.tombstones(kind)), self)
        if kind != OFFSET_RECORD:
            raise ValueError(f"a record of kind {kind} is appended: a defect")
        place = self._leader.append(name, batch_of([Entry(name, *each) for each in self.offered.items()]), self)
        if place != NOWHERE:
            self._group.contents[place] = dict(self.offered)
        return place

    def append_group(self, b, group, owner):
        """Append the group as it is, with the assignments at hand."""
        name = self._group.name
        place = self._leader.append(name, batch_of([Entry(name, None, self._group.value(group))]), self)
        if place != NOWHERE:
            self._group.stored[place] = self._group.brought, owner
        return place

    def last_generation(self):
        """History only."""
        return 0

    def may_succeed(self, b, position):
        """Whether an append is acknowledged."""
        return position in self.deliveries and self.deliveries[position] is None

    def may_fail(self, position, error):
        """Whether an append has failed with this error; one without a place has failed for want of a leader."""
        return error == (storage.NOT_LEADER if position == NOWHERE else self.deliveries.get(position))

    def acknowledge(self, position):
        """Replication has done it."""

    def fail(self, position):
        """Replication has done it."""

    def refuse_append(self):
        """The log has done it."""

    def count_fault(self):
        """A running broker counts no faults."""

    def decide_deletion(self, b, offset):
        """History only."""

    def note_death(self, dies):
        """History only."""

    def note_deletion(self, b):
        """History only."""

    def note_commit(self, position):
        """History only."""

    def owner_in(self, position):
        """The assignment of the record at `position`, as the leader of the group brought it."""
        brought, owner = self._group.stored.pop(position)
        self._group.install_assignments(brought)
        return owner

    def is_aged(self, position):
        """No retention period passes."""
        return 0


class _Slots:
    """The offsets log as the specification reads it: what is of another group is no record, and neither is what deletes
    some of a group's offsets, and leaves others.
    """

    def __init__(self, group, leader):
        self._group, self._leader = group, leader

    def __getitem__(self, place):
        record = new_state(RECORD, SCOPE)
        entries = [entry for entry in self._leader.entries(place) if entry.group == self._group.name]
        offsets = {entry.place: entry.value for entry in entries if entry.place}
        record.kind, record.leader, record.protocol, record.topic = NO_RECORD, NOBODY, NOBODY, NOBODY
        record.owner = NOBODY
        if offsets and len(offsets) == len(entries) and not any(offsets.values()):
            others = self._group.offsets.keys() - offsets.keys()
            for deleted in offsets if others else ():
                self._group.offsets.pop(deleted, None)
            if others:
                return record
        if offsets:
            self._group.contents[place] = offsets
            buries = any(entry.place is None for entry in entries)
            record.kind = OFFSET_RECORD if any(offsets.values()) else TOMBSTONES if buries else OFFSET_TOMBSTONE
        elif entries:
            value = entries[-1].value
            record.kind = GROUP_RECORD if value else GROUP_TOMBSTONE
            self._group.describe(record, value)
        return record
