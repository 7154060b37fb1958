"""Frames of the requests between brokers, by Kafka's own schemas, and what our brokers write into their headers besides.

A header has room for fields that its reader does not know, each with a tag (KIP-482). Under one tag, far from Kafka's, a
broker of ours says what its recording needs: the ids of messages, and how much their sender knew. Kafka's brokers skip it.

Source: the JSON message schemas of Apache Kafka 3.9, as kio has them. Fetch, which is asked all the time, is encoded and
        decoded by kafka-python, which is several times as fast, and knows no other request between brokers.
"""

from __future__ import annotations

import dataclasses
import io
import json
import struct
import typing
from functools import lru_cache
from typing import Any, NamedTuple

from kafka.protocol.api_message import ApiMessage
from kafka.protocol.consumer.fetch import FetchRequest, FetchResponse
from kio.index import KioIndexError, load_request_schema, load_response_schema
from kio.serial import entity_reader, entity_writer
from kio.serial.errors import SerialError

from kafkaproof.spec.protocol.frames import tagged_fields

TAG = 27504
QUICK: dict[int, tuple[Any, Any]] = {FetchRequest.API_KEY: (FetchRequest, FetchResponse)}
"""The requests that kafka-python encodes and decodes, with their answers."""
_REQUEST, _NUMBER, _SIZE = struct.Struct(">hhih"), struct.Struct(">i"), struct.Struct(">i")
NO_STAMP: dict[str, Any] = {}
Fields = Any
"""What is to be written: a dict by the names of Kafka's schemas, or a message of kafka-python."""


class Unreadable(ValueError):
    """Bytes that are no frame of a known API and version."""


class Frame(NamedTuple):
    """A request or an answer: its API, version and correlation number, who has sent it, its fields as Kafka's schema has
    them, and the stamp of a broker of ours (empty where it has none).
    """

    api: int
    version: int
    number: int
    client: str
    fields: Any
    stamp: dict[str, Any]


def request_frame(api: int, version: int, number: int, client: str, fields: Fields, stamp: dict) -> bytes:
    """A request as it goes over the wire; fields that the version does not have are left out."""
    name = client.encode()
    head = _REQUEST.pack(api, version, number, len(name)) + name + _tagged(stamp)
    return _framed(head + _body(api, version, False, fields))


def answer_frame(api: int, version: int, number: int, fields: Fields, stamp: dict) -> bytes:
    """An answer as it goes over the wire."""
    return _framed(_NUMBER.pack(number) + _tagged(stamp) + _body(api, version, True, fields))


def read_request(data: bytes) -> Frame:
    """A request, without its length; raises Unreadable."""
    try:
        api, version, number, length = _REQUEST.unpack_from(data)
        end = _REQUEST.size + max(length, 0)
        stamp, start = _read_tagged(data, end)
        fields = _read_body(api, version, False, data, start)
        return Frame(api, version, number, data[_REQUEST.size : end].decode(errors="replace"), fields, stamp)
    except (KioIndexError, SerialError, ValueError, struct.error, IndexError, OverflowError) as error:
        raise Unreadable(str(error)) from None


def read_answer(data: bytes, api: int, version: int) -> Frame:
    """The answer to a request of an API and version, without its length; raises Unreadable."""
    try:
        stamp, start = _read_tagged(data, _NUMBER.size)
        fields = _read_body(api, version, True, data, start)
        return Frame(api, version, _NUMBER.unpack_from(data)[0], "", fields, stamp)
    except (KioIndexError, SerialError, ValueError, struct.error, IndexError, OverflowError) as error:
        raise Unreadable(str(error)) from None


def api_of(data: bytes) -> tuple[int, int]:
    """The API and the version of a request, without its length; raises Unreadable."""
    if len(data) < _REQUEST.size:
        raise Unreadable("too short for a request")
    return _REQUEST.unpack_from(data)[:2]


def _framed(content: bytes) -> bytes:
    return _SIZE.pack(len(content)) + content


@lru_cache
def _schema(api: int, version: int, is_answer: bool) -> Any:
    return (load_response_schema if is_answer else load_request_schema)(api, version)


def _body(api: int, version: int, is_answer: bool, fields: Fields) -> bytes:
    if isinstance(fields, ApiMessage):
        fields.API_VERSION = version
        return fields.encode()
    buffer, schema = io.BytesIO(), _schema(api, version, is_answer)
    entity_writer(schema)(buffer, _built(schema, fields))
    return buffer.getvalue()


def _read_body(api: int, version: int, is_answer: bool, data: bytes, start: int) -> Any:
    if api in QUICK:
        return QUICK[api][is_answer][version].decode(data[start:])
    return entity_reader(_schema(api, version, is_answer))(data, start)[0]


def _built(schema: Any, fields: dict) -> Any:
    """An entity of a schema; records in it are given as dicts."""
    found = {}
    for name, of in _parts(schema):
        if name in fields:
            value = fields[name]
            if of is not None:
                value = tuple(_built(of, each) for each in value) if isinstance(value, list) else _built(of, value)
            found[name] = tuple(value) if isinstance(value, list) else value
    return schema(**found)


@lru_cache
def _parts(schema: Any) -> tuple[tuple[str, Any], ...]:
    """The fields of a schema, each with the schema of the records in it, if it has records."""
    found, hints = [], typing.get_type_hints(schema)
    for field in dataclasses.fields(schema):
        kinds = [hints[field.name], *typing.get_args(hints[field.name])]
        found.append((field.name, next((kind for kind in kinds if dataclasses.is_dataclass(kind)), None)))
    return tuple(found)


# Tagged fields of headers


def _tagged(stamp: dict) -> bytes:
    if not stamp:
        return b"\0"
    content = json.dumps(stamp, separators=(",", ":")).encode()
    return b"\1" + _varint(TAG) + _varint(len(content)) + content


def _read_tagged(data: bytes, start: int) -> tuple[dict, int]:
    """The stamp among the tagged fields of a header, and where these end."""
    found = list(tagged_fields(data, start))
    stamp = next((json.loads(content) for tag, content, _ in found if tag == TAG), NO_STAMP)
    return stamp, found[-1][2] if found else start + 1


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(found) + bytes([value])
