"""Leaders and followers of 1.1 to 2.0, which run without logs: the interface of the data plane.

A follower asks its leader again and again, as a fetch does. With empty logs whoever follows in the leader's epoch has
all that there is, so a leader proposes an ISR of itself and of those that have asked lately
(replica.lag.time.max.ms), and writes it. Which ISR a leader may propose, the specification says.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from kafkaproof.impl.broker.process import Process
from kafkaproof.impl.seams.between.messages import Message, Receiver
from kafkaproof.impl.seams.zookeeper.partition import Led
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.plain import members

LAG, FETCH_EVERY = 1.5, 0.3


class Leadership:
    """What one broker knows of those that lead it and follow it; `controller` is who the controller is.

    `propose` is called with a partition and the ISR that it is to have.
    """

    def __init__(self, process: Process, propose: Callable[[int, int], None]):
        self._process, self._propose = process, propose
        self._leaders: dict[int, Receiver] = {}
        self._fetched: dict[tuple[int, int], tuple[int, float]] = {}
        self._controller_epoch, self._due = 0, 0.0
        self.controller = NOBODY

    def leads_anything(self) -> bool:
        """Whether this broker leads a partition."""
        return any(replica.leader == self._process.broker for replica in self._process.partition.replicas)

    def tick(self, is_all: bool = True) -> None:
        """Ask the leaders of all partitions that this broker follows, and propose ISRs for those that it leads."""
        if time.monotonic() < self._due:
            return
        self._due = time.monotonic() + FETCH_EVERY
        for p, replica in enumerate(self._process.partition.replicas):
            follows = replica.leader not in (NOBODY, self._process.broker)
            if follows and p in self._leaders:
                self._process.tell(self._leaders[p], "Fetch", {"p": p, "leader_epoch": replica.leader_epoch})
        for p, isr in self._proposals():
            self._propose(p, isr)

    def handle(self, message: Message) -> bool:
        """Note that a follower has asked; False where the message is something else."""
        if message.kind != "Fetch":
            return False
        place = message.content["p"], message.sender
        self._fetched[place] = message.content["leader_epoch"], time.monotonic()
        message.settle()
        return True

    def wants(self, p: int, isr: int) -> bool:
        """Whether it still proposes this ISR; Kafka decides and writes under one lock (Partition.maybeShrinkIsr)."""
        return (p, isr) in self._proposals()

    def _proposals(self) -> Iterator[tuple[int, int]]:
        """The partitions that are to have another ISR, and that ISR as a set."""
        zookeeper = self._process.partition_zookeeper
        for p, leader_epoch in self._process.network.leader_epochs.items():
            if leader_epoch >= 0 and p in zookeeper.led:
                proposed = self._proposed(p, leader_epoch, set(zookeeper.led[p].isr))
                if proposed != members(zookeeper.led[p].isr):
                    yield p, proposed

    def _proposed(self, p: int, leader_epoch: int, isr: set[int]) -> int:
        """The ISR without those that lag, or else with those that have caught up."""
        oldest, following = time.monotonic() - LAG, {self._process.broker}
        for replica in self._process.partition_zookeeper.replicas[p]:
            epoch, when = self._fetched.get((p, replica), (-1, 0.0))
            if epoch == leader_epoch and when > oldest:
                following.add(replica)
        return members(following & isr if isr - following else following)

    def told(self, message: Message, is_news: bool) -> None:
        """LeaderAndIsr was handled; `is_news`: it was obeyed, and told of another leader epoch."""
        content, zookeeper = message.content, self._process.partition_zookeeper
        p = content["p"]
        zookeeper.replicas.setdefault(p, tuple(content["replicas"]))
        if content["epoch"] >= self._controller_epoch:
            self._controller_epoch, self.controller = content["epoch"], message.sender
        if is_news:
            zookeeper.led[p] = Led(tuple(content["isr"]), content["written_in"], content["version"])
            if content["leader_address"]:
                self._leaders[p] = Receiver(content["leader"], *content["leader_address"])
