"""One group at one broker, as replay has it: the specification's record, and its seams to a recording.

What clients ask and hear stands in the specification's own network. The log is the one that the replay of the offsets
partition has; what its batches say, the recording tells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace

from kafkaproof.spec.group.coordinator import BROKER, GONE, MEMBER
from kafkaproof.spec.group.network import NETWORK, drop_answer, drop_request
from kafkaproof.spec.group.records import (
    GROUP_RECORD,
    GROUP_TOMBSTONE,
    NO_RECORD,
    OFFSET_RECORD,
    OFFSET_TOMBSTONE,
    RECORD,
    TOMBSTONES,
    name_record,
)
from kafkaproof.spec.group.sorts import NOWHERE
from kafkaproof.spec.group.verdicts import member_of_instance
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.plain import Plain, new_state
from kafkaproof.spec.language.sets import only, with_member
from kafkaproof.spec.running.coordinators import SCOPE, UNKNOWN, begin
from kafkaproof.traces.processes.groups.storage import OffsetsLog, Storage
from kafkaproof.traces.processes.recorded.group_lines import Asked
from kafkaproof.traces.processes.recorded.offset_records import Entry, GroupEntry, OffsetEntry, Tombstone
from kafkaproof.traces.processes.state.result import Divergence
from kafkaproof.traces.processes.state.watched import Journal, lengthen, watched


class Group:
    """A group at one broker: its `record`, and what its numbers stand for.

    `changes` and `messages` are the journals of the record and of the network. `names` are the members by number,
    `protocols` and `instances` likewise; `replaced` says of a member in whose place it came; `offsets` and `assignments`
    are what it has committed and installed; `kept` the requests whose answers are due; `entries` the places of its
    records in the log; `owners` to whom each batch that it has appended assigns the partition, by id.
    """

    def __init__(
        self,
        name: str,
        b: int,
        log: OffsetsLog,
        changes: list[bool],
        batches: Mapping[int, tuple[Entry, ...]],
        known: Plain | None,
    ):
        self.name, self._log, self._batches = name, log, batches
        self.changes: Journal = {}
        self.record = watched(new_state(BROKER, SCOPE), self.changes)
        begin(self.record, known)
        self.messages: Journal = {}
        self.network = watched(new_state(NETWORK, SCOPE), self.messages)
        self.clear_client(0)
        self.storage = Storage(self, log, changes)
        self.state = SimpleNamespace(brokers={b: self.record}, network=self.network, storage=self.storage)
        self.protocols: list[str] = []
        self.instances: list[str] = []
        self.doomed: tuple[tuple[str, int], ...] = ()
        self.kept: dict[int, Asked] = {}
        self.entries: list[int] = []
        self.forget()

    def forget(self) -> None:
        """There is nothing of it in the cache."""
        self.names: dict[int, str] = {}
        self.offsets: dict[tuple[str, int], int] = {}
        self.assignments: dict[str, bytes] = {}
        self.replaced: dict[str, str] = {}
        self.owners: dict[int, int] = {}

    # Clients

    def make_room(self, m: int) -> None:
        """The network has a place for a client."""
        network, places = self.network, range(len(self.network.answers), m + 1)
        for array in (network.answers, network.requests, network.late):
            lengthen(array, m + 1)
        for place in places:
            self.clear_client(place)

    def clear_client(self, m: int) -> None:
        """A client asks nothing, and waits for nothing."""
        drop_answer(self.network.answers[m])
        drop_request(self.network.requests[m])
        drop_request(self.network.late[m])

    # Numbers

    def number_of(self, name: str) -> int:
        """The number of who is known by a name, UNKNOWN for nobody."""
        members = self.record.group.members
        return next((n for n, each in self.names.items() if each == name and members[n].status != GONE), UNKNOWN)

    def protocol_number(self, name: str) -> int:
        """The number of a protocol, the next one for a new name."""
        if name not in self.protocols:
            self.protocols.append(name)
        return self.protocols.index(name)

    def instance_set(self, name: str) -> int:
        """A group.instance.id as the specification has it: a set with its number, the next one for a new name."""
        if not name:
            return 0
        if name not in self.instances:
            self.instances.append(name)
        return only(self.instances.index(name))

    def name_with(self, instance: int) -> str | None:
        """The name of the member that has a group.instance.id, None where none has."""
        n = member_of_instance(self.record.group, instance)
        return None if n == NOBODY else self.names.get(n)

    def present(self) -> list[str]:
        """The names of the members, by number."""
        return [self.names.get(n, "") for n, each in enumerate(self.record.group.members) if each.status == MEMBER]

    # The log

    def entries_at(self, place: int) -> list[Entry]:
        """The records of the group in a batch; raises Divergence where nobody has told what it says."""
        id = self._log.id(place)
        if id not in self._batches:
            raise Divergence(f"what batch {id} at place {place} of the offsets partition says was never recorded")
        return [entry for entry in self._batches[id] if entry.group == self.name]

    @staticmethod
    def buried_in(entries: Sequence[Entry]) -> list[tuple[str, int]]:
        """The offsets that a batch deletes."""
        return [entry.place for entry in entries if isinstance(entry, Tombstone) and entry.place]

    def records_at(self, place: int) -> list[Entry]:
        """What a batch says to the specification: nothing where it deletes some offsets, and others are left in the log."""
        entries, left = self.entries_at(place), set[tuple[str, int]]()
        if len(self.buried_in(entries)) < len(entries):
            return entries
        for before in range(place + 1) if entries else ():
            found = self.entries_at(before)
            left |= {(entry.topic, entry.partition) for entry in found if isinstance(entry, OffsetEntry)}
            left -= set(self.buried_in(found))
        return [] if left else entries

    def scan(self) -> None:
        """Find the records of the group in the log."""
        self.entries = [place for place in range(self._log.length) if self.entries_at(place)]

    def last_entry(self, kind: type | tuple[type, ...]) -> tuple[int, Entry] | None:
        """The last record of a kind, with its place."""
        for place in reversed(self.entries):
            if place < self._log.length:
                found = [entry for entry in self.entries_at(place) if isinstance(entry, kind)]
                if found:
                    return place, found[-1]
        return None

    def read(self, place: int) -> Plain:
        """The record at a place as a new coordinator reads it, which numbers the members of a group anew."""
        entries = self.records_at(place)
        for deleted in [] if entries else self.buried_in(self.entries_at(place)):
            self.offsets.pop(deleted, None)
        for entry in entries:
            if isinstance(entry, GroupEntry):
                self.names = dict(enumerate(name for name, _ in entry.members))
                self.assignments = dict(entry.members)
                if entry.protocol is not None:
                    self.protocol_number(entry.protocol)
        return self.as_record(entries, {name: n for n, name in self.names.items()})

    def as_record(self, entries: Sequence[Entry], numbers: Mapping[str, int]) -> Plain:
        """What a batch says in the specification's terms; who has no number gets one that no member has."""
        record = new_state(RECORD, SCOPE)
        name_record(record, NO_RECORD, 0)
        buried = [entry.place for entry in entries if isinstance(entry, Tombstone)]
        if buried:
            record.kind = OFFSET_TOMBSTONE if None not in buried else TOMBSTONES if any(buried) else GROUP_TOMBSTONE
        for entry in entries:
            if isinstance(entry, OffsetEntry):
                record.kind = OFFSET_RECORD
            if not isinstance(entry, GroupEntry):
                continue
            record.kind, record.generation = GROUP_RECORD, entry.generation
            record.topic = 0 if entry.members else NOBODY
            instances = dict(entry.instances)
            free = (n for n in range(UNKNOWN) if n not in numbers.values())
            for name, assignment in entry.members:
                number = numbers[name] if name in numbers else next(free)
                record.members = with_member(record.members, number)
                if name in instances:
                    self.instance_set(instances[name])
                    record.instances[self.instances.index(instances[name])] = only(number)
                if name == entry.leader:
                    record.leader = number
                if assignment and record.owner == NOBODY:
                    record.owner = number
            if entry.protocol is not None:
                record.protocol = self.protocol_number(entry.protocol)
        return record

    def install_offset(self, before: int) -> None:
        """The committed offset is another one than before: what stands there is committed, without one nothing."""
        if self.record.group.offset == NOWHERE:
            self.offsets = {}
        if self.record.group.offset not in (before, NOWHERE):
            for entry in self.entries_at(self.record.group.offset):
                if isinstance(entry, OffsetEntry):
                    self.offsets[entry.topic, entry.partition] = entry.offset

    def install_assignment(self, place: int) -> None:
        """The assignment in the record at a place is the members'."""
        for entry in self.entries_at(place):
            if isinstance(entry, GroupEntry):
                self.assignments = dict(entry.members)
