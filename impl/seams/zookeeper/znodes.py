"""The znodes that Kafka keeps: for each its path, and its content to and from bytes.

The content is Kafka's, field by field, so that the log of this cluster reads like that of a real one.
Source: kafka.zk.ZkData, 1.1 to 3.9.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from kafkaproof.spec.kafka.topic_ids import SIZE, may_be_given, text_of

BROKER_IDS = "/brokers/ids"
CONSUMERS = "/consumers"
TOPICS = "/brokers/topics"
DELETE_TOPICS = "/admin/delete_topics"
ISR_CHANGES = "/isr_change_notification"
LOG_DIR_EVENTS = "/log_dir_event_notification"
CONFIG_CHANGES = "/config/changes"
PRODUCER_IDS = "/latest_producer_id_block"
GIVEN = "/config/brokers/<default>"
CLIENTS, INNER = "PLAINTEXT", "REPLICATION"
"""The listeners to which clients come, and by which brokers reach each other."""
PERSISTENT = (
    CONSUMERS,
    "/brokers",
    BROKER_IDS,
    TOPICS,
    "/brokers/seqid",
    "/config",
    "/config/topics",
    "/config/clients",
    "/config/users",
    "/config/brokers",
    "/config/ips",
    CONFIG_CHANGES,
    "/admin",
    DELETE_TOPICS,
    ISR_CHANGES,
    PRODUCER_IDS,
    LOG_DIR_EVENTS,
    GIVEN,
)
"""What is created before anything else, parents first, without data: Kafka tells that from empty data."""


def to_bytes(content: object) -> bytes:
    """JSON without blanks, as Kafka writes it."""
    return json.dumps(content, separators=(",", ":")).encode()


def now() -> str:
    """The time as Kafka writes it: milliseconds since 1970."""
    return str(int(time.time() * 1000))


def new_id() -> str:
    """An id for a topic."""
    while not may_be_given(id := secrets.token_bytes(SIZE)):
        pass
    return text_of(id)


@dataclass(frozen=True)
class ProducerIdBlock:
    """/latest_producer_id_block: the ids from `start` to `end` are those of a broker."""

    broker: int
    start: int
    end: int
    path: ClassVar[str] = PRODUCER_IDS
    SIZE: ClassVar[int] = 1000

    def encode(self) -> bytes:
        """Version 1 of the content."""
        block = {"version": 1, "broker": self.broker, "block_start": str(self.start), "block_end": str(self.end)}
        return to_bytes(block)

    @classmethod
    def after(cls, broker: int, data: bytes) -> ProducerIdBlock:
        """The block that a broker takes after the one that is there, if there is one."""
        start = int(json.loads(data)["block_end"]) + 1 if data else 0
        return cls(broker, start, start + cls.SIZE - 1)


@dataclass(frozen=True)
class Controller:
    """/controller, ephemeral: who is the controller."""

    broker: int
    path: ClassVar[str] = "/controller"

    def encode(self, is_new: bool = True) -> bytes:
        """Version 2 of the content (3.4 and later), or version 1."""
        if is_new:
            return to_bytes({"version": 2, "brokerid": self.broker, "timestamp": now(), "kraftControllerEpoch": -1})
        return to_bytes({"version": 1, "brokerid": self.broker, "timestamp": now()})

    @classmethod
    def decode(cls, data: bytes) -> Controller:
        """Of any version."""
        return cls(json.loads(data)["brokerid"])


@dataclass(frozen=True)
class ControllerEpoch:
    """/controller_epoch: the epoch of the last election."""

    epoch: int
    path: ClassVar[str] = "/controller_epoch"

    def encode(self) -> bytes:
        """A decimal number."""
        return str(self.epoch).encode()

    @classmethod
    def decode(cls, data: bytes) -> ControllerEpoch:
        """A decimal number."""
        return cls(int(data))


class BrokerId(NamedTuple):
    """/brokers/ids/b, ephemeral: where a broker listens for clients, and for other brokers."""

    host: str
    port: int
    inner_port: int

    @property
    def inner(self) -> tuple[str, int]:
        """Where other brokers send to."""
        return self.host, self.inner_port

    @staticmethod
    def path_of(broker: int) -> str:
        """The path of a broker's registration."""
        return f"{BROKER_IDS}/{broker}"

    def encode(self) -> bytes:
        """Version 5 of the content (2.7 and later)."""
        return to_bytes(
            {
                "features": {},
                "listener_security_protocol_map": {CLIENTS: "PLAINTEXT", INNER: "PLAINTEXT"},
                "endpoints": [f"{CLIENTS}://{self.host}:{self.port}", f"{INNER}://{self.host}:{self.inner_port}"],
                "jmx_port": -1,
                "port": self.port,
                "host": self.host,
                "version": 5,
                "timestamp": now(),
            }
        )

    @classmethod
    def decode(cls, data: bytes) -> BrokerId:
        """Of any broker and version: its listeners by their names, or else the first that is not encrypted; of one that
        listens nowhere an address to which nothing can be sent.
        """
        content = json.loads(data)
        protocols = content.get("listener_security_protocol_map", {})
        found = {}
        for endpoint in content.get("endpoints") or ():
            name, _, place = endpoint.partition("://")
            host, _, port = place.rpartition(":")
            if protocols.get(name, name) == "PLAINTEXT":
                found[name] = host, int(port)
        given = content.get("host") or "", max(content.get("port", 0), 0)
        first = next(iter(found.values()), given)
        host, port = found.get(CLIENTS, first)
        return cls(host, port, found.get(INNER, first)[1])


Moved = tuple[tuple[int, tuple[int, ...]], ...]
"""Of some partitions the replicas that are added, or removed."""


class Topic(NamedTuple):
    """/brokers/topics/t: the assignment of each partition, the preferred replica first, the topic's id, if it has one, and what
    reassignments add and remove.
    """

    assignments: tuple[tuple[int, ...], ...]
    id: str = ""
    adding: Moved = ()
    removing: Moved = ()

    @staticmethod
    def path_of(topic: str) -> str:
        """The path of a topic."""
        return f"{TOPICS}/{topic}"

    @classmethod
    def created(cls, assignments: tuple[tuple[int, ...], ...]) -> Topic:
        """A new topic."""
        return cls(assignments).with_id()

    def with_id(self) -> Topic:
        """The topic with an id, a new one where it has none."""
        return self._replace(id=self.id or new_id())

    def restored(self, left: Collection[int]) -> Topic:
        """The topic up to the last of some partitions."""
        return self._replace(assignments=self.assignments[: max(left, default=-1) + 1])

    def moves_of(self, partition: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The replicas that a reassignment adds to a partition, and those that it removes."""
        return dict(self.adding).get(partition, ()), dict(self.removing).get(partition, ())

    def reassigned(
        self, partition: int, replicas: tuple[int, ...], adding: tuple[int, ...], removing: tuple[int, ...]
    ) -> Topic:
        """The topic with another assignment of a partition."""
        assignments = list(self.assignments)
        assignments[partition] = replicas
        return self._replace(
            assignments=tuple(assignments),
            adding=_with(self.adding, partition, adding),
            removing=_with(self.removing, partition, removing),
        )

    def encode(self) -> bytes:
        """Version 3 of the content (2.8 on), which has an id or none."""
        partitions = {str(p): list(replicas) for p, replicas in enumerate(self.assignments)}
        return to_bytes(
            {
                "partitions": partitions,
                **({"topic_id": self.id} if self.id else {}),
                "adding_replicas": _named(self.adding),
                "removing_replicas": _named(self.removing),
                "version": 3,
            }
        )

    @classmethod
    def decode(cls, data: bytes) -> Topic:
        """Of versions 1 to 3."""
        content = json.loads(data)
        partitions = content["partitions"]
        adding, removing = (
            tuple((int(p), tuple(moved)) for p, moved in content.get(name, {}).items())
            for name in ("adding_replicas", "removing_replicas")
        )
        return cls(
            tuple(tuple(partitions[str(p)]) for p in range(len(partitions))),
            content.get("topic_id", ""),
            adding,
            removing,
        )


def _with(moved: Moved, partition: int, replicas: tuple[int, ...]) -> Moved:
    """What is moved, with other replicas of a partition; without any it is not named."""
    others = [each for each in moved if each[0] != partition]
    return tuple(sorted([*others, (partition, replicas)] if replicas else others))


def _named(moved: Moved) -> dict[str, list[int]]:
    return {str(partition): list(replicas) for partition, replicas in moved}


@dataclass(frozen=True)
class Given:
    """/config/brokers/<default>: which partitions of the specification topics have or had, no option of Kafka's.

    `numbers`: those of a topic, besides those from the beginning, by its id or, where it has none, its name; those behind the
    last partition that the topic znode has do not count. `options`: those of Kafka, which are kept.
    """

    places: int = 0
    numbers: dict[str, tuple[int, ...]] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    path: ClassVar[str] = GIVEN
    prefix: ClassVar[str] = "kafkaproof.places."

    def encode(self) -> bytes:
        """Version 1 of the content."""
        own = {"given": str(self.places), "numbers": to_bytes(self.numbers).decode()}
        prefixed = {f"{self.prefix}{name}": value for name, value in own.items()}
        return to_bytes({"version": 1, "config": {**self.options, **prefixed}})

    @classmethod
    def decode(cls, data: bytes) -> Given:
        """Of version 1, or of nothing, or of options of Kafka's alone: then none has."""
        config = json.loads(data)["config"] if data else {}
        numbers = json.loads(config.get(f"{cls.prefix}numbers", "{}"))
        return cls(
            int(config.get(f"{cls.prefix}given", 0)),
            {key: tuple(each) for key, each in numbers.items()},
            {name: value for name, value in config.items() if not name.startswith(cls.prefix)},
        )


class State(NamedTuple):
    """/brokers/topics/t/partitions/p/state: who leads, and who is in sync."""

    leader: int
    isr: tuple[int, ...]
    leader_epoch: int
    controller_epoch: int

    @staticmethod
    def path_of(topic: str, partition: int) -> str:
        """The path of a partition's state."""
        return f"{TOPICS}/{topic}/partitions/{partition}/state"

    @staticmethod
    def parents_of(topic: str, partition: int) -> tuple[str, str]:
        """The empty znodes above it, which are created first."""
        return f"{TOPICS}/{topic}/partitions", f"{TOPICS}/{topic}/partitions/{partition}"

    def encode(self) -> bytes:
        """Version 1 of the content."""
        return to_bytes(
            {
                "controller_epoch": self.controller_epoch,
                "leader": self.leader,
                "version": 1,
                "leader_epoch": self.leader_epoch,
                "isr": list(self.isr),
            }
        )

    @classmethod
    def decode(cls, data: bytes) -> State:
        """Of version 1."""
        content = json.loads(data)
        return cls(content["leader"], tuple(content["isr"]), content["leader_epoch"], content["controller_epoch"])


class TopicConfig(NamedTuple):
    """/config/topics/t: whether an unclean election is allowed is all that is read of it."""

    unclean: bool

    @staticmethod
    def path_of(topic: str) -> str:
        """The path of a topic's configuration."""
        return f"/config/topics/{topic}"

    def encode(self) -> bytes:
        """Version 1 of the content."""
        config = {"unclean.leader.election.enable": "true"} if self.unclean else {}
        return to_bytes({"version": 1, "config": config})

    @classmethod
    def decode(cls, data: bytes) -> TopicConfig:
        """Of version 1."""
        return cls(json.loads(data)["config"].get("unclean.leader.election.enable") == "true")


class ConsumerOffset(NamedTuple):
    """/consumers/G/offsets/T/P: the offset of the next record of a group."""

    offset: int

    @staticmethod
    def path_of(group: str, topic: str, partition: int) -> str:
        """The path of a group's offset in a partition (brokers of 1.1.0 write `offset`)."""
        return f"{CONSUMERS}/{group}/offsets/{topic}/{partition}"

    @staticmethod
    def parents_of(group: str, topic: str, partition: int) -> tuple[str, str, str]:
        """The empty znodes above it, which are created first."""
        return f"{CONSUMERS}/{group}", f"{CONSUMERS}/{group}/offsets", f"{CONSUMERS}/{group}/offsets/{topic}"

    def encode(self) -> bytes:
        """A decimal number."""
        return str(self.offset).encode()

    @classmethod
    def decode(cls, data: bytes) -> ConsumerOffset:
        """A decimal number; raises ValueError for anything else."""
        return cls(int(data))
