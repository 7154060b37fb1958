"""What clients are told of the cluster: its brokers, topics and leaders, as UpdateMetadata has told this broker.

It is a hint: a broker that does not lead says so, from its own record.
"""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from kafka.protocol.metadata.metadata import MetadataResponse

from kafkaproof.impl.broker.process import Process
from kafkaproof.impl.broker.replica import DONE
from kafkaproof.impl.clients.auto_creation import AutoCreation
from kafkaproof.impl.clients.errors import ERRORS
from kafkaproof.impl.protocol.wire import Call
from kafkaproof.impl.seams.between.messages import Message
from kafkaproof.impl.seams.zookeeper.partition_numbers import NONE, OFFSETS_TOPIC
from kafkaproof.impl.seams.zookeeper.znodes import BrokerId
from kafkaproof.spec.kafka.topic_ids import bytes_of
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.plain import ids_in

OLDEST = 0
"""The version of Metadata in which no topics are all topics, as tools before 0.10 and GetOffsetShell up to 1.1 ask."""
NO_ID, UNKNOWN = UUID(int=0), "UNKNOWN_TOPIC_OR_PARTITION"


class Told(NamedTuple):
    """What clients are told of a partition."""

    replicas: tuple[int, ...]
    leader: int
    leader_epoch: int
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
        self._replicas: dict[int, tuple[int, ...]] = {}
        self._topic_ids: dict[str, UUID] = {}
        self.controller = NOBODY
        self._auto_creation = AutoCreation()

    def learn(self, message: Message) -> None:
        """Keep what an UpdateMetadata says besides what goes into the record."""
        self.controller = message.sender
        self._process.known.addresses |= {b: BrokerId(*address) for b, *address in message.content["alive"]}
        for number, told in message.content["partitions"].items():
            p = int(number)
            self._replicas[p] = tuple(told["replicas"])
            topic, partition = told["place"]
            if told["topic_id"]:
                self._topic_ids[topic] = UUID(bytes=bytes_of(told["topic_id"]))
            if self._process.places.is_further(p):
                self._process.places.note(topic, {p: partition})

    def serve(self, call: Call) -> None:
        """Answer a request of Metadata."""
        brokers, topics, controller, _ = self.known()
        kind, request, naming = MetadataResponse, call.request, self._process.ids
        if request.topics is None or call.version == OLDEST and not request.topics:
            found = [self._described(topic, topics[topic], brokers, call.version) for topic in sorted(topics)]
        else:
            found = [self._asked(each, call, topics, brokers, controller) for each in request.topics]
        call.answer(
            kind(
                throttle_time_ms=0,
                cluster_id="kafkaproof",
                controller_id=naming.id(controller),
                brokers=[
                    kind.MetadataResponseBroker(node_id=naming.id(b), host=found.host, port=found.port)
                    for b, found in sorted(brokers.items())
                ],
                topics=found,
            )
        )

    def _asked(self, asked, call, topics, brokers, controller):
        """What is told of a topic that a client names, or gives the id of; one that is not there may be created."""
        if asked.name is None:
            name = next((name for name, id in self._topic_ids.items() if id == asked.topic_id and name in topics), None)
            if name is None:
                return self._topic(None, "UNKNOWN_TOPIC_ID", [], asked.topic_id)
            return self._described(name, topics[name], brokers, call.version)
        if asked.name in topics:
            return self._described(asked.name, topics[asked.name], brokers, call.version)
        error = UNKNOWN
        if self._process.settings.auto_create and (call.version < 4 or call.request.allow_auto_topic_creation):
            found = brokers.get(controller)
            error = self._auto_creation.create(asked.name, (found.host, found.port) if found else None)
        return self._topic(asked.name, error, [])

    def _described(self, topic, states, brokers, version):
        """The topic; a leader that is not live is none, and in the oldest version there are only live replicas
        (MetadataCache.getPartitionMetadata).
        """
        partitions, naming = [], self._process.ids
        for p, told in sorted(states.items()):
            leader = told.leader if told.leader in brokers else -1
            shown = {b for b in told.replicas if b in brokers or version != OLDEST}
            error = DONE if len(shown) == len(told.replicas) else "REPLICA_NOT_AVAILABLE"
            partitions.append(
                MetadataResponse.MetadataResponseTopic.MetadataResponsePartition(
                    error_code=ERRORS[error if leader >= 0 else "LEADER_NOT_AVAILABLE"],
                    partition_index=p,
                    leader_id=naming.id(leader),
                    leader_epoch=told.leader_epoch,
                    replica_nodes=naming.ids(b for b in told.replicas if b in shown),
                    isr_nodes=naming.ids(b for b in told.isr if b in shown),
                    offline_replicas=naming.ids(b for b in told.replicas if b not in brokers),
                )
            )
        id = self._topic_ids.get(topic, NO_ID)
        return self._topic(topic, DONE if partitions else "LEADER_NOT_AVAILABLE", partitions, id)

    def _topic(self, name, error, partitions, id=NO_ID):
        return MetadataResponse.MetadataResponseTopic(
            error_code=ERRORS[error], name=name, topic_id=id, is_internal=name == OFFSETS_TOPIC, partitions=partitions
        )

    def has(self, topic: str) -> bool:
        """Whether this broker was told of a topic."""
        return topic in self.known().topics

    def known(self) -> Known:
        """What this broker was told last."""
        cache, settings = self._process.partition.metadata, self._process.settings
        brokers = {b: self._process.known.addresses[b] for b in ids_in(cache.alive)}
        topics: dict[str, dict[int, Told]] = {}
        for p, cached in enumerate(cache.partitions):
            place = self._process.places.place_of(p)
            if cached.known and place:
                isr = tuple(ids_in(cached.isr))
                told = Told(self._replicas.get(p, ()), cached.leader, cached.leader_epoch, isr)
                topics.setdefault(place[0], {})[place[1]] = told
        offsets = cache.partitions[settings.offsets] if settings.offsets != NONE else None
        coordinator = offsets.leader if offsets and offsets.known else NOBODY
        return Known(brokers, topics, self.controller, coordinator)

    def is_led(self, topic: str) -> bool:
        """Whether all partitions of a topic that the controller knows, this broker, have leaders for its clients."""
        record = self._process.partition
        partitions, cached = record.controller.partitions, record.metadata.partitions
        numbers = [p for p in self._process.places.numbers_of(topic) if partitions[p].assignment.length > 0]
        return bool(numbers) and all(cached[p].known and cached[p].leader >= 0 for p in numbers)
