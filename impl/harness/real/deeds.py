"""What the driver does to a cluster where a step of the specification is a fault, or something that an operator
wants.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Callable
from contextlib import closing, suppress
from threading import Thread
from typing import cast

from kafka import TopicPartition
from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError

from kafkaproof.impl.broker.replica import DONE
from kafkaproof.impl.harness.driving.cluster import TOPIC, Cluster
from kafkaproof.impl.harness.driving.watch import state_in
from kafkaproof.impl.harness.links.kafka import KafkaLink
from kafkaproof.impl.harness.links.rules import HOLD, NOTICE, Rule
from kafkaproof.impl.harness.real.behaviour import replicas_in
from kafkaproof.impl.harness.real.cluster import KafkaCluster
from kafkaproof.impl.harness.real.moves import DEEDS
from kafkaproof.impl.harness.real.records import ALL, Clients
from kafkaproof.impl.seams.zookeeper.znodes import Topic
from kafkaproof.spec.language.plain import Plain
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.language.steps import Step
from kafkaproof.spec.partition.zookeeper import session_open
from kafkaproof.spec.protocol.passed import REQUEST

ROUNDS = 50
"""So many requests are answered one after the other before one that came earlier counts as having arrived."""
_API_VERSIONS = struct.Struct(">ihhih")


class Deeds:
    """Does things to a cluster, each by the method that has the name of its step."""

    def __init__(self, cluster: Cluster):
        self._cluster = cluster
        self._slow: dict[int, list] = {}
        self._left: dict[int, tuple[int, bytes] | None] = {}
        self._asked: set[int] = set()
        self._clients: Clients | None = None

    def do(self, step: Step, state: Plain, meanwhile: Callable[[], None] = lambda: None) -> str | None:
        """Do what a step is, if it is one of those that the driver brings about; the answer, where a broker gives one.

        `state` is what the step leads to. What is to be done `meanwhile` is done again and again until the controller
        is asked.
        """
        self._state, self._meanwhile = state, meanwhile
        return getattr(self, step.name)(**step.arguments) if step.name in DEEDS else None

    @property
    def clients(self) -> Clients:
        """The driver's producer and consumer."""
        if self._clients is None:
            self._clients = Clients(TOPIC, {b: child.port for b, child in self._cluster.children.items()})
        return self._clients

    def bring_isr_about(self, p: int, isr: int) -> None:
        """Hold back the fetches of all brokers that are to leave the ISR, and let go those of all others.

        A follower that has all that the leader has stays in the ISR, whether it fetches or not; so the leader gets
        another record.
        """
        state = state_in(self._cluster, p)
        if state and any(not contains(isr, broker) for broker in state.isr):
            self.clients.produce(state.leader, p, 1)
        for broker in range(self._cluster.size.brokers):
            if contains(isr, broker):
                for link, rule in self._slow.pop(broker, ()):
                    link.remove(rule)
            elif broker not in self._slow:
                self._slow[broker] = [
                    (link, link.add(Rule(HOLD, {"api": "Fetch", "sender": broker}, times=None)))
                    for other, link in self._cluster.inner.items()
                    if other != broker
                ]

    # Processes and sessions

    def start(self, b: int) -> None:
        """The first process of a broker."""
        self._cluster.start(b)

    def crash(self, b: int) -> None:
        """kill -9; the session ends, too, where it does in the specification."""
        self._left[b] = self._cluster.children[b].session
        self._cluster.kill(b)
        if not session_open(self._state.zk, b):
            self.expire_orphan(b)

    def restart(self, b: int, hw: int | None = None) -> None:
        """A new process; it finds no high watermark where it is to find 0."""
        if hw == 0:
            self._cluster.lose_checkpoint(b)
        self._cluster.start(b)

    def shut_down(self, b: int) -> None:
        """SIGTERM, when it has started; the broker asks the controller first."""
        self._cluster.await_that(lambda: self._cluster.has_started(b), f"broker {b} has started")
        self._asked.add(b)
        self._cluster.ask_to_stop(b)

    def stop(self, b: int) -> None:
        """A broker has shut down; it is asked to, where it was not yet."""
        if b not in self._asked:
            self.shut_down(b)
        self._asked.discard(b)
        self._cluster.await_that(lambda: not self._cluster.children[b].running, f"broker {b} has shut down")

    def expire_session(self, b: int) -> None:
        """ZooKeeper ends a session, and its broker does not hear of it until `reopen`."""
        self._cluster.cut_zookeeper(b)
        self._cluster.expire(b)

    def expire_orphan(self, b: int) -> None:
        """The session of a process that is gone ends."""
        self._cluster.expire(b, self._left.pop(b))

    def reopen(self, b: int) -> None:
        """A broker hears that its session is over, and opens another."""
        self._cluster.mend_zookeeper(b)
        self._cluster.await_that(lambda: self._cluster.owner(b) is not None, f"broker {b} is registered again")

    # Clients

    def produce(self, b: int, p: int, acks: int) -> str:
        """A producer asks a broker to append its next record, with acks=all (1) or 1 (0)."""
        record = self.clients.produce(b, p, ALL if acks else 1)
        self._cluster.await_that(
            lambda: record.error or record.value in cast(KafkaCluster, self._cluster).log_of(b, p),
            f"broker {b} has appended {record.value.decode()}",
        )
        return "OK" if record.error in (None, DONE) else record.error

    def consume(self, b: int, p: int) -> None:
        """A consumer reads its next record from a broker."""
        self._cluster.await_that(lambda: self.clients.consume(b, p), f"broker {b} shows the consumer a record")

    # Operators

    def delete_controller(self) -> None:
        """An operator deletes /controller."""
        self._cluster.delete_controller()

    def edit_epoch(self) -> None:
        """An operator writes /controller_epoch again, as it is."""
        self._cluster.edit_epoch()

    def ask_for_alteration(self, p: int, **_) -> None:
        """An administrator asks the controller to move a partition."""
        target = self._state.network.alteration.target
        self._reassign(p, list(target.slots[: target.length]))

    def ask_for_cancellation(self, p: int) -> None:
        """An administrator asks the controller to give up a reassignment."""
        self._reassign(p, None)

    def ask_for_election(self, kind: int) -> None:
        """An administrator asks the controller for an election of every partition: preferred (0) or unclean (1)."""
        partitions = {TOPIC: list(range(self._cluster.size.partitions))}
        self._ask("ElectLeaders", lambda admin: admin.elect_leaders(kind, partitions))

    def _reassign(self, p: int, replicas: list[int] | None) -> None:
        self._ask(
            "AlterPartitionReassignments",
            lambda admin: admin.alter_partition_reassignments({TopicPartition(TOPIC, p): replicas}),
        )

    def _ask(self, api: str, ask: Callable[[KafkaAdminClient], object]) -> None:
        """Ask in a thread of its own, since the answer may wait for later steps; wait until the controller is asked."""
        links = [link for b, link in self._cluster.inner.items() if self._cluster.children[b].running]
        rules = [link.add(Rule(NOTICE, {"part": REQUEST, "api": api})) for link in links]
        Thread(target=_ask, args=([link.address for link in links], ask), daemon=True).start()

        def is_asked() -> bool:
            if any(rule.taken for rule in rules):
                return True
            self._meanwhile()
            return False

        self._cluster.await_that(is_asked, "the controller is asked")
        for link, rule in zip(links, rules):
            if rule.taken:
                _go_round(link)
            link.remove(rule)

    def go_round(self, b: int) -> None:
        """Wait until what a broker was sent before has come to it."""
        _go_round(self._cluster.inner[b])

    def ask_for_preferred(self) -> None:
        """An operator asks for preferred leaders."""
        self._cluster.ask_for_preferred()

    def allow_unclean(self) -> None:
        """An operator allows unclean elections."""
        self._cluster.allow_unclean()

    def queue_deletion(self) -> None:
        """An operator asks for the deletion of the topic."""
        self._cluster.delete_topic(TOPIC)

    def mark_topic(self, **_) -> None:
        """The same; who creates the marker is nothing to the controller."""
        self.queue_deletion()

    def ask_for_deletion(self, **_) -> None:
        """The same."""
        self.queue_deletion()

    def add_partitions(self, **_) -> None:
        """Partitions are added to the topic's znode, whatever its version; who writes it is nothing to the controller."""
        path = Topic.path_of(TOPIC)
        topic = json.loads(self._cluster.operator.get(path)[0])
        topic["partitions"] |= {str(p): replicas for p, replicas in enumerate(replicas_in(self._state.zk)) if replicas}
        self._cluster.write_znode(path, json.dumps(topic))


def _go_round(link: KafkaLink) -> None:
    """Ask a broker for something else many times over, so that what it was asked before has reached its controller."""
    with socket.create_connection(link.target) as connection, connection.makefile("rb") as answers:
        for number in range(ROUNDS):
            connection.sendall(_API_VERSIONS.pack(10, 18, 0, number, 0))
            answers.read(int.from_bytes(answers.read(4), "big"))


def _ask(bootstrap: list[str], ask: Callable[[KafkaAdminClient], object]) -> None:
    with suppress(KafkaError), closing(KafkaAdminClient(bootstrap_servers=bootstrap)) as admin:
        ask(admin)
