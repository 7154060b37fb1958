"""What Kafka's frames say, by the names of Kafka's schemas: API, version, fields, and which broker has sent a request.

Source: the JSON message schemas of Apache Kafka 3.9, as kio has them.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from kio.index import KioIndexError, load_request_schema, load_response_schema
from kio.schema.index import api_key_map
from kio.serial import entity_reader
from kio.serial.errors import SerialError

from kafkaproof.spec.protocol.passed import ANSWER, LENGTH

SHORTEST = 8
"""A frame without its length has at least so many bytes: those of a correlation id, and of an API and its version."""
_HEAD = struct.Struct(">hhi")
_INT = struct.Struct(">i")
_SENDER = re.compile(r"(?:broker-)?(\d+)(?:-.*)?")


class Unreadable(ValueError):
    """A frame is of a version that is not known, or does not fit its schema."""


def key_of(request: bytes) -> tuple[int, int]:
    """The API and the version of a request."""
    return _HEAD.unpack_from(request, LENGTH)[:2]


def number_of(data: bytes, part: str) -> int:
    """The correlation id, which a request and its answer share."""
    return _INT.unpack_from(data, LENGTH if part == ANSWER else LENGTH + 4)[0]


def name_of(key: int) -> str:
    """What Kafka calls the API of a key."""
    return "".join(word.capitalize() for word in api_key_map.get(key, f"unknown_{key}").split("_"))


def is_known(key: int) -> bool:
    """Whether there is such an API."""
    return key in api_key_map


def fields_of(key: int, version: int, data: bytes, part: str) -> dict[str, Any]:
    """The fields of a frame, by the names of Kafka's schemas; raises Unreadable."""
    try:
        schema = _schema(key, version, part == ANSWER)
        return asdict(entity_reader(schema)(data, _behind_header(schema.__header_schema__, data, part))[0])
    except (KioIndexError, SerialError, ValueError, struct.error, IndexError, OverflowError) as error:
        raise Unreadable(f"{name_of(key)} {version}: {str(error) or type(error).__name__}") from None


def _behind_header(header, data: bytes, part: str) -> int:
    """Where the fields begin. Tagged fields of the header are skipped, whatever their tags (KIP-482)."""
    place = LENGTH + _INT.size if part == ANSWER else LENGTH + _HEAD.size
    if "client_id" in header.__dataclass_fields__:
        place += 2 + max(int.from_bytes(data[place : place + 2], "big", signed=True), 0)
    if header.__flexible__:
        ends = [end for _, _, end in tagged_fields(data, place)]
        return ends[-1] if ends else place + 1
    return place


def tagged_fields(data: bytes, place: int) -> Iterator[tuple[int, bytes, int]]:
    """The tagged fields at a place: of each its tag, its content, and where it ends; raises IndexError at the end of data."""
    count, place = read_varint(data, place)
    for _ in range(count):
        tag, place = read_varint(data, place)
        length, place = read_varint(data, place)
        place += length
        yield tag, data[place - length : place], place


def read_varint(data: bytes, place: int) -> tuple[int, int]:
    """An unsigned number in groups of seven bits, and where it ends; raises IndexError at the end of data."""
    value = shift = 0
    while True:
        byte = data[place]
        value, shift, place = value | (byte & 0x7F) << shift, shift + 7, place + 1
        if byte < 0x80:
            return value, place


def decoded(key: int, version: int, data: bytes, part: str) -> dict[str, Any]:
    """The fields of a frame; none of one that is not readable."""
    try:
        return fields_of(key, version, data, part)
    except Unreadable:
        return {}


def client_of(request: bytes) -> str:
    """The client id of a request, "" where it has none."""
    start = LENGTH + _HEAD.size + 2
    length = int.from_bytes(request[start - 2 : start], "big", signed=True)
    return request[start : start + max(length, 0)].decode(errors="replace")


def sender_of(client: str) -> int | None:
    """The broker that has a client id, None where no broker has it: controllers and fetchers use their brokers' ids."""
    found = _SENDER.fullmatch(client)
    return int(found[1]) if found else None


@lru_cache
def _schema(key: int, version: int, is_answer: bool):
    return (load_response_schema if is_answer else load_request_schema)(key, version)


def is_request(data: bytes) -> bool:
    """Whether a frame may be a request: a known API in a known version."""
    if len(data) < LENGTH + SHORTEST:
        return False
    key, version = key_of(data)
    try:
        return is_known(key) and bool(_schema(key, version, False))
    except KioIndexError:
        return False
