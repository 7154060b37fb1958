"""What clients are told of the cluster: its brokers, topics and leaders, as read from ZooKeeper a moment ago.

It is a hint: a broker that does not lead says so, from its own record.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import NamedTuple

from kafka.protocol.metadata.metadata import MetadataResponse

from kafkaproof.impl.broker.process import Process
from kafkaproof.impl.broker.replica import DONE
from kafkaproof.impl.clients.errors import ERRORS
from kafkaproof.impl.protocol.wire import Call
from kafkaproof.impl.seams.zookeeper.partition_numbers import OFFSETS_TOPIC
from kafkaproof.impl.seams.zookeeper.requests import NotAnswered
from kafkaproof.impl.seams.zookeeper.session import Expired
from kafkaproof.impl.seams.zookeeper.znodes import BROKER_IDS, DELETE_TOPICS, TOPICS, BrokerId, Controller, State, Topic

FRESH = 0.3
"""How long what was read from ZooKeeper is told to clients, in seconds."""


class Known(NamedTuple):
    """The brokers, the partitions of each topic with their replicas and states, the controller, and who leads the
    offsets partition; -1 for nobody.
    """

    brokers: dict[int, BrokerId]
    topics: dict[str, dict[int, tuple[tuple[int, ...], State | None]]]
    controller: int
    coordinator: int


class Metadata:
    """Reads it, and answers requests of Metadata, for the clients of one broker."""

    def __init__(self, process: Process):
        self._process = process
        self._found, self._read_at = Known({}, {}, -1, -1), -FRESH

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
        """The topic; a leader that is not registered is none (MetadataCache.getPartitionMetadata)."""
        partitions = []
        for p, (replicas, state) in sorted(states.items()):
            leader = state.leader if state and state.leader in brokers else -1
            partitions.append(
                kind.MetadataResponseTopic.MetadataResponsePartition(
                    error_code=ERRORS[DONE if leader >= 0 else "LEADER_NOT_AVAILABLE"],
                    partition_index=p,
                    leader_id=leader,
                    replica_nodes=list(replicas),
                    isr_nodes=list(state.isr) if state else [],
                    offline_replicas=[],
                )
            )
        return self._topic(kind, topic, DONE if partitions else "LEADER_NOT_AVAILABLE", partitions)

    def _topic(self, kind, name, error, partitions):
        return kind.MetadataResponseTopic(error_code=ERRORS[error], name=name, is_internal=False, partitions=partitions)

    def known(self) -> Known:
        """What ZooKeeper holds; where it does not answer, what was found last, as Kafka's brokers have a cache."""
        now = time.monotonic()
        if now - self._read_at >= FRESH:
            try:
                self._found = self._look()
                self._read_at = now
            except (NotAnswered, Expired):
                pass
        return self._found

    def _look(self) -> Known:
        requests, session = self._process.requests, self._process.requests.session
        listed, owner, named, marked = requests.at_once(
            lambda: session.children(BROKER_IDS),
            lambda: session.get(Controller.path),
            lambda: session.children(TOPICS),
            lambda: session.children(DELETE_TOPICS),
        )
        hidden = {OFFSETS_TOPIC, *marked.result[0]}
        assigned = self._assigned(name for name in named.result[0] if name not in hidden)
        ids, places = [int(name) for name in listed.result[0]], list(assigned)
        paths = [BrokerId.path_of(b) for b in ids] + [State.path_of(*place) for place in places]
        replies = requests.at_once(
            *(lambda path=path: session.get(path) for path in (State.path_of(OFFSETS_TOPIC, 0), *paths))
        )
        offsets, states_of = replies[0], replies[1:]
        brokers = {b: BrokerId.decode(reply.result[0]) for b, reply in zip(ids, states_of) if not reply.error}
        topics: dict[str, dict[int, tuple]] = {}
        for (topic, p), reply in zip(places, states_of[len(ids) :]):
            state = None if reply.error else State.decode(reply.result[0])
            topics.setdefault(topic, {})[p] = assigned[topic, p], state
        controller = -1 if owner.error else Controller.decode(owner.result[0]).broker
        leader = -1 if offsets.error else State.decode(offsets.result[0]).leader
        return Known(brokers, topics, controller, leader)

    def _assigned(self, topics: Iterable[str]) -> dict[tuple[str, int], tuple[int, ...]]:
        """The replicas of all partitions of some topics."""
        names, session = list(topics), self._process.requests.session
        reads = [lambda path=Topic.path_of(name): session.get(path) for name in names]
        replies = self._process.requests.at_once(*reads) if reads else []
        return {
            (name, p): replicas
            for name, reply in zip(names, replies)
            if not reply.error
            for p, replicas in enumerate(Topic.decode(reply.result[0]).assignments)
        }

    def is_led(self, topic: str) -> bool:
        """Whether all partitions of a topic have leaders."""
        partitions = self.known().topics.get(topic, {})
        return bool(partitions) and all(state and state.leader >= 0 for _, state in partitions.values())
