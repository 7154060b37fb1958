"""What is seen of a cluster from outside, beside what the specification has at the end of a counterexample."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from kafkaproof.impl.harness.driving.cluster import TOPIC, Cluster
from kafkaproof.impl.harness.driving.watch import epoch_in, read_znode, state_in
from kafkaproof.impl.harness.real.behaviour import Behaviour, replicas_in
from kafkaproof.impl.seams.zookeeper.znodes import State, Topic
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.plain import Plain, ids_in

_ERRORS = {6: "NOT_LEADER", 74: "FENCED_LEADER_EPOCH", 75: "UNKNOWN_LEADER_EPOCH", 107: "INELIGIBLE_REPLICA"}
"""What the specification calls Kafka's error codes."""


def differences(behaviour: Behaviour, cluster: Cluster) -> list[str]:
    """How ZooKeeper differs from the specification's at the end, in words; empty where it does not."""
    return [
        f"{what} is {json.dumps(seen)}, and in the specification {json.dumps(wanted)}"
        for what, wanted, seen in _compared(
            behaviour.states[-1].zk, cluster, behaviour.spare if behaviour.stands_in else None
        )
        if wanted != seen
    ]


def _compared(zk: Plain, cluster: Cluster, stands_in: int | None) -> Iterator[tuple[str, object, object]]:
    """What both tell of: its name, what the specification has, and what ZooKeeper holds.

    `stands_in`: who was elected where the specification has nobody.
    """
    if hasattr(zk, "controller"):
        yield "/controller", stands_in if zk.controller == NOBODY else zk.controller, cluster.controller()
    if hasattr(zk, "epoch"):
        epoch = zk.epoch + (stands_in is not None)
        yield "/controller_epoch", epoch if epoch > 0 else None, epoch_in(cluster) or None
    for p, state in enumerate(getattr(zk, "partitions", ())):
        found = state_in(cluster, p)
        yield (
            f"the state of {TOPIC}-{p}",
            wanted_of(state) if state.leader_epoch >= 0 else None,
            (seen_of(found) if found else None),
        )
    topic = read_znode(cluster, Topic.path_of(TOPIC), Topic) if hasattr(zk, "assignments") else None
    if topic:
        yield (
            f"the assignment of {TOPIC}",
            [sorted(each) for each in replicas_in(zk)],
            [sorted(each) for each in topic.assignments],
        )


def told_in(said: Mapping[str, Any], p: int) -> dict[str, Any]:
    """Leader, ISR and leader epoch that a LeaderAndIsr tells of a partition of the topic."""
    lists = [each["partition_states"] for each in said.get("topic_states", ()) if each["topic_name"] == TOPIC]
    lists += [
        [each for each in said.get(name, ()) if each["topic_name"] == TOPIC]
        for name in ("partition_states", "ungrouped_partition_states")
    ]
    found = next(each for states in lists for each in states if each["partition_index"] == p)
    return {"leader": found["leader"], "isr": sorted(found["isr"]), "leader_epoch": found["leader_epoch"]}


def isr_proposed(said: Mapping[str, Any]) -> list[int]:
    """The ISR that an AlterPartition of one partition proposes."""
    found = said["topics"][0]["partitions"][0]
    return sorted(
        found["new_isr"] if "new_isr" in found else [each["broker_id"] for each in found["new_isr_with_epochs"]]
    )


def error_in(said: Mapping[str, Any]) -> str:
    """What the specification calls the answer to a fetch, or to a proposed ISR."""
    codes = [code for code in _codes(said) if code]
    return _ERRORS.get(codes[0], f"error {codes[0]}") if codes else "OK"


def _codes(said: object) -> Iterator[int]:
    """The error codes in an answer, at whatever depth."""
    if isinstance(said, Mapping):
        yield from (code for name, code in said.items() if name == "error_code")
        for name, value in said.items():
            if name != "request":
                yield from _codes(value)
    elif isinstance(said, (list, tuple)):
        for value in said:
            yield from _codes(value)


def wanted_of(state: Plain) -> dict[str, Any]:
    """Leader, ISR and leader epoch of a state of the specification."""
    return {"leader": state.leader, "isr": ids_in(state.isr), "leader_epoch": state.leader_epoch}


def seen_of(state: State) -> dict[str, Any]:
    """The same of a state in ZooKeeper."""
    return {"leader": state.leader, "isr": sorted(state.isr), "leader_epoch": state.leader_epoch}
