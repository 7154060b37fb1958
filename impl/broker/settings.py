"""What a broker's process is told when it begins."""

from __future__ import annotations

from dataclasses import dataclass

from kafkaproof.impl.seams.zookeeper.partition_numbers import NONE, Places


@dataclass(frozen=True)
class Settings:
    """What a broker's process is told: who it is, of which cluster, where it writes, and where clients find it.

    `ordered`: it takes only the steps that its driver orders.
    """

    broker: int
    incarnation: int
    brokers: int
    replicas: int
    partitions: int
    min_isr: int
    variant: str
    topic: str
    zookeeper: str
    session_timeout: float
    recording: str
    logs: str
    port: int = 0
    offsets: int = NONE
    room: int = 0
    ordered: bool = False

    @property
    def places(self) -> Places:
        """Which partition is which, as far as it is known at the start."""
        return Places(self.topic, self.offsets, self.partitions - self.room if self.room else NONE, self.partitions)
