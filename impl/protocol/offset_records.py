"""What stands in the offsets partition: records of groups and of committed offsets, as Kafka writes them.

How they are laid out is in `kafkaproof.spec.kafka.offset_values`. Written are version 3 of a group and version 3 of
an offset (2.3 and
later); keys of another kind are skipped.

Source: kafka.coordinator.group.GroupMetadataManager (groupMetadataValue, offsetCommitValue), 2.3 to 3.9.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import NamedTuple

from kafka.record import MemoryRecords, MemoryRecordsBuilder

from kafkaproof.spec.kafka import offset_values
from kafkaproof.spec.kafka.offset_values import (
    Key,
    MemberValue,
    OffsetValue,
    read_key,
    read_value,
    write_key,
    write_value,
)

_VERSION = 3
_MOST = 1 << 20


class Committed(NamedTuple):
    """A committed offset of one partition."""

    offset: int
    leader_epoch: int
    metadata: str


@dataclass
class Member:
    """What is known of a member that the specification leaves out; times in ms."""

    id: str
    client: str = ""
    host: str = ""
    session: int = 10_000
    rebalance: int = 60_000
    protocols: list[tuple[str, bytes]] = field(default_factory=list)
    assignment: bytes = b""
    instance: str | None = None

    def metadata(self, protocol: str | None) -> bytes:
        """What it has said under a protocol, nothing where it does not support it."""
        return next((metadata for name, metadata in self.protocols if name == protocol), b"")


@dataclass
class GroupValue:
    """The value of a group's record."""

    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    members: list[Member]


class Entry(NamedTuple):
    """A record: of a group (`place` is None) or of an offset; its value, None for a tombstone."""

    group: str
    place: tuple[str, int] | None
    value: GroupValue | Committed | None


def batch_of(entries: list[Entry]) -> bytes:
    """One record batch of these records."""
    builder, now = MemoryRecordsBuilder(magic=2, compression_type=0, batch_size=_MOST), int(time.time() * 1000)
    for entry in entries:
        value = (
            None
            if entry.value is None
            else _group(entry.value, now)
            if entry.place is None
            else _offset(entry.value, now)
        )
        builder.append(now, write_key(Key(entry.group, entry.place)), write_value(value))
    builder.close()
    return bytes(builder.buffer())


def entries_of(batch: bytes) -> list[Entry]:
    """The records in a batch that are of groups or of offsets."""
    found = [_entry(record.key, record.value) for each in MemoryRecords(batch) for record in each]
    return [entry for entry in found if entry is not None]


def _entry(key, content):
    of = read_key(key)
    if of is None:
        return None
    value = read_value(of, content)
    if value is None:
        return Entry(*of, None)
    if value.version != _VERSION:
        raise ValueError("a value of a version that no broker of this cluster writes")
    if of.place is not None:
        return Entry(*of, Committed(value.offset, value.leader_epoch, value.metadata))
    members = [
        Member(
            m.id, m.client, m.host, m.session, m.rebalance, [(value.protocol, m.subscription)], m.assignment, m.instance
        )
        for m in value.members
    ]
    return Entry(*of, GroupValue(value.protocol_type, value.generation, value.protocol, value.leader, members))


def _offset(committed, now):
    return OffsetValue(_VERSION, committed.offset, committed.leader_epoch, committed.metadata, now)


def _group(value, now):
    members = tuple(
        MemberValue(
            m.id, m.instance, m.client, m.host, m.rebalance, m.session, m.metadata(value.protocol), m.assignment
        )
        for m in value.members
    )
    return offset_values.GroupValue(
        _VERSION, value.protocol_type, value.generation, value.protocol, value.leader, now, members
    )
