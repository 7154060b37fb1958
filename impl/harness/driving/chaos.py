"""Chaos: faults at random, from a seed, until the time is over; all of them are recorded."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

from kafkaproof.impl.harness.driving import catalogue
from kafkaproof.impl.harness.driving.acts import KAFKA, ZOOKEEPER, why_not
from kafkaproof.impl.harness.driving.catalogue import CREATE_TOPIC, FAULTS
from kafkaproof.impl.harness.driving.cluster import Cluster
from kafkaproof.impl.harness.driving.damage import Broken
from kafkaproof.impl.harness.driving.watch import Watcher
from kafkaproof.impl.harness.links.zookeeper import WRITES
from kafkaproof.spec.protocol.passed import ANSWER, REQUEST

OFTEN = {name: fault.often for name, fault in FAULTS.items() if fault.often}
"""What may be done, and how often beside the others."""
MOST_TOPICS = 8
"""How many topics are created: replay looks at the partitions of all of them."""
DELAYS = (0.0, 0.02, 0.1)
"""How long a slow link holds back what is sent, in seconds."""
LOST = {
    ZOOKEEPER: [
        {"part": part, "operation": WRITES, **path}
        for part in (REQUEST, ANSWER)
        for path in ({}, {"path": ".*/state"}, {"path": "/brokers/topics/[^/]*|/admin/.*|/controller.*"})
    ],
    KAFKA: [
        {"part": part, "api": api}
        for part in (REQUEST, ANSWER)
        for api in ("LeaderAndIsr", "UpdateMetadata", "StopReplica", "AlterPartition", "ControlledShutdown")
    ],
}
"""The frames of which the next one is lost, by the link."""


class Chaos:
    """Breaks a cluster; the same seed chooses the same faults wherever the same ones are possible.

    `unclean`: an operator may allow unclean elections, so that what was acknowledged may be lost.
    """

    def __init__(self, cluster: Cluster, seed: int, unclean: bool = False):
        self._cluster, self._chance, self._unclean = cluster, random.Random(seed), unclean
        self._broken, self._created = Broken(cluster), 0

    def run(self, seconds: float, watcher: Watcher) -> None:
        """Break the brokers for some seconds, mend them, and wait until all are there."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._fault(watcher)
            for _ in range(self._chance.randint(2, 12)):
                time.sleep(0.1)
                watcher.look(self._cluster)
        self._broken.mend()
        watcher.look(self._cluster)

    def _fault(self, watcher: Watcher) -> None:
        possible = {name: brokers for name in OFTEN if (brokers := self._possible(name))}
        name = self._chance.choices(list(possible), [OFTEN[each] for each in possible])[0]
        broker = self._chance.choice(possible[name])
        partition, delay = self._chance.randrange(self._cluster.size.standing), self._chance.choice(DELAYS)
        whom = "" if broker is None else f" {broker}"
        kind, *others = FAULTS[name].needs or ("broker",)
        watcher.say(name.replace("_", " ") + whom, fault=name, **{kind: broker})
        self._created += name == CREATE_TOPIC.name
        ways: dict[tuple[str, ...], list] = {("partition",): [partition], ("delay",): [delay]}
        drawn = ways.get(tuple(others), [])
        if "replicas" in others:
            drawn = [self._target()]
        if "pattern" in others:
            link = self._chance.choice([ZOOKEEPER, KAFKA] if self._cluster.size.release else [ZOOKEEPER])
            drawn = [link, self._chance.choice(LOST[link])]
        self._broken.do(name, *([] if broker is None else [broker]), *drawn)

    def _target(self) -> list[int]:
        """Some brokers that a partition is to be on, no fewer than acks=all needs."""
        size = self._cluster.size
        return self._chance.sample(size.broker_ids.all, self._chance.randint(size.min_isr, size.replicas))

    def _possible(self, name: str) -> Sequence[int | str | None]:
        """The brokers, topics or partitions to which something can be done; [None] for what is done to none."""
        cluster, broken = self._cluster, self._broken.brokers
        brokers = cluster.size.broker_ids.all
        up = [b for b in brokers if b in cluster.children and cluster.children[b].running]
        awake = [b for b in up if b not in broken[catalogue.PAUSE.name] and not cluster.children[b].is_ending]
        if why_not(name, cluster.size, cluster.owns_zookeeper):
            return []
        match name:
            case catalogue.START.name:
                return [b for b in brokers if b not in up and cluster.owner(b) is None]
            case catalogue.RESUME.name | catalogue.MEND_ZOOKEEPER.name:
                return sorted(broken[FAULTS[name].undoes[0].name])
            case catalogue.MEND_LINKS.name:
                return sorted(broken[catalogue.CUT_LINKS.name] & set(awake))
            case catalogue.PAUSE.name | catalogue.KILL.name:
                return awake if len(awake) > 1 else []
            case catalogue.CUT_ZOOKEEPER.name | catalogue.CUT_LINKS.name:
                return awake if len(awake) > 1 and not broken[name] else []
            case catalogue.ALLOW_UNCLEAN.name if not self._unclean:
                return []
            case catalogue.CREATE_TOPIC.name:
                return [f"chaos-{self._created + 1}"] if self._created < MOST_TOPICS else []
            case catalogue.DELETE_TOPIC.name:
                return cluster.created_topics()
            case catalogue.REASSIGN.name:
                return list(range(cluster.size.partitions))
            case catalogue.SLOW_LINKS.name | catalogue.SLOW_ZOOKEEPER.name | catalogue.LOSE_FRAME.name:
                return awake
        if FAULTS[name].running:
            return [b for b in awake if len(awake) > 1 and cluster.children[b].session]
        return [None]
