"""Ids of brokers in ZooKeeper: what is written there has Kafka's ids, and what is read has the numbers of the specification.

A session is given a `Names`, which changes the paths, the contents and the names of children of the znodes that have ids.
Source: kafka.zk.ZkData, 1.1 to 3.9.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from kazoo.protocol.serialization import Create, GetChildren2, GetData, SetData, Transaction

from kafkaproof.impl.seams.zookeeper.request_znodes import LogDirEvent, Reassignment
from kafkaproof.impl.seams.zookeeper.znodes import BROKER_IDS, TOPICS, Controller, ProducerIdBlock, to_bytes
from kafkaproof.spec.running.broker_ids import BrokerIds

ANY = "*"
"""Every entry of an object or a list."""
IN_TOPIC = (("partitions", ANY), ("adding_replicas", ANY), ("removing_replicas", ANY))
CONTENTS: tuple[tuple[re.Pattern, tuple[tuple[str, ...], ...]], ...] = tuple(
    (re.compile(path), places)
    for path, places in (
        (Controller.path, (("brokerid",),)),
        (f"{TOPICS}/[^/]+", IN_TOPIC),
        (f"{TOPICS}/.+/state", (("leader",), ("isr",))),
        (Reassignment.path, (("partitions", ANY, "replicas"),)),
        (f"{LogDirEvent.prefix}.*", (("broker",),)),
        (ProducerIdBlock.path, (("broker",),)),
    )
)
"""The znodes that have ids of brokers in their contents, and where."""
_REGISTRATION = re.compile(f"({BROKER_IDS}/)([0-9]+)")
Naming = Callable[[int], int]


class Names:
    """The ids of a cluster's brokers, in what a session asks and is told."""

    def __init__(self, brokers: BrokerIds):
        self._brokers = brokers

    def path(self, path: str) -> str:
        """A path as ZooKeeper has it."""
        found = None if self._brokers.is_plain else _REGISTRATION.fullmatch(path)
        return f"{found[1]}{self._brokers.id(int(found[2]))}" if found else path

    def asked(self, request: Any) -> Any:
        """A write as ZooKeeper is asked for it, with ids."""
        if self._brokers.is_plain:
            return request
        if isinstance(request, Transaction):
            return Transaction([self.asked(each) for each in request.operations])
        changed = request._replace(path=self.path(request.path))
        if isinstance(request, Create | SetData):
            return changed._replace(data=renamed(request.path, request.data, self._brokers.id))
        return changed

    def told(self, request: Any, result: Any) -> Any:
        """What ZooKeeper has answered to a read, with numbers."""
        if self._brokers.is_plain or result is None:
            return result
        if isinstance(request, GetData):
            return renamed(request.path, result[0], self._brokers.number), *result[1:]
        if isinstance(request, GetChildren2) and request.path == BROKER_IDS:
            return [str(self._brokers.number(int(name))) for name in result[0]], *result[1:]
        return result


def renamed(path: str, data: bytes, name: Naming) -> bytes:
    """The content of a znode with other names of brokers; what is no content of Kafka's stays as it is."""
    places = next((places for known, places in CONTENTS if known.fullmatch(path)), ())
    try:
        content = json.loads(data) if places and data else None
    except ValueError:
        return data
    if content is None:
        return data
    for place in places:
        content = _renamed_at(content, place, name)
    return to_bytes(content)


def _renamed_at(value: Any, place: tuple[str, ...], name: Naming) -> Any:
    """A part of a content with other names of the brokers that stand at a place in it."""
    if not place:
        return [_named(each, name) for each in value] if isinstance(value, list) else _named(value, name)
    first, *rest = place
    if first == ANY and isinstance(value, list):
        return [_renamed_at(each, (*rest,), name) for each in value]
    if isinstance(value, dict):
        wanted = value.keys() if first == ANY else value.keys() & {first}
        return {key: _renamed_at(each, (*rest,), name) if key in wanted else each for key, each in value.items()}
    return value


def _named(value: Any, name: Naming) -> Any:
    return name(value) if type(value) is int else value
