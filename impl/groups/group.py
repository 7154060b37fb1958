"""One group on one broker: the specification's record of it, what the record leaves out, and its live seams.

The specification knows members, protocols and committed offsets by numbers; here is what they stand for. An offset is
known there by the place of its record in the offsets log: the committed offsets of all partitions in it are `offsets`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import FunctionType, SimpleNamespace

from kafkaproof.impl.broker.record import Nothing, new_record, transition
from kafkaproof.impl.groups.network import GroupNetwork
from kafkaproof.impl.protocol.offset_records import Committed, Entry, GroupValue, Member, batch_of
from kafkaproof.spec.group import storage
from kafkaproof.spec.group.coordinator import BROKER, GONE, MEMBER
from kafkaproof.spec.group.records import (
    GROUP_RECORD,
    GROUP_TOMBSTONE,
    NO_RECORD,
    OFFSET_RECORD,
    OFFSET_TOMBSTONE,
    RECORD,
)
from kafkaproof.spec.group.sorts import NOWHERE
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.plain import new_state
from kafkaproof.spec.language.sets import with_member
from kafkaproof.spec.running import coordinators
from kafkaproof.spec.running.coordinators import MODEL, SCOPE, UNKNOWN, begin


class GroupStorage:
    """The seams to the offsets log, each the one of its name in `kafkaproof.spec.group.storage`.

    `log` is how the specification reads it; `append` puts a batch into it and tells its place, -1 where the log
    refuses it. `deliveries` has what has become of appends, by place: None for acknowledged, else the error.
    """

    ghosts = Nothing()

    def __init__(self, group: Group, leader):
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
        if kind != OFFSET_RECORD:
            raise ValueError(f"a record of kind {kind} is appended: a defect")
        name = self._group.name
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
    """The offsets log as the specification reads it: what is of another group is no record."""

    def __init__(self, group, leader):
        self._group, self._leader = group, leader

    def __getitem__(self, place):
        record = new_state(RECORD, SCOPE)
        entries = [entry for entry in self._leader.entries(place) if entry.group == self._group.name]
        offsets = {entry.place: entry.value for entry in entries if entry.place}
        record.kind, record.leader, record.protocol, record.topic = NO_RECORD, NOBODY, NOBODY, NOBODY
        record.owner = NOBODY
        if offsets:
            self._group.contents[place] = offsets
            record.kind = OFFSET_RECORD if any(offsets.values()) else OFFSET_TOMBSTONE
        elif entries:
            value = entries[-1].value
            record.kind = GROUP_RECORD if value else GROUP_TOMBSTONE
            self._group.describe(record, value)
        return record


class Group:
    """One group: `broker` is the specification's record; `members` by their numbers there, `protocols` likewise.

    `contents` are the offsets of batches by place, until they are the group's or were refused; `stored` the assignments
    of groups that were appended, likewise.
    """

    def __init__(self, name: str, leader):
        self.name, self.leader = name, leader
        self.broker = new_record(BROKER, SCOPE)
        self.network, self.storage = GroupNetwork(), GroupStorage(self, leader)
        self.network.content = self._content
        self.state = SimpleNamespace(brokers={leader.broker: self.broker}, network=self.network, storage=self.storage)
        self.protocols: list[str] = []
        with transition():
            begin(self.broker)
        self.forget()

    def forget(self) -> None:
        """Drop what the cache has of it."""
        self.protocol_type = ""
        self.members: dict[int, Member] = {}
        self.offsets: dict[tuple[str, int], Committed] = {}
        self.contents: dict[int, dict] = {}
        self.brought: dict[str, bytes] = {}
        self.stored: dict[int, tuple[dict[str, bytes], int]] = {}

    # Numbers

    def number_of(self, member_id: str) -> int:
        """The number of a member id, that of nobody where it is not known."""
        record = self.broker.group
        return next(
            (n for n, member in self.members.items() if member.id == member_id and record.members[n].status != GONE),
            UNKNOWN,
        )

    def fresh(self) -> int | None:
        """The least number that nobody has, None where there is none."""
        taken = {asked.id for asked in self.network.kept.values()}
        return next((n for n in range(UNKNOWN) if self.broker.group.members[n].status == GONE and n not in taken), None)

    def protocol_number(self, name: str) -> int:
        """The number of a protocol."""
        if name not in self.protocols:
            self.protocols.append(name)
        return self.protocols.index(name)

    @property
    def protocol(self) -> str | None:
        """The protocol of the present generation."""
        chosen = self.broker.group.protocol
        return None if chosen == NOBODY else self.protocols[chosen]

    def present(self) -> list[int]:
        """The numbers of the members."""
        return [n for n in range(UNKNOWN) if self.broker.group.members[n].status == MEMBER]

    # Records

    def value(self, record) -> GroupValue:
        """What the log keeps of the group, with the assignments that were brought."""
        found = [replace(self.members[n], assignment=self.brought.get(self.members[n].id, b"")) for n in self.present()]
        leader = None if record.leader == NOBODY else self.members[record.leader].id
        return GroupValue(self.protocol_type, record.generation, self.protocol, leader, found)

    def describe(self, record, value: GroupValue | None) -> None:
        """Fill the specification's record of a group from what the log has."""
        if value is None:
            return
        self.protocol_type, record.generation = value.protocol_type, value.generation
        self.members = dict(enumerate(value.members))
        record.protocol = NOBODY if value.protocol is None else self.protocol_number(value.protocol)
        record.topic = 0 if value.members else NOBODY
        for n, member in self.members.items():
            record.members = with_member(record.members, n)
            if member.id == value.leader:
                record.leader = n
            if member.assignment and record.owner == NOBODY:
                record.owner = n

    def install_assignments(self, brought: dict[str, bytes]) -> None:
        """Give the members the assignments that the leader has brought."""
        for n in self.present():
            self.members[n].assignment = brought.get(self.members[n].id, b"")

    def install_offsets(self) -> None:
        """Commit the offsets that stand at the place of the committed offset."""
        for place, value in self.contents.pop(self.broker.group.offset, {}).items():
            if value is None:
                self.offsets.pop(place, None)
            else:
                self.offsets[place] = value

    def _content(self, asked, id=NOBODY, generation=0, leading=0) -> dict:
        """What an answer says beside its verdict."""
        record = self.broker.group
        told = {
            "offsets": self.offsets,
            "refused": asked.refused,
            "generation": generation,
            "protocol": self.protocol,
            "assignment": b"",
            "members": [],
            "id": "",
            "leader": "",
        }
        if id != NOBODY:
            told["id"] = self.members[id].id if id in self.members else asked.member.id
        elif asked.id in self.members:
            told["assignment"] = self.members[asked.id].assignment
        if generation:
            told["leader"] = self.members[record.leader].id
            told["members"] = [self.members[n] for n in self.present()] if leading else []
        return told


def bound() -> dict[Callable, FunctionType]:
    """The steps of *group* that a coordinator takes, each with its seams live."""
    return coordinators.bound(MODEL, GroupNetwork, GroupStorage)
