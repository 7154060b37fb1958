"""Which partitions of the specification the topics of a recorded cluster have, and since when."""

from __future__ import annotations

import json
import re

from kafkaproof.spec.kafka.topic_ids import members_in
from kafkaproof.spec.language.plain import ids_in
from kafkaproof.traces.processes.recorded.reading import Cluster
from kafkaproof.traces.zookeeper.transactions import Create, Delete, SetData, Transaction
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
        self._in_ids = cluster.numbers_in_ids
        for transaction in cluster.zookeeper.transactions:
            self._note(transaction)

    def _note(self, transaction: Transaction) -> None:
        """Which numbers a topic has from a transaction on."""
        for operation in () if transaction.failed else transaction.operations:
            path, data = getattr(operation, "path", ""), getattr(operation, "data", None)
            found = _TOPIC.fullmatch(path)
            if path == GIVEN and data:
                self._added = _added_in(data)
            elif found and isinstance(operation, Delete):
                self._numbers.setdefault(found[1], []).append((transaction.zxid, []))
            elif found and isinstance(operation, Create | SetData) and (topic := topic_in(data)):
                self._note_topic(found[1], topic, transaction.zxid)

    def _note_topic(self, name: str, topic: Topic, zxid: int) -> None:
        """Which numbers a topic has, as its znode was written."""
        first = self._first.get(name) or (ids_in(members_in(topic.id)) if topic.id and self._in_ids else [])
        numbers = [*first, *self._added.get(topic.id or name, ())][: len(topic.partitions)]
        if numbers:
            self._numbers.setdefault(name, []).append((zxid, numbers))

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
