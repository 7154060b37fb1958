"""Tells what happens in a running cluster, as it is seen in its ZooKeeper."""

from __future__ import annotations

import json
import time
from typing import Protocol

from kazoo.exceptions import NoNodeError

from kafkaproof.impl.harness.driving.cluster import TOPIC, Cluster
from kafkaproof.impl.seams.zookeeper.znodes import TOPICS, ControllerEpoch, State, Topic
from kafkaproof.spec.errors import Unfinished


class Teller(Protocol):
    """Whoever is told what happens."""

    def say(self, text: str, **line: object) -> None:
        """Tell one thing, in words and as names and values."""

    def look(self, cluster: Cluster) -> None:
        """Tell what has changed since the last look."""


class Watcher:
    """Prints a line for each change: text for a person, or JSON."""

    def __init__(self, as_json: bool):
        self._as_json, self._began, self._seen = as_json, time.monotonic(), {}

    def say(self, text: str, **line: object) -> None:
        """Print one line."""
        after = round(time.monotonic() - self._began, 1)
        print(json.dumps({"seconds": after, **line}) if self._as_json else f"{after:6.1f}s  {text}", flush=True)

    def look(self, cluster: Cluster) -> None:
        """Tell what has changed since the last look; raises Unfinished where a process has ended by itself."""
        cluster.check()
        self._tell("clients", cluster.bootstrap())
        self._tell("controller", self._controller(cluster))
        self._tell("registered", cluster.registered())
        for topic in cluster.below(TOPICS):
            found = read_znode(cluster, Topic.path_of(topic), Topic)
            for number in range(len(found.assignments) if found else 0):
                state = read_znode(cluster, State.path_of(topic, number), State)
                self._tell(
                    f"{topic}-{number}",
                    state and {"leader": state.leader, "isr": list(state.isr), "leader epoch": state.leader_epoch},
                )

    def _controller(self, cluster):
        broker = cluster.controller()
        return None if broker is None else {"broker": broker, "epoch": epoch_in(cluster)}

    def _tell(self, what, now):
        if self._seen.get(what) == now:
            return
        self._seen[what] = now
        words = ", ".join(f"{name} {value}" for name, value in now.items()) if isinstance(now, dict) else now
        self.say(f"{what}: {'nobody' if now is None else words}", what=what, now=now)


def epoch_in(cluster: Cluster) -> int:
    """The controller epoch in ZooKeeper, 0 where there is none."""
    found = read_znode(cluster, ControllerEpoch.path, ControllerEpoch)
    return found.epoch if found else 0


def state_in(cluster: Cluster, p: int) -> State | None:
    """The state in ZooKeeper of a partition of the topic, None where there is none."""
    return read_znode(cluster, State.path_of(TOPIC, p), State)


def known_state_in(cluster: Cluster, p: int) -> State:
    """The same of a partition that must have one; raises Unfinished where there is none."""
    state = state_in(cluster, p)
    if state is None:
        raise Unfinished(f"{TOPIC}-{p} has no state in ZooKeeper")
    return state


def read_znode(cluster: Cluster, path: str, znode):
    """What a znode of a kind (`kafkaproof.impl.seams.zookeeper.znodes`) says, None where there is none."""
    try:
        return znode.decode(cluster.operator.get(path)[0])
    except NoNodeError:
        return None
