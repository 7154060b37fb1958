"""What a controller asks of replicas: LeaderAndIsr and StopReplica."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import MappingProxyType
from uuid import UUID

from kafkaproof.impl.protocol.inner_frames import Frame
from kafkaproof.impl.seams.between.messages import OK, Message, Outcome
from kafkaproof.impl.seams.between.naming import (
    Asked,
    Naming,
    Part,
    Returned,
    asked_of,
    by_topic,
    code,
    common_code,
    in_topics,
    numbers,
)
from kafkaproof.spec.kafka.topic_ids import bytes_of
from kafkaproof.spec.partition.context import NO_EPOCH

STALE_BROKER, STALE_CONTROLLER = STALE = "stale_broker_epoch", "stale_controller_epoch"
FAILED_DISK = "kafka_storage_error"
UNKNOWN = "unknown_topic_or_partition"
DURING_DELETE = -2
"""The leader, and the leader epoch, of a partition whose topic is deleted (LeaderAndIsr.LeaderDuringDelete)."""
FULL = 0
"""LeaderAndIsr.Type.INCREMENTAL is 1, FULL 2; a controller with ZooKeeper sends UNKNOWN."""


def uuid_of(id: str) -> UUID | None:
    """The id of a topic as a number, None where it has none."""
    return UUID(bytes=bytes_of(id)) if id else None


def head_of(naming: Naming, message: Message) -> dict:
    """What every request of a controller begins with."""
    return {
        "controller_id": naming.own_id,
        "controller_epoch": message.content["epoch"],
        "broker_epoch": message.content["broker_epoch"],
    }


class LeaderAndIsr:
    """A message for each partition; the answer to it is a message where its log directory does not work."""

    key, versions, named, served, kinds = 4, MappingProxyType({"2.8": 5, "3.9": 7}), 7, (4, 7), ("LeaderAndIsr",)

    @staticmethod
    def request(naming: Naming, messages: list[Message]) -> Asked:
        """As naming.Api."""
        topics, leaders, id = by_topic(naming, messages), {}, naming.brokers.id
        for content in (message.content for message in messages):
            if content["leader_address"]:
                host, port = content["leader_address"]
                leaders[content["leader"]] = {"broker_id": id(content["leader"]), "host_name": host, "port": port}
        states = in_topics(topics, "partition_states", partial(_led, naming))
        for state, parts in zip(states, topics.values()):
            state["topic_id"] = uuid_of(parts[0][1].content["topic_id"])
        more = {"type_": FULL, "topic_states": states, "live_leaders": list(leaders.values())}
        return asked_of(topics, head_of(naming, messages[0]) | more)

    @staticmethod
    def read(naming: Naming, frame: Frame) -> tuple[int, list[Part]]:
        """As naming.Api."""
        request, number, brokers = frame.fields, numbers(naming, frame), naming.brokers
        addresses = {each.broker_id: [each.host_name, each.port] for each in request.live_leaders}
        parts = []
        for topic in request.topic_states:
            if hasattr(topic, "topic_id"):
                naming.note_id(topic.topic_name, topic.topic_id)
            for state in topic.partition_states:
                p = number(topic.topic_name, state.partition_index)
                content = {
                    "epoch": request.controller_epoch,
                    "p": p,
                    "leader": brokers.number(state.leader),
                    "leader_epoch": state.leader_epoch,
                    "version": state.partition_epoch,
                    "written_in": state.controller_epoch,
                    "isr": brokers.numbers(state.isr),
                    "replicas": brokers.numbers(state.replicas),
                    "broker_epoch": request.broker_epoch,
                    "place": [topic.topic_name, state.partition_index],
                    "leader_address": addresses.get(state.leader),
                }
                parts.append(Part("LeaderAndIsr", None if p is None else content))
        return naming.brokers.number(request.controller_id), parts

    @staticmethod
    def answer(naming: Naming, frame: Frame, outcomes: list[Outcome]) -> dict:
        """As naming.Api."""
        of_parts, flat, topics = iter(outcomes), [], []
        for topic in frame.fields.topic_states:
            found = [
                {
                    "topic_name": topic.topic_name,
                    "partition_index": state.partition_index,
                    "error_code": code(_failed(next(of_parts), "StorageError")),
                }
                for state in topic.partition_states
            ]
            flat += found
            topics.append({"topic_id": getattr(topic, "topic_id", None), "partition_errors": found})
        return {"error_code": common_code(outcomes, STALE), "partition_errors": flat, "topics": topics}

    @staticmethod
    def returned(naming: Naming, asked: Asked, frame: Frame) -> Iterator[Returned]:
        """As naming.Api."""
        names = {topic["topic_id"]: topic["topic_name"] for topic in asked.fields["topic_states"]}
        failed = {
            (names[topic.topic_id], each.partition_index)
            for topic in frame.fields.topics
            for each in topic.partition_errors
            if each.error_code.name == FAILED_DISK
        }
        for place, message in enumerate(asked.messages):
            p = message.content["p"]
            if naming.place_of(p) in failed:
                yield Returned(place, "StorageError", {"epoch": message.content["epoch"], "p": p})


def _led(naming: Naming, partition: int, message: Message) -> dict:
    content, brokers = message.content, naming.brokers
    return {
        "partition_index": partition,
        "controller_epoch": content["written_in"],
        "leader": brokers.id(content["leader"]),
        "leader_epoch": content["leader_epoch"],
        "isr": brokers.ids(content["isr"]),
        "partition_epoch": content["version"],
        "replicas": brokers.ids(content["replicas"]),
        "adding_replicas": brokers.ids(content["moving"][0]),
        "removing_replicas": brokers.ids(content["moving"][1]),
        "is_new": content["is_new"],
    }


def _failed(outcome: Outcome, kind: str) -> Outcome:
    """The error of a partition: that of a message of a kind that says that its disk has failed."""
    if not isinstance(outcome, Message):
        return outcome
    return FAILED_DISK if outcome.kind == kind and outcome.content.get("failed", True) else OK


class StopReplica:
    """A message for each partition: to delete its replica, or to let it fetch no more; the answer to a deletion is one."""

    key, versions, named, served = 5, MappingProxyType({"2.8": 3, "3.9": 4}), 4, (3, 4)
    kinds = "StopReplica", "StopFetching"

    @staticmethod
    def request(naming: Naming, messages: list[Message]) -> Asked:
        """As naming.Api."""
        topics = by_topic(naming, messages)
        states = in_topics(topics, "partition_states", _stopped)
        return asked_of(topics, head_of(naming, messages[0]) | {"topic_states": states})

    @staticmethod
    def read(naming: Naming, frame: Frame) -> tuple[int, list[Part]]:
        """As naming.Api."""
        request, number, parts = frame.fields, numbers(naming, frame), []
        for topic in request.topic_states:
            for state in topic.partition_states:
                p = number(topic.topic_name, state.partition_index)
                content = {
                    "epoch": request.controller_epoch,
                    "p": p,
                    "leader_epoch": max(state.leader_epoch, NO_EPOCH),
                    "broker_epoch": request.broker_epoch,
                }
                kind = "StopReplica" if state.delete_partition else "StopFetching"
                parts.append(Part(kind, None if p is None else content))
        return naming.brokers.number(request.controller_id), parts

    @staticmethod
    def answer(naming: Naming, frame: Frame, outcomes: list[Outcome]) -> dict:
        """As naming.Api."""
        of_parts = iter(outcomes)
        errors = [
            {
                "topic_name": topic.topic_name,
                "partition_index": state.partition_index,
                "error_code": code(_failed(next(of_parts), "Stopped")),
            }
            for topic in frame.fields.topic_states
            for state in topic.partition_states
        ]
        return {"error_code": common_code(outcomes, STALE), "partition_errors": errors}

    @staticmethod
    def returned(naming: Naming, asked: Asked, frame: Frame) -> Iterator[Returned]:
        """As naming.Api."""
        codes = {
            (each.topic_name, each.partition_index): each.error_code.name for each in frame.fields.partition_errors
        }
        for place, message in enumerate(asked.messages):
            p = message.content["p"]
            found = codes.get(naming.place_of(p))
            if message.kind == "StopReplica" and found in (OK, FAILED_DISK):
                content = {"epoch": message.content["epoch"], "p": p, "failed": int(found == FAILED_DISK)}
                yield Returned(place, "Stopped", content)


def _stopped(partition: int, message: Message) -> dict:
    leader_epoch = message.content["leader_epoch"]
    return {
        "partition_index": partition,
        "leader_epoch": DURING_DELETE if leader_epoch == NO_EPOCH else leader_epoch,
        "delete_partition": message.kind == "StopReplica",
    }
