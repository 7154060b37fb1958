"""What stands in the offsets partition: records of groups and of committed offsets, as Kafka writes them.

A key begins with its version: 0 and 1 are of an offset, 2 of a group; others are skipped. A value that is null is a
tombstone. Written are version 3 of a group and version 3 of an offset (2.3 and later).

Source: kafka.coordinator.group.GroupMetadataManager (groupMetadataValue, offsetCommitValue), 2.3 to 3.9.
"""

from __future__ import annotations

import struct
import time
from dataclasses import dataclass, field
from typing import NamedTuple

from kafka.record import MemoryRecords, MemoryRecordsBuilder

GROUP_KEY, OFFSET_KEYS = 2, (0, 1)
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

    def metadata(self, protocol: str | None) -> bytes:
        """What it has said under a protocol, nothing where it does not support it."""
        return dict(self.protocols).get(protocol, b"")


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


class _Writer:
    def __init__(self):
        self.data = b""

    def put(self, form: str, *values: object) -> "_Writer":
        self.data += struct.pack("!" + form, *values)
        return self

    def text(self, value: str | None) -> "_Writer":
        if value is None:
            return self.put("h", -1)
        encoded = value.encode()
        self.put("h", len(encoded)).data += encoded
        return self

    def bytes(self, value: bytes) -> "_Writer":
        self.put("i", len(value)).data += value
        return self


class _Reader:
    def __init__(self, data: bytes):
        self._data, self._at = data, 0

    def get(self, form: str) -> int:
        value, = struct.unpack_from("!" + form, self._data, self._at)
        self._at += struct.calcsize("!" + form)
        return value

    def take(self, size: int) -> bytes:
        self._at += size
        return self._data[self._at - size:self._at]

    def text(self) -> str | None:
        size = self.get("h")
        return None if size < 0 else self.take(size).decode()

    def bytes(self) -> bytes:
        return self.take(self.get("i"))


def batch_of(entries: list[Entry]) -> bytes:
    """One record batch of these records."""
    builder, now = MemoryRecordsBuilder(magic=2, compression_type=0, batch_size=_MOST), int(time.time() * 1000)
    for entry in entries:
        value = None if entry.value is None else _group(entry.value, now) if entry.place is None else _offset(
            entry.value, now)
        builder.append(now, _key(entry), value)
    builder.close()
    return bytes(builder.buffer())


def entries_of(batch: bytes) -> list[Entry]:
    """The records in a batch that are of groups or of offsets."""
    found = [_entry(record.key, record.value) for each in MemoryRecords(batch) for record in each]
    return [entry for entry in found if entry is not None]


def _key(entry):
    if entry.place is None:
        return _Writer().put("h", GROUP_KEY).text(entry.group).data
    topic, partition = entry.place
    return _Writer().put("h", OFFSET_KEYS[-1]).text(entry.group).text(topic).put("i", partition).data


def _entry(key, value):
    reader = _Reader(key)
    version = reader.get("h")
    if version == GROUP_KEY:
        return Entry(reader.text(), None, None if value is None else _read_group(_Reader(value)))
    if version in OFFSET_KEYS:
        group, place = reader.text(), (reader.text(), reader.get("i"))
        return Entry(group, place, None if value is None else _read_offset(_Reader(value)))
    return None


def _offset(committed, now):
    writer = _Writer().put("hqi", 3, committed.offset, committed.leader_epoch)
    return writer.text(committed.metadata).put("q", now).data


def _read_offset(reader):
    if reader.get("h") != 3:
        raise ValueError("an offset of a version that no broker of this cluster writes")
    return Committed(reader.get("q"), reader.get("i"), reader.text())


def _group(value, now):
    writer = _Writer().put("h", 3).text(value.protocol_type).put("i", value.generation).text(value.protocol)
    writer.text(value.leader).put("qi", now, len(value.members))
    for member in value.members:
        writer.text(member.id).text(None).text(member.client).text(member.host)
        writer.put("ii", member.rebalance, member.session).bytes(member.metadata(value.protocol))
        writer.bytes(member.assignment)
    return writer.data


def _read_group(reader):
    if reader.get("h") != 3:
        raise ValueError("a group of a version that no broker of this cluster writes")
    value = GroupValue(reader.text(), reader.get("i"), reader.text(), reader.text(), [])
    reader.get("q")
    for _ in range(reader.get("i")):
        member = Member(reader.text())
        reader.text()
        member.client, member.host = reader.text(), reader.text()
        member.rebalance, member.session = reader.get("i"), reader.get("i")
        member.protocols, member.assignment = [(value.protocol, reader.bytes())], reader.bytes()
        value.members.append(member)
    return value
