"""What a batch of the offsets partition says: records of a group, and of offsets that it has committed.

Read without the code that wrote it. Source: kafka.coordinator.group.GroupMetadataManager, 2.3 to 3.9.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from kafka.record import MemoryRecords

GROUP_KEY, OFFSET_KEYS, VERSION = 2, (0, 1), 3


@dataclass(frozen=True)
class GroupEntry:
    """The record of a group: `members` are their names with their assignments, in the order of the record."""

    group: str
    generation: int
    protocol: str | None
    leader: str | None
    members: tuple[tuple[str, bytes], ...]


@dataclass(frozen=True)
class OffsetEntry:
    """The record of a committed offset of a partition."""

    group: str
    topic: str
    partition: int
    offset: int


Entry = GroupEntry | OffsetEntry


class _Fields:
    """Reads fields one by one."""

    def __init__(self, data: bytes):
        self._data, self._at = data, 0

    def number(self, form: str) -> int:
        value, = struct.unpack_from("!" + form, self._data, self._at)
        self._at += struct.calcsize("!" + form)
        return value

    def bytes(self, form: str) -> bytes | None:
        size = self.number(form)
        if size < 0:
            return None
        found = self._data[self._at:self._at + size]
        if len(found) < size:
            raise ValueError("a field is cut off")
        self._at += size
        return found

    def text(self) -> str | None:
        found = self.bytes("h")
        return None if found is None else found.decode()


def read_batch(data: bytes, id: int) -> list[Entry]:
    """The records in a batch whose checksum is `id`; raises ValueError for what is no sound batch of such records."""
    try:
        batch, = MemoryRecords(data)
        if batch.crc != id or not batch.validate_crc():
            raise ValueError(f"its checksum is not {id}")
        return [_entry(_Fields(record.key), _Fields(record.value)) for record in batch]
    except (struct.error, TypeError) as error:
        raise ValueError(f"it cannot be read: {error}") from None


def _entry(key: _Fields, value: _Fields) -> Entry:
    kind, group = key.number("h"), key.text() or ""
    if value.number("h") != VERSION:
        raise ValueError(f"a record is not of version {VERSION}")
    if kind == GROUP_KEY:
        return _group(group, value)
    if kind not in OFFSET_KEYS:
        raise ValueError(f"a key is of version {kind}")
    return OffsetEntry(group, key.text() or "", key.number("i"), value.number("q"))


def _group(name: str, value: _Fields) -> GroupEntry:
    value.text()
    generation, protocol, leader = value.number("i"), value.text(), value.text()
    value.number("q")
    return GroupEntry(name, generation, protocol, leader, tuple(_member(value) for _ in range(value.number("i"))))


def _member(value: _Fields) -> tuple[str, bytes]:
    name = value.text() or ""
    for _ in range(3):
        value.text()
    value.number("q"), value.bytes("i")
    return name, value.bytes("i") or b""
