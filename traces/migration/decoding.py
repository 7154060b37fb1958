"""Decodes the values of records of `__cluster_metadata`, by the definitions that are data.

Source: org.apache.kafka.raft.MetadataRecordSerde, 3.0 to 3.9;
        org.apache.kafka.server.common.serialization.AbstractApiMessageSerde, 3.3 to 3.9.
"""

from __future__ import annotations

import re
import struct
from base64 import urlsafe_b64encode
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

from kafkaproof.traces.migration.definitions import DEFINITIONS

_FRAME_VERSION = 1
_FIXED = {"int8": "!b", "int16": "!h", "uint16": "!H", "int32": "!i", "int64": "!q", "float64": "!d", "bool": "!?"}
_FIELD = re.compile(r"(\w+):((?:\[\])*)(\{[^}]*\}|\w+)(\?)?(?:>=(\d+))?(?:#(\d+))?")
_UUID = 16
_LONGEST = 5


class Undecodable(ValueError):
    """Bytes that are no metadata record that is known; the text says why."""


class Metadata(NamedTuple):
    """A metadata record: its `name`, and its fields; ids are texts as Kafka prints them. Tagged fields that are not
    there are missing."""

    name: str
    fields: dict[str, Any]


class _Field(NamedTuple):
    name: str
    is_list: bool
    type: str
    nullable: bool
    since: int
    tag: int | None


class _Reader:
    """Takes values from some bytes, one after the other; raises Undecodable where they end."""

    def __init__(self, data: bytes):
        self._data, self._at = data, 0

    @property
    def left(self) -> int:
        """How many bytes are left."""
        return len(self._data) - self._at

    def take(self, count: int) -> bytes:
        """The next bytes."""
        if not 0 <= count <= self.left:
            raise Undecodable(f"{count} bytes are announced, and {self.left} are there")
        self._at += count
        return self._data[self._at - count : self._at]

    def varint(self) -> int:
        """An unsigned number of variable length."""
        found = 0
        for place in range(_LONGEST):
            byte = self.take(1)[0]
            found |= (byte & 0x7F) << 7 * place
            if byte < 0x80:
                return found
        raise Undecodable(f"a number is longer than {_LONGEST} bytes")


@lru_cache(maxsize=200)
def _fields_of(text: str) -> tuple[_Field, ...]:
    """The fields that a definition tells of."""
    return tuple(
        _Field(name, bool(lists), kind, bool(null), int(since or 0), int(tag) if tag else None)
        for name, lists, kind, null, since, tag in _FIELD.findall(text)
    )


def decode(value: bytes) -> Metadata:
    """The record that a value holds; raises Undecodable."""
    reader = _Reader(value)
    if (frame := reader.varint()) != _FRAME_VERSION:
        raise Undecodable(f"its frame is of version {frame}, and {_FRAME_VERSION} is known")
    number, version = reader.varint(), reader.varint()
    if number not in DEFINITIONS:
        raise Undecodable(f"no record of number {number} is known")
    name, newest, text = DEFINITIONS[number]
    if version > newest:
        raise Undecodable(f"{name} of version {version}, and {newest} is the newest that is known")
    fields = _structure(reader, text, version)
    if reader.left:
        raise Undecodable(f"{reader.left} bytes are left behind a {name}")
    return Metadata(name, fields)


def _structure(reader: _Reader, text: str, version: int) -> dict[str, Any]:
    fields = [each for each in _fields_of(text) if version >= each.since]
    found = {each.name: _value(reader, each, version) for each in fields if each.tag is None}
    tagged = {each.tag: each for each in fields if each.tag is not None}
    for _ in range(reader.varint()):
        tag, part = reader.varint(), _Reader(reader.take(reader.varint()))
        if tag in tagged:
            found[tagged[tag].name] = _value(part, tagged[tag], version)
    return found


def _value(reader: _Reader, field: _Field, version: int) -> Any:
    if not field.is_list:
        return _single(reader, field.type, field.nullable, version)
    count = reader.varint() - 1
    if count < 0:
        if not field.nullable:
            raise Undecodable(f"{field.name} is null")
        return None
    return [_single(reader, field.type, False, version) for _ in range(count)]


def _single(reader: _Reader, kind: str, nullable: bool, version: int) -> Any:
    if kind in _FIXED:
        return struct.unpack(_FIXED[kind], reader.take(struct.calcsize(_FIXED[kind])))[0]
    if kind == "uuid":
        return urlsafe_b64encode(reader.take(_UUID)).decode().rstrip("=")
    if kind.startswith("{"):
        return _structure(reader, kind[1:-1], version)
    size = reader.varint() - 1
    if size < 0:
        if not nullable:
            raise Undecodable(f"a {kind} is null")
        return None
    made: Callable[[bytes], Any] = _text if kind == "string" else bytes.hex
    return made(reader.take(size))


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Undecodable("a text is no UTF-8") from None
