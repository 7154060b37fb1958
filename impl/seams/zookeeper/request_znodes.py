"""The znodes by which operators and brokers ask the controller for something, or tell it: path and content of each.

The content is Kafka's, as in `kafkaproof.impl.seams.zookeeper.znodes`. Source: kafka.zk.ZkData, 1.1 to 3.9.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

from kafkaproof.impl.seams.zookeeper.znodes import CONFIG_CHANGES, ISR_CHANGES, LOG_DIR_EVENTS, to_bytes


@dataclass(frozen=True)
class ConfigChange:
    """/config/changes/config_change_N, sequential: whose configuration has changed."""

    topic: str
    prefix: ClassVar[str] = f"{CONFIG_CHANGES}/config_change_"

    def encode(self) -> bytes:
        """Version 2 of the content (0.10.1 and later)."""
        return to_bytes({"version": 2, "entity_path": f"topics/{self.topic}"})


@dataclass(frozen=True)
class PreferredElection:
    """/admin/preferred_replica_election: the partitions that are to be led by their first replica."""

    topic: str
    partitions: tuple[int, ...]
    path: ClassVar[str] = "/admin/preferred_replica_election"

    def encode(self) -> bytes:
        """Version 1 of the content."""
        partitions = [{"topic": self.topic, "partition": p} for p in self.partitions]
        return to_bytes({"version": 1, "partitions": partitions})


@dataclass(frozen=True)
class Reassignment:
    """/admin/reassign_partitions: the replicas that partitions are to have, by topic and partition."""

    targets: dict[tuple[str, int], tuple[int, ...]]
    path: ClassVar[str] = "/admin/reassign_partitions"

    def encode(self) -> bytes:
        """Version 1 of the content."""
        wanted = [{"topic": topic, "partition": p, "replicas": list(r)} for (topic, p), r in self.targets.items()]
        return to_bytes({"version": 1, "partitions": wanted})

    @classmethod
    def decode(cls, data: bytes) -> Reassignment:
        """Of version 1; of two entries for a partition the last counts."""
        wanted = json.loads(data)["partitions"]
        return cls({(each["topic"], each["partition"]): tuple(each["replicas"]) for each in wanted})

    @classmethod
    def asked(cls, data: bytes) -> Reassignment | None:
        """What an operator has written, None where that is no request."""
        try:
            found = cls.decode(data)
        except (ValueError, LookupError, TypeError):
            return None
        numbers = [number for (_, p), replicas in found.targets.items() for number in (p, *replicas)]
        return found if all(type(number) is int for number in numbers) else None


@dataclass(frozen=True)
class IsrChange:
    """/isr_change_notification/isr_change_N, sequential: whose ISR a leader has changed (up to 2.6)."""

    topic: str
    partition: int
    prefix: ClassVar[str] = f"{ISR_CHANGES}/isr_change_"

    def encode(self) -> bytes:
        """Version 1 of the content."""
        return to_bytes({"version": 1, "partitions": [{"topic": self.topic, "partition": self.partition}]})

    @classmethod
    def decode(cls, data: bytes) -> IsrChange:
        """Of version 1; the first entry."""
        changed = json.loads(data)["partitions"][0]
        return cls(changed["topic"], changed["partition"])


@dataclass(frozen=True)
class LogDirEvent:
    """/log_dir_event_notification/log_dir_event_N, sequential: the broker whose log directory has failed."""

    broker: int
    prefix: ClassVar[str] = f"{LOG_DIR_EVENTS}/log_dir_event_"

    def encode(self) -> bytes:
        """Version 1 of the content."""
        return to_bytes({"version": 1, "broker": self.broker, "event": 1})

    @classmethod
    def decode(cls, data: bytes) -> LogDirEvent:
        """Of version 1."""
        return cls(json.loads(data)["broker"])
