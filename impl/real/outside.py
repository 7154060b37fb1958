"""What is seen of a cluster from outside, beside what the specification has at the end of a counterexample."""

from __future__ import annotations

import json
from collections.abc import Iterator

from impl.driving.cluster import TOPIC, Cluster
from impl.driving.watch import read_znode
from impl.real.behaviour import Behaviour, replicas_in
from impl.zookeeper.znodes import ControllerEpoch, State, Topic
from spec.language.domains import NOBODY
from spec.language.plain import Plain, ids_in


def differences(behaviour: Behaviour, cluster: Cluster) -> list[str]:
    """In what ZooKeeper differs from the specification's at the end, in words; nothing where it does not."""
    return [f"{what} is {json.dumps(seen)}, and in the specification {json.dumps(wanted)}"
            for what, wanted, seen in _compared(behaviour.states[-1].zk, cluster) if wanted != seen]


def _compared(zk: Plain, cluster: Cluster) -> Iterator[tuple[str, object, object]]:
    """What both tell of: its name, what the specification has, and what ZooKeeper holds."""
    if hasattr(zk, "controller"):
        yield "/controller", None if zk.controller == NOBODY else zk.controller, cluster.controller()
    if hasattr(zk, "epoch"):
        found = read_znode(cluster, ControllerEpoch.path, ControllerEpoch)
        yield "/controller_epoch", zk.epoch if zk.epoch > 0 else None, (found.epoch if found else 0) or None
    for p, state in enumerate(zk.partitions):
        found = read_znode(cluster, State.path_of(TOPIC, p), State)
        yield f"the state of {TOPIC}-{p}", wanted_of(state) if state.leader_epoch >= 0 else None, (
            seen_of(found) if found else None)
    if topic := read_znode(cluster, Topic.path_of(TOPIC), Topic):
        yield (f"the assignment of {TOPIC}", [sorted(each) for each in replicas_in(zk)],
               [sorted(each) for each in topic.assignments])


def wanted_of(state: Plain) -> dict[str, object]:
    """Leader, ISR and leader epoch of a state of the specification."""
    return {"leader": state.leader, "isr": ids_in(state.isr), "leader_epoch": state.leader_epoch}


def seen_of(state: State) -> dict[str, object]:
    """The same of a state in ZooKeeper."""
    return {"leader": state.leader, "isr": sorted(state.isr), "leader_epoch": state.leader_epoch}
