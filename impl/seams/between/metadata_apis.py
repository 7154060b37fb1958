"""What a controller tells all brokers: UpdateMetadata; and what a broker asks it that leaves: ControlledShutdown."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from uuid import UUID

from kafkaproof.impl.protocol.inner_frames import Frame
from kafkaproof.impl.seams.between.control_apis import DURING_DELETE, head_of, uuid_of
from kafkaproof.impl.seams.between.messages import Message, Outcome
from kafkaproof.impl.seams.between.naming import Asked, Naming, Part, Returned, code, numbers
from kafkaproof.impl.seams.zookeeper.znodes import CLIENTS, INNER
from kafkaproof.spec.kafka.topic_ids import text_of
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.partition.context import NO_EPOCH

PLAINTEXT = 0
"""The number of the security protocol of all listeners."""


def _text_of(id: UUID | None) -> str:
    return text_of(id.bytes) if id else ""


class UpdateMetadata:
    """One message; its answer is none."""

    key, versions, named, served = 6, MappingProxyType({"2.8": 7, "3.9": 8}), 8, (6, 8)
    kinds = ("UpdateMetadata",)

    @staticmethod
    def request(naming: Naming, messages: list[Message]) -> Asked:
        """As naming.Api."""
        content, topics = messages[0].content, {}
        for number, told in content["partitions"].items():
            topic, partition = naming.place_of(int(number))
            state = topics.setdefault(topic, {"topic_name": topic, "topic_id": uuid_of(told["topic_id"]), "found": []})
            state["found"].append((partition, int(number), told))
        order = [number for topic in topics.values() for _, number, _ in topic["found"]]
        states = [
            topic
            | {"partition_states": [_told(naming, partition, told, content) for partition, _, told in topic["found"]]}
            for topic in topics.values()
        ]
        brokers = [
            {
                "id_": naming.brokers.id(b),
                "rack": None,
                "endpoints": [
                    {"port": port, "host": host, "listener": name, "security_protocol": PLAINTEXT}
                    for name, port in ((CLIENTS, clients), (INNER, inner))
                ],
            }
            for b, host, clients, inner in content["alive"]
        ]
        fields = head_of(naming, messages[0]) | {"topic_states": states, "live_brokers": brokers}
        return Asked(messages, fields, order)

    @staticmethod
    def read(naming: Naming, frame: Frame) -> tuple[int, list[Part]]:
        """As naming.Api."""
        request, number, brokers = frame.fields, numbers(naming, frame), naming.brokers
        partitions = {}
        for topic in request.topic_states:
            if hasattr(topic, "topic_id"):
                naming.note_id(topic.topic_name, topic.topic_id)
            for state in topic.partition_states:
                p, forgotten = number(topic.topic_name, state.partition_index), state.leader == DURING_DELETE
                if p is not None:
                    partitions[str(p)] = {
                        "leader": NOBODY if forgotten else brokers.number(state.leader),
                        "leader_epoch": NO_EPOCH if forgotten else state.leader_epoch,
                        "isr": [] if forgotten else brokers.numbers(state.isr),
                        "replicas": brokers.numbers(state.replicas),
                        "place": [topic.topic_name, state.partition_index],
                        "topic_id": _text_of(getattr(topic, "topic_id", None)),
                    }
        content = {
            "epoch": request.controller_epoch,
            "broker_epoch": request.broker_epoch,
            "partitions": partitions,
            "alive": [[brokers.number(each.id_), *_endpoints(each)] for each in request.live_brokers],
        }
        return brokers.number(request.controller_id), [Part("UpdateMetadata", content)]

    @staticmethod
    def answer(naming: Naming, frame: Frame, outcomes: list[Outcome]) -> dict:
        """As naming.Api."""
        return {"error_code": code(outcomes[0])}

    @staticmethod
    def returned(naming: Naming, asked: Asked, frame: Frame) -> Iterator[Returned]:
        """As naming.Api."""
        return iter(())


def _told(naming: Naming, partition: int, told: dict, content: dict) -> dict:
    forgotten = told["leader_epoch"] == NO_EPOCH
    brokers, alive = naming.brokers, [b for b, *_ in content["alive"]]
    return {
        "partition_index": partition,
        "controller_epoch": told["written_in"],
        "leader": DURING_DELETE if forgotten else brokers.id(told["leader"]),
        "leader_epoch": 0 if forgotten else told["leader_epoch"],
        "isr": brokers.ids(told["isr"]),
        "zk_version": 0 if forgotten else told["version"],
        "replicas": brokers.ids(told["replicas"]),
        "offline_replicas": brokers.ids(b for b in told["replicas"] if b not in alive),
    }


def _endpoints(broker) -> tuple[str, int, int]:
    """Where a broker listens: its host, its port for clients, and the one for brokers."""
    listeners = {each.listener: each for each in broker.endpoints}
    first = broker.endpoints[0]
    clients = listeners.get(CLIENTS, first)
    return clients.host, clients.port, listeners.get(INNER, first).port


class ControlledShutdown:
    """One message of a broker that leaves; its answer is none."""

    key, versions, named, served = 7, MappingProxyType({"2.8": 3, "3.9": 3}), 3, (3, 3)
    kinds = ("ControlledShutdown",)

    @staticmethod
    def request(naming: Naming, messages: list[Message]) -> Asked:
        """As naming.Api."""
        return Asked(messages, {"broker_id": naming.own_id, "broker_epoch": naming.broker_epoch}, [])

    @staticmethod
    def read(naming: Naming, frame: Frame) -> tuple[int, list[Part]]:
        """As naming.Api."""
        return naming.brokers.number(frame.fields.broker_id), [Part("ControlledShutdown", {})]

    @staticmethod
    def answer(naming: Naming, frame: Frame, outcomes: list[Outcome]) -> dict:
        """As naming.Api."""
        left = outcomes[0] if isinstance(outcomes[0], tuple) else ()
        places = [dict(zip(("topic_name", "partition_index"), naming.place_of(p))) for p in left]
        return {"error_code": code(outcomes[0]), "remaining_partitions": places}

    @staticmethod
    def returned(naming: Naming, asked: Asked, frame: Frame) -> Iterator[Returned]:
        """As naming.Api."""
        return iter(())
