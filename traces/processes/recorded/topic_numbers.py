"""Which partitions of the specification the topics of a recorded cluster have, and since when."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from kafkaproof.spec.kafka.topic_ids import members_in
from kafkaproof.spec.language.plain import ids_in
from kafkaproof.traces.processes.recorded.reading import Cluster
from kafkaproof.traces.zookeeper.transactions import Create, Delete, SetData, Transaction
from kafkaproof.traces.zookeeper.znodes.json_parts import json_in
from kafkaproof.traces.zookeeper.znodes.topics import Topic, topic_in

OFFSETS_TOPIC, GIVEN = "__consumer_offsets", "/config/brokers/<default>"
_TOPIC = re.compile(r"/brokers/topics/([^/]+)")


class TopicNumbers:
    """The numbers of each topic's partitions, as ZooKeeper's log has them."""

    def __init__(self, cluster: Cluster):
        first_else = cluster.offsets if cluster.offsets >= 0 else cluster.sizes["partitions"] - cluster.room
        self._numbers: dict[str, list[tuple[int, list[int]]]] = {cluster.topic: [(0, list(range(first_else)))]}
        if cluster.offsets >= 0:
            self._numbers[OFFSETS_TOPIC] = [(0, [cluster.offsets])]
        self._first, self._added = {name: numbers[0][1] for name, numbers in self._numbers.items()}, {}
        self._in_ids, self._is_mixed = cluster.numbers_in_ids, cluster.is_mixed
        self._size, self._foreign = cluster.sizes["partitions"], set[str]()
        if cluster.is_mixed:
            self._look_ahead(cluster.zookeeper.transactions)
        for transaction in cluster.zookeeper.transactions:
            self._note(transaction)

    def _look_ahead(self, transactions: Iterable[Transaction]) -> None:
        """Note which numbers topics of real controllers, and partitions that these add, get in the end: from ours, and later."""
        for transaction in transactions:
            for operation in () if transaction.failed else transaction.operations:
                data = getattr(operation, "data", None)
                if getattr(operation, "path", "") == GIVEN and data:
                    self._added |= _added_in(data)
                    self._foreign |= _foreign_in(data)

    def _note(self, transaction: Transaction) -> None:
        """Which numbers a topic has from a transaction on."""
        for operation in () if transaction.failed else transaction.operations:
            path, data = getattr(operation, "path", ""), getattr(operation, "data", None)
            found = _TOPIC.fullmatch(path)
            if path == GIVEN and data and not self._is_mixed:
                self._added = _added_in(data)
            elif found and isinstance(operation, Delete):
                self._numbers.setdefault(found[1], []).append((transaction.zxid, []))
            elif found and isinstance(operation, Create | SetData) and (topic := topic_in(data)):
                self._note_topic(found[1], topic, transaction.zxid)

    def _note_topic(self, name: str, topic: Topic, zxid: int) -> None:
        """Which numbers a topic has, as its znode was written. One of a real controller has those that ours have taken for it
        later.
        """
        first = self._first.get(name) or (self._said_by(topic.id) if topic.id and self._in_ids else [])
        numbers = [*first, *self._added.get(topic.id or name, ())][: len(topic.partitions)]
        if numbers:
            self._numbers.setdefault(name, []).append((zxid, numbers))

    def _said_by(self, id: str) -> list[int]:
        """The numbers that the id of a topic says: none, where a real controller has given it."""
        said = ids_in(members_in(id))
        return [] if id in self._foreign or self._is_mixed and max(said) >= self._size else said

    def of_topic(self, topic: str, zxid: int) -> list[int]:
        """The numbers of a topic's partitions right before or, where it is created then, after a transaction."""
        return next(
            (
                numbers
                for since, numbers in reversed(self._numbers.get(topic, []))
                if since < zxid or since == zxid and numbers
            ),
            [],
        )

    def of(self, topic: str, partition: int, zxid: int) -> int | None:
        """The number of a topic's partition, None where there is no such partition."""
        return dict(enumerate(self.of_topic(topic, zxid))).get(partition)


def _added_in(data: bytes) -> dict[str, list[int]]:
    """The numbers of topics besides the first, by their ids or names, as the processes have noted them; none in what cannot be
    read.
    """
    try:
        config = json.loads(data)["config"]
        noted = config.get("kafkaproof.places.numbers") or config.get("kafkaproof.places.added", "{}")
        return {key: list(numbers) for key, numbers in json.loads(noted).items()}
    except (ValueError, LookupError, TypeError, AttributeError):
        return {}


def _foreign_in(data: bytes) -> set[str]:
    """The ids of topics of real controllers, as the processes have noted them up to format 9."""
    return set(json.loads(json_in(data).get("config", {}).get("kafkaproof.places.foreign", "[]")))
