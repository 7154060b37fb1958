"""What is seen of a cluster from outside, beside what the specification has at the end of a counterexample."""

from __future__ import annotations

import json

from kazoo.exceptions import NoNodeError

from impl.driving.cluster import TOPIC, Cluster
from impl.real.behaviour import Behaviour, replicas_in
from impl.zookeeper.znodes import ControllerEpoch, State, Topic
from spec.language.domains import NOBODY
from spec.language.plain import Plain, ids_in


def differences(behaviour: Behaviour, cluster: Cluster) -> list[str]:
    """In what ZooKeeper differs from the specification's at the end, in words; nothing where it does not."""
    zk, found = behaviour.states[-1].zk, []
    for what, wanted, seen in _compared(zk, cluster):
        if wanted != seen:
            found.append(f"{what} is {json.dumps(seen)}, and in the specification {json.dumps(wanted)}")
    return found


def _compared(zk: Plain, cluster: Cluster):
    """What both tell of: its name, what the specification has, and what ZooKeeper holds."""
    if hasattr(zk, "controller"):
        yield "/controller", None if zk.controller == NOBODY else zk.controller, cluster.controller()
    if hasattr(zk, "epoch"):
        yield "/controller_epoch", zk.epoch if zk.epoch > 0 else None, _epoch(cluster)
    for p, state in enumerate(zk.partitions):
        is_there = state.leader_epoch >= 0
        yield f"the state of {TOPIC}-{p}", written_in(state) if is_there else None, state_of(cluster, p)
    topic = _read(cluster, Topic.path_of(TOPIC))
    yield f"the assignment of {TOPIC}", [sorted(each) for each in replicas_in(zk)] if topic else None, topic and [
        sorted(each) for _, each in sorted(topic["partitions"].items())]


def written_in(state: Plain) -> dict[str, object]:
    """Leader, ISR and leader epoch of a state of the specification."""
    return {"leader": state.leader, "isr": ids_in(state.isr), "leader_epoch": state.leader_epoch}


def state_of(cluster: Cluster, p: int) -> dict[str, object] | None:
    """The same of a state in ZooKeeper, None where there is none."""
    found = _read(cluster, State.path_of(TOPIC, p))
    return found and {"leader": found["leader"], "isr": sorted(found["isr"]), "leader_epoch": found["leader_epoch"]}


def _epoch(cluster: Cluster) -> int | None:
    found = _read(cluster, ControllerEpoch.path)
    return found or None


def _read(cluster: Cluster, path: str):
    try:
        return json.loads(cluster.operator.get(path)[0])
    except NoNodeError:
        return None
