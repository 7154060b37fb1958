"""What a batch of the offsets partition says: records of a group, and of offsets that it has committed.

Source: kafka.coordinator.group.GroupMetadataManager, 2.3 to 3.9.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from kafka.record import MemoryRecords

from kafkaproof.spec.kafka.offset_values import OffsetValue, read_key, read_value

VERSION = 3
"""Of each value: what a running coordinator writes."""


@dataclass(frozen=True)
class GroupEntry:
    """The record of a group: `members` are their names with their assignments, in the order of the record; `instances`
    the group.instance.ids of those that have one, by name.
    """

    group: str
    generation: int
    protocol: str | None
    leader: str | None
    members: tuple[tuple[str, bytes], ...]
    instances: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class OffsetEntry:
    """The record of a committed offset of a partition."""

    group: str
    topic: str
    partition: int
    offset: int


@dataclass(frozen=True)
class Tombstone:
    """A group, or its committed offset of a partition (`place`), is deleted."""

    group: str
    place: tuple[str, int] | None


Entry = GroupEntry | OffsetEntry | Tombstone


def read_batch(data: bytes, id: int) -> list[Entry]:
    """The records in a batch whose checksum is `id`; raises ValueError for what is no sound batch of such records."""
    try:
        (batch,) = MemoryRecords(data)
        if batch.crc != id or not batch.validate_crc():
            raise ValueError(f"its checksum is not {id}")
        return [_entry(record.key, record.value) for record in batch]
    except (struct.error, TypeError) as error:
        raise ValueError(f"it cannot be read: {error}") from None


def _entry(key: bytes, content: bytes | None) -> Entry:
    of = read_key(key)
    if of is None:
        raise ValueError("a key is neither of a group nor of an offset")
    value = read_value(of, content)
    if value is None:
        return Tombstone(of.group, of.place)
    if value.version != VERSION:
        raise ValueError(f"a record is not of version {VERSION}")
    if isinstance(value, OffsetValue):
        if of.place is None:
            raise ValueError("an offset is of no partition")
        return OffsetEntry(of.group, *of.place, value.offset)
    members = tuple((member.id, member.assignment) for member in value.members)
    instances = tuple((member.id, member.instance) for member in value.members if member.instance is not None)
    return GroupEntry(of.group, value.generation, value.protocol, value.leader, members, instances)
