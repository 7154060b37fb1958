"""The same faults, done to a cluster of ours and to real brokers: what both come to, beside each other.

Both begin alike: broker 0 is the controller, every partition is led by its preferred replica, and every replica is in
the ISR. Then the acts of a file are done at the same times, and each cluster is looked at twice when it has come to
rest: before anything is mended, and when all is.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, cast

from kafka import KafkaProducer
from kafka.errors import KafkaError

from kafkaproof.impl.harness.driving.acts import Act, carry_out
from kafkaproof.impl.harness.driving.cluster import TOPIC, Cluster, Size, assignments
from kafkaproof.impl.harness.driving.load import Load, close_producer
from kafkaproof.impl.harness.driving.watch import Watcher, epoch_in, known_state_in, state_in
from kafkaproof.impl.harness.real.cluster import KafkaCluster
from kafkaproof.impl.harness.real.outside import seen_of
from kafkaproof.impl.replicas.replication import LAG
from kafkaproof.impl.server.main import REBALANCE_EVERY
from kafkaproof.spec.partition.rebalance import PERCENTAGE

REST, LONGEST, ANSWERED = 8.0, 60.0, 15.0
"""For how long nothing changes in a cluster at rest, in seconds; how long that is waited for; and how long a client
waits for an acknowledgement.
"""
AS_OURS = MappingProxyType(
    {
        "auto.leader.rebalance.enable": "true",
        "leader.imbalance.check.interval.seconds": round(REBALANCE_EVERY),
        "leader.imbalance.per.broker.percentage": PERCENTAGE,
        "replica.lag.time.max.ms": round(LAG * 1000),
    }
)
"""What real brokers are told, so that they do by themselves what ours do, as often."""
MOMENTS = "before anything is mended", "when all is mended"


class Look(NamedTuple):
    """What is seen of a cluster: a value for each thing that has a name, since its beginning."""

    controllers: int
    brokers: list[int]
    partitions: list[dict[str, object]]

    def named(self) -> Iterator[tuple[str, object]]:
        """Each thing that is seen, by its name."""
        yield "controllers elected", self.controllers
        yield "registered brokers", self.brokers
        for p, seen in enumerate(self.partitions):
            for what, value in seen.items():
                yield f"{TOPIC}-{p}: {what}", value


class Came(NamedTuple):
    """What a cluster came to: a look at each of the `MOMENTS`, and whether acknowledged records were lost."""

    looks: list[Look]
    lost: bool

    def named(self) -> Iterator[tuple[str, object]]:
        """Each thing that is compared, by its name."""
        for moment, look in zip(MOMENTS, self.looks):
            yield from ((f"{what}, {moment}", value) for what, value in look.named())
        yield "acknowledged records lost", self.lost


class Difference(NamedTuple):
    """Something that came out differently: what it is, in our cluster and with real brokers."""

    what: str
    ours: object
    real: object


def real_name(size: Size) -> str:
    """What the directory of real brokers is called."""
    return f"kafka-{size.release}"


def compared(
    acts: list[Act], ours: Size, real: Size, directory: Path, watcher: Watcher
) -> tuple[list[Difference], int]:
    """Do the acts to a cluster of each size, one after another: how they differ, and how many things are compared."""
    came, as_ours = [], partial(KafkaCluster, properties=AS_OURS)
    for new, size, name in (Cluster, ours, "ours"), (as_ours, real, real_name(real)):
        watcher.say(f"{name}: {directory / name}", cluster=name)
        with new(directory / name, size) as cluster:
            came.append(list(_done(acts, cluster, watcher).named()))
            cluster.stop_all()
    differences = [Difference(what, value, other) for (what, value), (_, other) in zip(*came) if value != other]
    return differences, len(came[0])


def _done(acts, cluster, watcher) -> Came:
    """Do the acts to one cluster."""
    began, looks = _begun(cluster), []

    def look():
        _come_to_rest(cluster, watcher)
        looks.append(_look(cluster, began))

    with Load(cluster.bootstrap, TOPIC, cluster.size.partitions) as load:
        cluster.await_that(lambda: load.acknowledged, "a record is acknowledged")
        carry_out(acts, cluster, watcher, look)
        look()
        load.stop()
        return Came(looks, bool(load.read_all(cluster.check, cluster.unclean_allowed).lost))


def _begun(cluster: Cluster) -> list[int]:
    """Start a cluster; the controller epoch and the leader epochs with which it begins."""
    size = cluster.size
    assigned, wanted = assignments(size)[: size.partitions], range(size.partitions)
    cluster.start_brokers(first=0)
    cluster.await_all()
    if size.release:
        cast(KafkaCluster, cluster).create_events([list(each) for each in assigned])
    cluster.await_that(
        lambda: all((state := state_in(cluster, p)) and len(state.isr) == size.replicas for p in wanted),
        "all replicas are in the ISR",
    )
    cluster.ask_for_preferred()
    preferred = [each[0] for each in assigned]
    cluster.await_that(
        lambda: [known_state_in(cluster, p).leader for p in wanted] == preferred, "preferred replicas lead"
    )
    return [epoch_in(cluster), *(known_state_in(cluster, p).leader_epoch for p in wanted)]


def _come_to_rest(cluster: Cluster, watcher: Watcher) -> None:
    """Wait until nothing has changed in ZooKeeper for a while, and no broker is shutting down."""
    until, last, since = time.monotonic() + LONGEST, None, time.monotonic()
    while time.monotonic() < min(until, since + REST):
        watcher.look(cluster)
        now = epoch_in(cluster), cluster.registered(), [state_in(cluster, p) for p in range(cluster.size.partitions)]
        if now != last or any(child.is_ending for child in cluster.children.values()):
            last, since = now, time.monotonic()
        time.sleep(0.2)


def _look(cluster: Cluster, began: list[int]) -> Look:
    """What is seen of a cluster now."""
    partitions = []
    for p, epoch in zip(range(cluster.size.partitions), began[1:]):
        seen = seen_of(known_state_in(cluster, p))
        elections = seen.pop("leader_epoch") - epoch
        partitions.append({**seen, "elections": elections, "acks=all": _answer(cluster, p)})
    return Look(epoch_in(cluster) - began[0], cluster.registered(), partitions)


def _answer(cluster: Cluster, p: int) -> str:
    """What a client is answered that produces a record with acks=all."""
    wait = int(ANSWERED * 1000)
    try:
        producer = KafkaProducer(
            bootstrap_servers=cluster.bootstrap(),
            acks="all",
            enable_idempotence=False,
            request_timeout_ms=wait // 2,
            delivery_timeout_ms=wait,
            max_block_ms=wait,
        )
        try:
            producer.send(TOPIC, value=b"asked", partition=p).get(2 * ANSWERED)
        finally:
            close_producer(producer, ANSWERED)
    except KafkaError:
        return "not acknowledged"
    return "acknowledged"
