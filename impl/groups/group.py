"""One group on one broker: the specification's record of it, what the record leaves out, and its live seams.

The specification knows members, protocols and committed offsets by numbers; here is what they stand for. An offset is
known there by the place of its record in the offsets log: the committed offsets of all partitions in it are `offsets`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import FunctionType, SimpleNamespace

from kafkaproof.impl.broker.record import new_record, transition
from kafkaproof.impl.groups.network import Asked, GroupNetwork
from kafkaproof.impl.groups.storage import GroupStorage
from kafkaproof.impl.protocol.offset_records import Committed, Entry, GroupValue, Member
from kafkaproof.spec.group.coordinator import BROKER, GONE, MEMBER
from kafkaproof.spec.group.records import GROUP_TOMBSTONE, OFFSET_TOMBSTONE, STATIC_RECORD
from kafkaproof.spec.group.sorts import NOWHERE
from kafkaproof.spec.group.verdicts import member_of_instance
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import only, with_member
from kafkaproof.spec.running import coordinators
from kafkaproof.spec.running.coordinators import MODEL, SCOPE, UNKNOWN, begin


class Group:
    """One group: `broker` is the specification's record; `members` by their numbers there, `protocols` likewise.

    `instances` are the group.instance.ids by their numbers, and `replaced` says of a member id in whose place it came.
    `doomed` are the offsets that a deletion of the group deletes.
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
        self.instances: list[str] = []
        self.doomed: list[tuple[str, int]] = []
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
        self.replaced: dict[str, str] = {}

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
        appends = self.broker.appends
        taken = {asked.id for asked in self.network.kept.values()}
        taken |= {each.former for each in appends.slots[: appends.length] if each.kind == STATIC_RECORD}
        return next((n for n in range(UNKNOWN) if self.broker.group.members[n].status == GONE and n not in taken), None)

    def instance_number(self, name: str | None) -> int:
        """The number of a group.instance.id; NOBODY without one."""
        return NOBODY if name is None else _number_in(self.instances, name)

    def instance_set(self, name: str | None) -> int:
        """A group.instance.id as the specification has it: a set, empty without one."""
        return 0 if name is None else only(self.instance_number(name))

    def name_instance(self, asked: Asked, name: str | None) -> None:
        """Note whose group.instance.id a request has."""
        asked.instance, asked.instance_name = self.instance_number(name), name or ""

    def member_with(self, name: str | None) -> int:
        """The number of the member that has a group.instance.id, NOBODY where none has, or without one."""
        return member_of_instance(self.broker.group, self.instance_set(name))

    def protocol_number(self, name: str) -> int:
        """The number of a protocol."""
        return _number_in(self.protocols, name)

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

    def tombstones(self, kind: int) -> list[Entry]:
        """The tombstones of a kind: of the offsets that are doomed, of the group, or of both."""
        offsets = [] if kind == GROUP_TOMBSTONE else [Entry(self.name, place, None) for place in self.doomed]
        return offsets + ([] if kind == OFFSET_TOMBSTONE else [Entry(self.name, None, None)])

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
            if member.instance is not None:
                record.instances[self.instance_number(member.instance)] = only(n)
            if member.id == value.leader:
                record.leader = n
            if member.assignment and record.owner == NOBODY:
                record.owner = n

    def install_assignments(self, brought: dict[str, bytes]) -> None:
        """Give the members the assignments that the leader has brought."""
        for n in self.present():
            self.members[n].assignment = brought.get(self.members[n].id, b"")

    def install_offsets(self) -> None:
        """Commit the offsets that stand at the place of the committed offset; without one there are none."""
        if self.broker.group.offset == NOWHERE:
            self.offsets.clear()
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
            leader = self.members[record.leader].id
            told["leader"] = leader if leading else self.replaced.get(leader, leader)
            told["members"] = [self.members[n] for n in self.present()] if leading else []
        return told


def _number_in(names: list[str], name: str) -> int:
    """The number of a name, which is the next one where it has none yet."""
    if name not in names:
        names.append(name)
    return names.index(name)


def bound() -> dict[Callable, FunctionType]:
    """The steps of *group* that a coordinator takes, each with its seams live."""
    return coordinators.bound(MODEL, GroupNetwork, GroupStorage)
