"""What a broker's process is told when it begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kafkaproof.impl.seams.zookeeper.partition_numbers import NONE, Places
from kafkaproof.spec.running.broker_ids import BrokerIds


@dataclass(frozen=True)
class Settings:
    """What a broker's process is told: who it is, of which cluster, where it writes, and where clients find it.

    `broker`: its id; `ids`: those of all brokers, none where they are 0 to N-1.
    `partitions`: how many there are from the beginning. `ordered`: it takes only the steps that its driver orders.
    `auto_create`: auto.create.topics.enable. `inner_port`: where other
    brokers find it. `shown`: the ports that it registers instead, for clients and for brokers, where a proxy stands
    before it. `spoken`: inter.broker.protocol.version, 2.8 or 3.9.
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
    ordered: bool = False
    auto_create: bool = False
    inner_port: int = 0
    shown: tuple[int, int] | None = None
    spoken: str = "3.9"
    ids: Sequence[int] = ()

    @property
    def broker_ids(self) -> BrokerIds:
        """Which broker is which."""
        return BrokerIds(self.ids or range(self.brokers))

    @property
    def number(self) -> int:
        """Which broker of the specification it is."""
        return self.broker_ids.number(self.broker)

    @property
    def places(self) -> Places:
        """Which partition is which, as far as it is known at the start."""
        further = NONE if self.variant == "legacy" else self.partitions
        return Places(self.topic, self.offsets, further, self.partitions)
