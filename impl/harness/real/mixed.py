"""A cluster of both: brokers of ours, which come first, and real ones, which speak to each other as Kafka's do."""

from __future__ import annotations

import shutil
import signal
from dataclasses import replace
from pathlib import Path

from kazoo.exceptions import NoNodeError

from kafkaproof.impl.broker.settings import Settings
from kafkaproof.impl.harness.driving.child import Child
from kafkaproof.impl.harness.driving.cluster import Cluster
from kafkaproof.impl.harness.real.cluster import KafkaCluster
from kafkaproof.impl.seams.zookeeper.znodes import CLIENTS, INNER, TOPICS, State, Topic


class MixedCluster(KafkaCluster):
    """A running cluster whose first brokers are ours; the first of all is started first, so that it is the controller.

    `ours`: the brokers that are ours now. Before each broker, of either kind, stand the same proxies.
    """

    listeners = CLIENTS, INNER

    def properties(self) -> dict[str, str]:
        """As KafkaCluster: all brokers speak alike."""
        return {"inter.broker.protocol.version": self.size.spoken}

    def prepare(self) -> None:
        """Create the znodes that our brokers find, and say in the recording what is run."""
        self.ours = set(self.size.broker_ids.all[: self.size.ours])
        self.create_znodes()
        known = (*self.size.broker_ids.all, *self.size.others)
        self.describe(replace(self.size, brokers=len(known), replicas=len(known), ids=known))
        super().prepare()

    # Brokers

    def new_child(self, broker: int, number: int) -> Child:
        """Start the process of a broker, ours or a real one."""
        return (Cluster if broker in self.ours else KafkaCluster).new_child(self, broker, number)

    def settings_of(self, broker: int, number: int) -> Settings:
        """As Cluster: where it listens, and where it is found. A real controller may create topics of any replicas."""
        clients, inner = (self._ports[broker][name] for name in self.listeners)
        found = super().settings_of(broker, number)
        found = replace(found, replicas=found.brokers)
        return replace(found, port=clients, inner_port=inner, shown=self.shown(broker))

    def start_all(self) -> None:
        """Start every broker, the first of all at first: it is the controller, and creates the states of the topic."""
        self.start_brokers(first=self.size.broker_ids.all[0])
        self.await_all()

    def has_started(self, broker: int) -> bool:
        """As Cluster."""
        return (Cluster if broker in self.ours else KafkaCluster).has_started(self, broker)

    def replace(self, broker: int) -> None:
        """A broker of the other kind takes the place of one: when all replicas are in sync that one shuts down, and the other
        begins with empty disks. It is awaited until all replicas are in sync again.
        """
        self.await_that(self.is_in_sync, "all replicas are in sync")
        self.note(self.replace, broker=broker)
        self.children[broker].signal(signal.SIGTERM)
        self.children[broker].wait(self.shuts_down_within)
        self.await_that(lambda: self.owner(broker) is None, f"broker {broker} is registered no more")
        for disk in (*self._directories(broker), self._logs(broker)):
            shutil.rmtree(disk, ignore_errors=True)
        self.ours ^= {broker}
        self.start(broker)
        self.await_that(self.is_in_sync, "all replicas are in sync again")

    def is_in_sync(self) -> bool:
        """Whether all brokers are there, and all replicas of all partitions are in their ISRs."""
        return self.is_whole() and all(map(self._has_all_in_sync, self.below(TOPICS)))

    def _has_all_in_sync(self, topic: str) -> bool:
        try:
            found = Topic.decode(self.operator.get(Topic.path_of(topic))[0])
            states = [self.operator.get(State.path_of(topic, p))[0] for p in range(len(found.assignments))]
        except NoNodeError:
            return False
        return all(set(State.decode(state).isr) == set(each) for state, each in zip(states, found.assignments))

    # Links and disks

    def lose_checkpoint(self, broker: int) -> None:
        """As Cluster."""
        (Cluster if broker in self.ours else KafkaCluster).lose_checkpoint(self, broker)

    def fail_log_dir(self, broker: int, partition: int) -> None:
        """As Cluster."""
        (Cluster if broker in self.ours else KafkaCluster).fail_log_dir(self, broker, partition)

    def _logs(self, broker: int) -> Path:
        return self.directory / "logs" / f"broker-{broker}"
