"""What clients are told of the cluster: its brokers, topics and leaders, as UpdateMetadata has told this broker.

It is a hint: a broker that does not lead says so, from its own record.
"""

from __future__ import annotations

from typing import NamedTuple

from kafka.protocol.metadata.metadata import MetadataResponse

from kafkaproof.impl.broker.process import Process
from kafkaproof.impl.broker.replica import DONE
from kafkaproof.impl.clients.errors import ERRORS
from kafkaproof.impl.protocol.wire import Call
from kafkaproof.impl.seams.network import Message
from kafkaproof.impl.seams.zookeeper.partition_numbers import NONE, OFFSETS_TOPIC
from kafkaproof.impl.seams.zookeeper.watches import ids
from kafkaproof.impl.seams.zookeeper.znodes import BrokerId
from kafkaproof.spec.language.domains import NOBODY


class Told(NamedTuple):
    """What clients are told of a partition."""

    replicas: tuple[int, ...]
    leader: int
    isr: tuple[int, ...]


class Known(NamedTuple):
    """The brokers, the partitions of each topic, the controller, and who leads the offsets partition; -1 for nobody."""

    brokers: dict[int, BrokerId]
    topics: dict[str, dict[int, Told]]
    controller: int
    coordinator: int


class Metadata:
    """Answers requests of Metadata, for the clients of one broker, from its record.

    What no record holds is kept here: addresses, replicas, and who the controller is.
    """

    def __init__(self, process: Process):
        self._process = process
        self._addresses: dict[int, BrokerId] = {}
        self._replicas: dict[int, tuple[int, ...]] = {}
        self._controller = NOBODY

    def learn(self, message: Message) -> None:
        """Keep what an UpdateMetadata says besides what goes into the record."""
        self._controller = message.sender
        self._addresses |= {b: BrokerId(*address) for b, *address in message.content["alive"]}
        for number, told in message.content["partitions"].items():
            p = int(number)
            self._replicas[p] = tuple(told["replicas"])
            if told["place"] and self._process.places.is_room(p):
                topic, partition = told["place"]
                self._process.places.note(topic, {p: partition})

    def serve(self, call: Call) -> None:
        """Answer a request of Metadata."""
        brokers, topics, controller, _ = self.known()
        kind = MetadataResponse
        wanted = sorted(topics) if call.request.topics is None else [topic.name for topic in call.request.topics]
        call.answer(
            kind(
                throttle_time_ms=0,
                cluster_id="kafkaproof",
                controller_id=controller,
                brokers=[
                    kind.MetadataResponseBroker(node_id=b, host=found.host, port=found.port)
                    for b, found in sorted(brokers.items())
                ],
                topics=[
                    self._described(kind, topic, topics[topic], brokers)
                    if topic in topics
                    else self._topic(kind, topic, "UNKNOWN_TOPIC_OR_PARTITION", [])
                    for topic in wanted
                ],
            )
        )

    def _described(self, kind, topic, states, brokers):
        """The topic; a leader that is not live is none (MetadataCache.getPartitionMetadata)."""
        partitions = []
        for p, told in sorted(states.items()):
            leader = told.leader if told.leader in brokers else -1
            partitions.append(
                kind.MetadataResponseTopic.MetadataResponsePartition(
                    error_code=ERRORS[DONE if leader >= 0 else "LEADER_NOT_AVAILABLE"],
                    partition_index=p,
                    leader_id=leader,
                    replica_nodes=list(told.replicas),
                    isr_nodes=list(told.isr),
                    offline_replicas=[],
                )
            )
        return self._topic(kind, topic, DONE if partitions else "LEADER_NOT_AVAILABLE", partitions)

    def _topic(self, kind, name, error, partitions):
        return kind.MetadataResponseTopic(error_code=ERRORS[error], name=name, is_internal=False, partitions=partitions)

    def known(self) -> Known:
        """What this broker was told last."""
        cache, settings = self._process.partition.metadata, self._process.settings
        brokers = {b: self._addresses[b] for b in ids(cache.alive, settings.brokers)}
        topics: dict[str, dict[int, Told]] = {}
        for p, cached in enumerate(cache.partitions):
            place = self._process.places.place_of(p)
            if cached.known and place and place[0] != OFFSETS_TOPIC:
                told = Told(self._replicas.get(p, ()), cached.leader, ids(cached.isr, settings.brokers))
                topics.setdefault(place[0], {})[place[1]] = told
        offsets = cache.partitions[settings.offsets] if settings.offsets != NONE else None
        coordinator = offsets.leader if offsets and offsets.known else NOBODY
        return Known(brokers, topics, self._controller, coordinator)

    def is_led(self, topic: str) -> bool:
        """Whether all partitions of a topic that the controller knows, this broker, have leaders for its clients."""
        record = self._process.partition
        partitions, cached = record.controller.partitions, record.metadata.partitions
        numbers = [p for p in self._process.places.numbers_of(topic) if partitions[p].assignment.length > 0]
        return bool(numbers) and all(cached[p].known and cached[p].leader >= 0 for p in numbers)
