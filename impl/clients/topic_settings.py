"""The settings of topics: what holds of every topic here, and why another one is refused."""

from __future__ import annotations

from kafkaproof.impl.protocol.wire import LARGEST

UNCLEAN = "unclean.leader.election.enable"
NOT_KEPT = (
    "delete.retention.ms",
    "file.delete.delay.ms",
    "flush.messages",
    "flush.ms",
    "follower.replication.throttled.replicas",
    "index.interval.bytes",
    "leader.replication.throttled.replicas",
    "local.retention.bytes",
    "local.retention.ms",
    "max.compaction.lag.ms",
    "message.downconversion.enable",
    "message.format.version",
    "message.timestamp.after.max.ms",
    "message.timestamp.before.max.ms",
    "message.timestamp.difference.max.ms",
    "min.cleanable.dirty.ratio",
    "min.compaction.lag.ms",
    "preallocate",
    "remote.storage.enable",
    "segment.bytes",
    "segment.index.bytes",
    "segment.jitter.ms",
    "segment.ms",
)
"""Kafka's settings of topics that mean nothing here: there are no segments, no retention, no compaction, no throttles."""


class Refused(Exception):
    """A request is refused: the name of an error, and what is told of it."""

    def __init__(self, error: str, text: str):
        super().__init__(text)
        self.error = error


def values_of_topics(min_isr: int) -> dict[str, str]:
    """What holds of every topic."""
    return {
        "cleanup.policy": "delete",
        "compression.type": "producer",
        "max.message.bytes": str(LARGEST),
        "message.timestamp.type": "CreateTime",
        "min.insync.replicas": str(min_isr),
        "retention.bytes": "-1",
        "retention.ms": "-1",
        UNCLEAN: "false",
    }


def why_not(name: str, value: str | None, held: dict[str, str]) -> Refused | None:
    """Why a topic cannot have a setting, if only those in `held` are served; None where it already has it."""
    if name not in held and name not in NOT_KEPT:
        return Refused("INVALID_CONFIG", f"Unknown topic config name: {name}")
    if value != held.get(name):
        return Refused("POLICY_VIOLATION", f"{name}={value} would have no effect: no broker of this cluster acts on it")
    return None
