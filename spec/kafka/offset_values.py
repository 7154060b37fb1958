"""Keys and values of records in `__consumer_offsets`, for groups and for committed offsets, in every version.

A key begins with its version: 0 and 1 are keys of an offset, 2 of a group; other kinds are not read here. A null value
is a tombstone. Values have versions 0 to 4, of both kinds; version 4 is flexible (KIP-482).

Source: kafka.coordinator.group.GroupMetadataManager.readMessageKey, readGroupMessageValue, readOffsetMessageValue,
        0.11 to 3.9 (the values as GroupMetadataValue.json and OffsetCommitValue.json say, 2.7 to 3.9).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import NamedTuple

GROUP_KEY, OFFSET_KEYS = 2, (0, 1)
_FLEXIBLE = 4


class Key(NamedTuple):
    """Whose record it is: of a group (`place` is None), or of the offset of a partition (topic, number)."""

    group: str
    place: tuple[str, int] | None = None


class OffsetValue(NamedTuple):
    """A committed offset; times in ms. `leader_epoch`: from version 3 on, -1 for none; `expires`: of version 1 only."""

    version: int
    offset: int
    leader_epoch: int
    metadata: str
    time: int
    expires: int | None = None


class MemberValue(NamedTuple):
    """A member in a group's record: timeouts in ms, its metadata for the chosen protocol, and its assignment."""

    id: str
    instance: str | None
    client: str
    host: str
    rebalance: int
    session: int
    subscription: bytes
    assignment: bytes


@dataclass(frozen=True)
class GroupValue:
    """A group; `time` is when it entered its state, in ms, from version 2 on, else -1."""

    version: int
    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    time: int = -1
    members: tuple[MemberValue, ...] = field(default=())


class _Writer:
    def __init__(self, flexible: bool = False):
        self.written, self._flexible = b"", flexible

    def put(self, form: str, *values: object) -> _Writer:
        self.written += struct.pack("!" + form, *values)
        return self

    def size(self, form: str, size: int) -> _Writer:
        """The length of what follows, -1 for null."""
        return self.varint(size + 1) if self._flexible else self.put(form, size)

    def varint(self, value: int) -> _Writer:
        while value > 127:
            self.written += bytes([value & 127 | 128])
            value >>= 7
        self.written += bytes([value])
        return self

    def text(self, value: str | None) -> _Writer:
        encoded = b"" if value is None else value.encode()
        self.size("h", -1 if value is None else len(encoded)).written += encoded
        return self

    def bytes(self, value: bytes) -> _Writer:
        self.size("i", len(value)).written += value
        return self

    def end(self) -> _Writer:
        """No tagged fields."""
        return self.varint(0) if self._flexible else self


class _Reader:
    def __init__(self, content: bytes, flexible: bool = False, at: int = 0):
        self._content, self._flexible, self._at = content, flexible, at

    def get(self, form: str) -> int:
        return struct.unpack("!" + form, self.take(struct.calcsize("!" + form)))[0]

    def take(self, size: int) -> bytes:
        if size < 0 or self._at + size > len(self._content):
            raise ValueError(f"{size} bytes are wanted at {self._at}, of {len(self._content)}")
        self._at += size
        return self._content[self._at - size : self._at]

    def size(self, form: str) -> int:
        return self.varint() - 1 if self._flexible else self.get(form)

    def varint(self) -> int:
        value = shift = 0
        while (byte := self.get("B")) > 127:
            value, shift = value | (byte & 127) << shift, shift + 7
        return value | byte << shift

    def text(self) -> str | None:
        size = self.size("h")
        return None if size == -1 else self.take(size).decode()

    def bytes(self) -> bytes:
        return self.take(self.size("i"))

    def end(self) -> None:
        """Skip tagged fields."""
        for _ in range(self.varint() if self._flexible else 0):
            self.varint()
            self.take(self.varint())

    def finish(self) -> None:
        if self._at != len(self._content):
            raise ValueError(f"{len(self._content) - self._at} bytes are left over")


def write_key(key: Key) -> bytes:
    """A key as it is written: version 1 of an offset, 2 of a group."""
    if key.place is None:
        return _Writer().put("h", GROUP_KEY).text(key.group).written
    topic, number = key.place
    return _Writer().put("h", OFFSET_KEYS[-1]).text(key.group).text(topic).put("i", number).written


def read_key(content: bytes) -> Key | None:
    """The key, or None for a key of another kind; raises ValueError for bytes that are no key."""
    reader = _Reader(content)
    version = reader.get("h")
    if version != GROUP_KEY and version not in OFFSET_KEYS:
        return None
    group = reader.text()
    place = None if version == GROUP_KEY else (reader.text(), reader.get("i"))
    reader.finish()
    if group is None or place and place[0] is None:
        raise ValueError("a key without a name")
    return Key(group, place)


def read_value(key: Key, content: bytes | None) -> GroupValue | OffsetValue | None:
    """The value of a record with this key, or None for a tombstone; raises ValueError for bytes that are no value."""
    if content is None:
        return None
    version = _Reader(content).get("h")
    if not 0 <= version <= _FLEXIBLE:
        raise ValueError(f"a value of version {version}; versions 0 to {_FLEXIBLE} are known")
    reader = _Reader(content, version == _FLEXIBLE, at=2)
    value = _read_group(reader, version) if key.place is None else _read_offset(reader, version)
    reader.end()
    reader.finish()
    return value


def write_value(value: GroupValue | OffsetValue | None) -> bytes | None:
    """A value as its version is written, null for a tombstone."""
    if value is None:
        return None
    writer = _Writer(value.version == _FLEXIBLE)
    writer.put("h", value.version)
    (_write_group if isinstance(value, GroupValue) else _write_offset)(writer, value)
    return writer.end().written


def _read_offset(reader, version):
    offset, epoch = reader.get("q"), reader.get("i") if version >= 3 else -1
    metadata, time = reader.text(), reader.get("q")
    return OffsetValue(version, offset, epoch, metadata, time, reader.get("q") if version == 1 else None)


def _write_offset(writer, value):
    writer.put("q", value.offset)
    if value.version >= 3:
        writer.put("i", value.leader_epoch)
    writer.text(value.metadata).put("q", value.time)
    if value.version == 1:
        writer.put("q", value.expires)


def _read_group(reader, version):
    head = reader.text(), reader.get("i"), reader.text(), reader.text()
    time = reader.get("q") if version >= 2 else -1
    return GroupValue(version, *head, time, tuple(_read_member(reader, version) for _ in range(reader.size("i"))))


def _read_member(reader, version):
    id, instance = reader.text(), reader.text() if version >= 3 else None
    client, host, timeout = reader.text(), reader.text(), reader.get("i") if version >= 1 else None
    session, subscription, assignment = reader.get("i"), reader.bytes(), reader.bytes()
    reader.end()
    return MemberValue(
        id, instance, client, host, session if timeout is None else timeout, session, subscription, assignment
    )


def _write_group(writer, value):
    writer.text(value.protocol_type).put("i", value.generation).text(value.protocol).text(value.leader)
    if value.version >= 2:
        writer.put("q", value.time)
    writer.size("i", len(value.members))
    for member in value.members:
        _write_member(writer, value.version, member)


def _write_member(writer, version, member):
    writer.text(member.id)
    if version >= 3:
        writer.text(member.instance)
    writer.text(member.client).text(member.host)
    if version >= 1:
        writer.put("i", member.rebalance)
    writer.put("i", member.session).bytes(member.subscription).bytes(member.assignment).end()
