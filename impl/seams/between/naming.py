"""What a broker must know to write and read requests of Kafka: who it is, which broker and which partition has which
number, and where batches lie in its logs.

Source: org.apache.kafka.common.requests.LeaderAndIsrRequest, 2.8 to 3.9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from kio.schema.errors import ErrorCode

from kafkaproof.impl.protocol.inner_frames import Fields, Frame
from kafkaproof.impl.seams.between.messages import Message, OfPart, Outcome
from kafkaproof.spec.running.broker_ids import BrokerIds


class Naming(Protocol):
    """What of it a broker knows; `broker` is its own number."""

    broker: int
    brokers: BrokerIds

    @property
    def broker_epoch(self) -> int:
        """The czxid of its registration."""

    @property
    def own_id(self) -> int:
        """Its id."""

    def place_of(self, p: int) -> tuple[str, int]:
        """The topic and the partition that a number stands for."""

    def id_of(self, topic: str) -> UUID | None:
        """The id of a topic, None where it has none, or none is known."""

    def name_of(self, id: UUID) -> str | None:
        """The name of the topic with an id, None where none is known."""

    def note_id(self, topic: str, id: UUID | None) -> None:
        """Know the id of a topic."""

    def number_of(self, topic: str, partition: int) -> int | None:
        """The number of a partition, None where this broker knows of none; raises Expired and NotAnswered where it cannot ask."""

    def offset_of(self, p: int, place: int) -> int:
        """Kafka's offset of the place of a batch in its log."""

    def boundary(self, p: int, offset: int) -> int:
        """The place before which the batches of its log have all offsets below one of Kafka's, as if the log went on with
        batches of one record.
        """


class Part(NamedTuple):
    """What a request says of one partition, or at all: kind and content of a message, None where there is no such
    partition here.
    """

    kind: str
    content: dict | None


class Returned(NamedTuple):
    """A message that an answer carries: to which of the request's messages it belongs, its kind, content and body."""

    place: int
    kind: str
    content: dict
    body: bytes = b""


class Asked(NamedTuple):
    """A request that is sent: its messages in the order in which it has them, its fields, and the numbers of the partitions
    in it.
    """

    messages: list[Message]
    fields: Any
    numbers: list[int]


class Api(Protocol):
    """One request of Kafka."""

    @property
    def key(self) -> int:
        """The number of the API."""

    @property
    def versions(self) -> Mapping[str, int]:
        """The version in which it is written, for each inter.broker.protocol.version."""

    @property
    def named(self) -> int:
        """The last version in which topics have names; those after it have ids only."""

    @property
    def served(self) -> tuple[int, int]:
        """The first and the last version that are read."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of the messages that it carries."""

    @staticmethod
    def request(naming: Naming, messages: list[Message]) -> Asked:
        """The request that carries some messages."""

    @staticmethod
    def read(naming: Naming, frame: Frame) -> tuple[int, list[Part]]:
        """Who has sent a request, and what it says."""

    @staticmethod
    def answer(naming: Naming, frame: Frame, outcomes: list[Outcome]) -> Fields:
        """The fields of the answer to it, of the outcomes of its parts: a message, or the name of an error."""

    @staticmethod
    def returned(naming: Naming, asked: Asked, frame: Frame) -> Iterator[Returned]:
        """The messages that an answer carries."""


def code(outcome: Outcome) -> ErrorCode:
    """The error code of an outcome that is no message."""
    return ErrorCode[outcome] if isinstance(outcome, str) else ErrorCode.none


def common_code(outcomes: Iterable[Outcome], among: tuple[str, ...]) -> ErrorCode:
    """The error of the whole request: that of every part, if it is one of some."""
    found = {outcome for outcome in outcomes if isinstance(outcome, str) and not isinstance(outcome, OfPart)}
    return ErrorCode[found.pop()] if len(found) == 1 and found <= set(among) else ErrorCode.none


def asked_of(topics: dict[str, list[tuple[int, Message]]], fields: Any) -> Asked:
    """A request with a message for each partition, by topics."""
    messages = [each for parts in topics.values() for _, each in parts]
    return Asked(messages, fields, [each.content["p"] for each in messages])


def in_topics(
    topics: dict[str, list[tuple[int, Message]]],
    of: str,
    told: Callable[[int, Message], Any],
    id_of: Callable[[str], UUID | None] = lambda topic: None,
) -> list[dict]:
    """What `told` makes of each partition and its message, by topics: each has a name, perhaps an id, and its partitions in
    the field `of`.
    """
    return [
        {"topic_name": topic, "topic_id": id_of(topic), of: [told(partition, message) for partition, message in parts]}
        for topic, parts in topics.items()
    ]


def by_topic(naming: Naming, messages: Iterable[Message]) -> dict[str, list[tuple[int, Message]]]:
    """Messages by the topic of their partition, each with its number there."""
    found: dict[str, list[tuple[int, Message]]] = {}
    for message in messages:
        topic, partition = naming.place_of(message.content["p"])
        found.setdefault(topic, []).append((partition, message))
    return found


def topic_in(naming: Naming, topic: Any) -> str | None:
    """The name of a topic in a request or an answer, which has it, or an id; None where that is of none that is known."""
    name = getattr(topic, "topic_name", None) or getattr(topic, "topic", None)
    return name or naming.name_of(topic.topic_id)


def answers_by_place(naming: Naming, topics: Iterable[Any]) -> dict[tuple[str | None, int], Any]:
    """What an answer says of each partition, by topic and index."""
    return {(topic_in(naming, topic), each.partition_index): each for topic in topics for each in topic.partitions}


def numbers(naming: Naming, frame: Frame) -> Callable[[str | None, int], int | None]:
    """Tells the number of each partition of a request, one after the other: as its stamp has it, or as it is known here."""
    stamped = iter(frame.stamp.get("p", ()))

    def number(topic: str | None, partition: int) -> int | None:
        told: Any = next(stamped, None)
        if told is None:
            return None if topic is None else naming.number_of(topic, partition)
        return int(told)

    return number
