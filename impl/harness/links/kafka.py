"""The link to a broker, which knows Kafka's frames: those of controllers, followers and clients.

Source: the JSON message schemas of Apache Kafka 3.9, as kio has them.
"""

from __future__ import annotations

import re
import struct
from dataclasses import asdict
from functools import lru_cache

from kio.index import KioIndexError, load_request_schema, load_response_schema
from kio.schema.index import api_key_map
from kio.serial import entity_reader
from kio.serial.errors import SerialError

from kafkaproof.impl.harness.links.passed import ANSWER, REQUEST
from kafkaproof.impl.harness.links.proxy import LENGTH, Connection, Proxy

_HEAD = struct.Struct(">hhi")
_INT = struct.Struct(">i")
_SENDER = re.compile(r"(?:broker-)?(\d+)(?:-.*)?")


class KafkaLink(Proxy):
    """A proxy before one listener of a broker.

    A request says its `api` (LeaderAndIsr, UpdateMetadata, StopReplica, AlterPartition, ControlledShutdown, Fetch and
    others), its `api_version`, its `client`, the broker that is its `sender`, where it is one's, and its fields, as
    Kafka's schemas name them. An answer says its own fields, and has those of its `request` in it.
    """

    def number(self, data: bytes, part: str) -> int | None:
        """The correlation id."""
        return _INT.unpack_from(data, LENGTH if part == ANSWER else LENGTH + 4)[0]

    def hear(self, connection: Connection, data: bytes, part: str) -> None:
        """Learn which broker a connection is from, by its client id."""
        if "client" not in connection.about and part != ANSWER:
            client = _client(data)
            found = _SENDER.fullmatch(client)
            connection.about |= {"client": client, "sender": int(found[1]) if found else None}

    def read(self, connection: Connection, data: bytes, part: str) -> dict[str, object]:
        """What a frame says."""
        request = connection.requests.get(self.number(data, part)) if part == ANSWER else data
        if request is None:
            return {}
        key, version, _ = _HEAD.unpack_from(request, LENGTH)
        said = {"api": name_of(key), "api_version": version, **connection.about} | decoded(key, version, data, part)
        return said | {"request": decoded(key, version, request, REQUEST)} if part == ANSWER else said


def name_of(key: int) -> str:
    """What Kafka calls the API of a key."""
    return "".join(word.capitalize() for word in api_key_map.get(key, f"unknown_{key}").split("_"))


def decoded(key: int, version: int, data: bytes, part: str) -> dict[str, object]:
    """The fields of a frame, by the names of Kafka's schemas; none of a version that is not known."""
    try:
        schema = _schema(key, version, part == ANSWER)
        _, size = entity_reader(schema.__header_schema__)(data, LENGTH)
        return asdict(entity_reader(schema)(data, LENGTH + size)[0])
    except (KioIndexError, SerialError):
        return {}


@lru_cache
def _schema(key: int, version: int, is_answer: bool):
    return (load_response_schema if is_answer else load_request_schema)(key, version)


def _client(request: bytes) -> str:
    """The client id of a request, "" where it has none."""
    start = LENGTH + _HEAD.size + 2
    length = int.from_bytes(request[start - 2 : start], "big", signed=True)
    return request[start : start + max(length, 0)].decode(errors="replace")
