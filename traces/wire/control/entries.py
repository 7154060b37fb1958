"""Control requests of every version, taken apart: who says what about which partition."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any, NamedTuple

from kafkaproof.spec.kafka.topic_ids import text_of
from kafkaproof.traces.explain.partitions.sent import HALT, STOP_REPLICA
from kafkaproof.traces.explain.partitions.strategies import Elected
from kafkaproof.traces.wire.exchanges import Exchange

DURING_DELETE = -2
"""The leader, and the leader epoch, of a topic that is being deleted."""


class Entry(NamedTuple):
    """What a request says about one partition; a field that its version has not is None.

    `kind`: as of what steps send; `state_epoch`: the controller epoch of the partition's state.
    """

    kind: str
    topic: str
    number: int
    elected: Elected | None = None
    leader_epoch: int | None = None
    version: int | None = None
    state_epoch: int | None = None
    replicas: tuple[int, ...] | None = None
    adding: tuple[int, ...] | None = None
    removing: tuple[int, ...] | None = None
    is_new: bool | None = None
    topic_id: str | None = None

    @property
    def partition(self) -> tuple[str, int]:
        """The partition."""
        return self.topic, self.number


def entries_of(exchange: Exchange) -> Iterator[Entry]:
    """What a control request says about partitions."""
    asked = exchange.asked
    if exchange.api == STOP_REPLICA:
        yield from _stops(asked)
        return
    for each in asked.get("ungrouped_partition_states", ()):
        yield _state(exchange.api, each["topic_name"], None, each)
    for topic in asked.get("topic_states", ()):
        for each in topic["partition_states"]:
            yield _state(exchange.api, topic["topic_name"], topic.get("topic_id"), each)


def _state(api: str, topic: str, id: uuid.UUID | None, said: dict[str, Any]) -> Entry:
    version = said.get("partition_epoch", said.get("zk_version"))
    return Entry(
        api,
        topic,
        said["partition_index"],
        Elected(said["leader"], frozenset(said["isr"])),
        said["leader_epoch"],
        version,
        said["controller_epoch"],
        tuple(said["replicas"]),
        _ids(said.get("adding_replicas")),
        _ids(said.get("removing_replicas")),
        said.get("is_new"),
        id_text(id),
    )


def _ids(said: Any) -> tuple[int, ...] | None:
    return None if said is None else tuple(said)


def _stops(asked: dict[str, Any]) -> Iterator[Entry]:
    kinds = {True: STOP_REPLICA, False: HALT}
    for each in asked.get("ungrouped_partitions", ()):
        yield Entry(kinds[asked["delete_partitions"]], each["topic_name"], each["partition_index"])
    for topic in asked.get("topics", ()):
        for number in topic["partition_indexes"]:
            yield Entry(kinds[asked["delete_partitions"]], topic["name"], number)
    for topic in asked.get("topic_states", ()):
        for each in topic["partition_states"]:
            epoch = each["leader_epoch"]
            yield Entry(
                kinds[each["delete_partition"]],
                topic["topic_name"],
                each["partition_index"],
                leader_epoch=None if epoch == -1 else epoch,
            )


def id_text(id: uuid.UUID | None) -> str | None:
    """A topic id as ZooKeeper has it, None for none."""
    return text_of(id.bytes) if id and id.int else None


def name_of(partition: tuple[str, int]) -> str:
    """A partition, as Kafka writes it."""
    return f"{partition[0]}-{partition[1]}"


def alive_in(exchange: Exchange) -> frozenset[int]:
    """The brokers that an UpdateMetadata lists as live."""
    return frozenset(each.get("id_", each.get("broker_id")) for each in exchange.asked["live_brokers"])
