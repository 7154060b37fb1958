"""Which partitions of the specification the topics of a recorded cluster have, and since when."""

from __future__ import annotations

import re

from kafkaproof.spec.kafka.topic_ids import members_in
from kafkaproof.spec.language.plain import ids_in
from kafkaproof.traces.processes.recorded.reading import Cluster
from kafkaproof.traces.zookeeper.transactions import Create, Delete, Transaction
from kafkaproof.traces.zookeeper.znodes.topics import topic_in

OFFSETS_TOPIC = "__consumer_offsets"
_TOPIC = re.compile(r"/brokers/topics/([^/]+)")


class TopicNumbers:
    """The numbers of each topic's partitions, as ZooKeeper's log has them."""

    def __init__(self, cluster: Cluster):
        first_else = cluster.offsets if cluster.offsets >= 0 else cluster.sizes["partitions"] - cluster.room
        self._numbers: dict[str, list[tuple[int, list[int]]]] = {cluster.topic: [(0, list(range(first_else)))]}
        if cluster.offsets >= 0:
            self._numbers[OFFSETS_TOPIC] = [(0, [cluster.offsets])]
        for transaction in cluster.zookeeper.transactions:
            self._note(transaction)

    def _note(self, transaction: Transaction) -> None:
        """Which numbers a topic has from a transaction on."""
        for operation in () if transaction.failed else transaction.operations:
            found = _TOPIC.fullmatch(getattr(operation, "path", ""))
            if found and isinstance(operation, Delete):
                self._numbers.setdefault(found[1], []).append((transaction.zxid, []))
            elif found and isinstance(operation, Create) and (topic := topic_in(operation.data)) and topic.id:
                self._numbers.setdefault(found[1], []).append((transaction.zxid, ids_in(members_in(topic.id))))

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
