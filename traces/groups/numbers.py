"""The records of a group as the specification has them: members, instances and protocols by their numbers."""

from __future__ import annotations

import struct
from functools import lru_cache

from kafkaproof.spec.group.records import GROUP_RECORD
from kafkaproof.spec.kafka.offset_values import GroupValue, MemberValue
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.plain import Plain
from kafkaproof.spec.language.sets import only, with_member

CHOSEN, FORMER, UNSEEN = 0, 1, 2
"""Protocols: of the record to be explained, of the one before where it is another, of who supports neither."""
CONSUMER = "consumer"
STRANGE = -2


@lru_cache(maxsize=100_000)
def topics_of(subscription: bytes) -> frozenset[str] | None:
    """The topics in a consumer's subscription, None for what is none.

    Source: ConsumerProtocolSubscription.json, versions 0 to 3.
    """
    try:
        at, topics = 6, set()
        for _ in range(struct.unpack_from("!hi", subscription)[1]):
            (size,) = struct.unpack_from("!h", subscription, at)
            at += 2 + size
            if size < 0 or at > len(subscription):
                return None
            topics.add(subscription[at - size : at].decode())
        return frozenset(topics) if len(subscription) >= at + 4 else None
    except (struct.error, UnicodeDecodeError):
        return None


@lru_cache(maxsize=100_000)
def partitions_of(assignment: bytes) -> frozenset[tuple[str, int]]:
    """The topic partitions in a consumer's assignment; none in what is no such assignment.

    Source: ConsumerProtocolAssignment.json, versions 0 to 3.
    """
    try:
        at, found = 6, set()
        for _ in range(struct.unpack_from("!hi", assignment)[1]):
            (size,) = struct.unpack_from("!h", assignment, at)
            topic = assignment[at + 2 : at + 2 + size].decode()
            (count,) = struct.unpack_from("!i", assignment, at + 2 + size)
            at += 6 + size + 4 * count
            found |= {(topic, n) for n in struct.unpack_from(f"!{count}i", assignment, at - 4 * count)}
        return frozenset(found)
    except (struct.error, UnicodeDecodeError):
        return frozenset()


def subscribes(value: GroupValue | None, topic: str) -> bool:
    """Whether the members of a generation subscribe to a topic, or may: of others than consumers nobody knows."""
    if value is None or not value.members or value.protocol_type != CONSUMER:
        return True
    known = [topics_of(member.subscription) for member in value.members]
    return any(topics is None or topic in topics for topics in known)


class Numbers:
    """The numbers for some records of a group, of which `after` is to be explained. One is left for a stranger."""

    def __init__(self, before: GroupValue | None, after: GroupValue, missed: GroupValue | None = None):
        members = [m for value in (before, after, missed) if value for m in value.members]
        self.ids = list(dict.fromkeys(m.id for m in members))
        self.instances = list(dict.fromkeys(m.instance for m in members if m.instance is not None))
        self._chosen = after.protocol

    @property
    def stranger(self) -> int:
        """The number of a member that is in no record."""
        return len(self.ids)

    @property
    def count(self) -> int:
        """How many member ids there are, the stranger's included."""
        return len(self.ids) + 1

    def of(self, id: str | None) -> int:
        """The number of a member id, NOBODY for none, STRANGE for a leader that is in no record a member."""
        if id is None:
            return NOBODY
        return self.ids.index(id) if id in self.ids else STRANGE

    def client(self, member: MemberValue) -> int:
        """The client that stands for a member."""
        return 0 if member.instance is None else self.instances.index(member.instance) + 1

    def protocol(self, value: GroupValue) -> int:
        """The number of the chosen protocol."""
        if value.protocol is None:
            return NOBODY
        return CHOSEN if value.protocol == self._chosen else FORMER

    def fill(self, record: Plain, value: GroupValue) -> None:
        """Make a record of the specification what a group's record says."""
        record.kind, record.generation = GROUP_RECORD, value.generation
        record.leader, record.protocol = self.of(value.leader), self.protocol(value)
        record.topic = 0 if value.members else NOBODY
        record.owner, record.members = self.owner(value), 0
        for member in value.members:
            record.members = with_member(record.members, self.of(member.id))
            if member.instance is not None:
                record.instances[self.client(member)] = only(self.of(member.id))

    def owner(self, value: GroupValue) -> int:
        """The member that has the assigned partition of the specification: the first that has anything."""
        return next((self.of(m.id) for m in value.members if m.assignment), NOBODY)


def supports_nothing_seen(value: GroupValue, member: MemberValue) -> bool:
    """Whether a member has said nothing under the chosen protocol, which a coordinator stores of who supports it."""
    return value.protocol_type == CONSUMER and topics_of(member.subscription) is None
