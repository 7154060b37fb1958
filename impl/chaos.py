"""Chaos: faults at random, from a seed, until the time is over; all of them are recorded."""

from __future__ import annotations

import random
import time

from impl.cluster import Cluster, wait_until
from impl.watch import Watcher

FAULTS = {
    "kill": 4, "start": 8, "pause": 3, "resume": 5, "expire": 3, "delete_controller": 3, "stop": 1,
    "ask_for_preferred": 1, "fail_log_dir": 1, "cut_zookeeper": 2, "mend_zookeeper": 4, "cut_links": 2, "mend_links": 4,
    "restart_zookeeper": 1, "fill_disk": 1, "tear": 1,
}
"""What may be done, and how often beside the others."""


class Chaos:
    """Breaks a cluster; the same seed chooses the same faults wherever the same ones are possible."""

    def __init__(self, cluster: Cluster, seed: int):
        self._cluster, self._chance = cluster, random.Random(seed)
        self._paused: set[int] = set()
        self._apart: dict[str, set[int]] = {"zookeeper": set(), "links": set()}

    def run(self, seconds: float, watcher: Watcher) -> None:
        """Break the brokers for some seconds, mend them, and wait until all are there."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._fault(watcher)
            for _ in range(self._chance.randint(2, 12)):
                time.sleep(0.1)
                watcher.look(self._cluster)
        self._mend()
        watcher.look(self._cluster)

    def _fault(self, watcher: Watcher) -> None:
        possible = {name: brokers for name in FAULTS if (brokers := self._possible(name))}
        name = self._chance.choices(list(possible), [FAULTS[each] for each in possible])[0]
        broker = self._chance.choice(possible[name])
        self._paused -= {broker} if name in ("resume", "kill") else set()
        self._paused |= {broker} if name == "pause" else set()
        self._note_links(name, broker)
        whom = "" if broker is None else f" {broker}"
        watcher.say(name.replace("_", " ") + whom, fault=name, broker=broker)
        self._do(name, broker)

    def _note_links(self, name, broker):
        """Whose links are cut now; a new process has whole links to the others."""
        verb, _, what = name.partition("_")
        if what in self._apart and verb in ("cut", "mend"):
            (self._apart[what].add if verb == "cut" else self._apart[what].discard)(broker)
        elif name in ("kill", "stop"):
            self._apart["links"].discard(broker)

    def _do(self, name: str, broker: int | None) -> None:
        partition = self._chance.randrange(self._cluster.size.planes)
        match name:
            case "fail_log_dir" | "fill_disk" | "tear":
                getattr(self._cluster, name)(broker, partition)
            case "delete_controller" | "ask_for_preferred" | "restart_zookeeper":
                getattr(self._cluster, name)()
            case _:
                getattr(self._cluster, name)(broker)

    def _possible(self, name: str) -> list[int | None]:
        """The brokers to which something can be done; [None] for what is done to none."""
        brokers = range(self._cluster.size.brokers)
        up = [b for b in brokers if b in self._cluster.children and self._cluster.children[b].running]
        awake = [b for b in up if b not in self._paused]
        match name:
            case "start":
                return [b for b in brokers if b not in up and self._cluster.owner(b) is None]
            case "resume":
                return sorted(self._paused)
            case "pause" | "kill":
                return awake if len(awake) > 1 else []
            case "cut_zookeeper" | "cut_links":
                return awake if len(awake) > 1 and not self._apart[name.partition("_")[2]] else []
            case "restart_zookeeper" if not self._cluster.owns_zookeeper:
                return []
            case "fill_disk" | "tear" if self._cluster.size.variant == "legacy":
                return []
            case "mend_zookeeper":
                return sorted(self._apart["zookeeper"])
            case "mend_links":
                return sorted(self._apart["links"] & set(awake))
            case "stop" | "expire" | "fail_log_dir" | "fill_disk" | "tear":
                return [b for b in awake if len(awake) > 1 and self._cluster.children[b].session]
        return [None]

    def _mend(self) -> None:
        for broker in sorted(self._apart["zookeeper"]):
            self._cluster.mend_zookeeper(broker)
        for broker in sorted(self._apart["links"]):
            self._cluster.mend_links(broker)
        for broker in sorted(self._paused):
            self._cluster.resume(broker)
        for broker in range(self._cluster.size.brokers):
            if not self._cluster.children[broker].running:
                wait_until(lambda broker=broker: self._cluster.owner(broker) is None)
                self._cluster.start(broker)
        wait_until(self._cluster.is_whole)
