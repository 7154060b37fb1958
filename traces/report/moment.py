"""The cluster at a moment of a log: who was the controller, which brokers were there, who led what, and what was asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.basics.times import day_and_time
from kafkaproof.traces.metrics.rules import COUNTED, Rules, Situation
from kafkaproof.traces.reading.cluster import below
from kafkaproof.traces.reading.state_records import Held
from kafkaproof.traces.zookeeper.tree import Tree
from kafkaproof.traces.zookeeper.znodes.assignments import Assignment
from kafkaproof.traces.zookeeper.znodes.contents import PartitionState, broker_in, is_recovering, number_in, state_in
from kafkaproof.traces.zookeeper.znodes.json_parts import entries_in
from kafkaproof.traces.zookeeper.znodes.topics import topic_in

_STATE = "{}/partitions/{}/state"
_TOPICS, _BROKERS = "/brokers/topics", "/brokers/ids"
_LISTS = {"/admin/reassign_partitions": "reassignment", "/admin/preferred_replica_election": "preferred leaders"}
_MARKERS = {
    "/admin/delete_topics": "deletion of",
    "/isr_change_notification": "ISRs changed",
    "/log_dir_event_notification": "log directory failed",
}


@dataclass(frozen=True)
class Placed:
    """A partition: its assignment, its state (None before the first), and whether its leader recovers."""

    topic: str
    number: int
    assignment: Assignment
    state: PartitionState | None
    recovering: bool

    def trouble(self, brokers: list[int]) -> str:
        """What is wrong with it, in a word, by the rules of the metrics; empty where nothing is."""
        if self.state is None:
            return "new"
        rules = Rules()
        held = rules.held.of(Held(self.state.leader, self.state.isr))
        situation = rules.situations.of(Situation(self.assignment, deleting=False, listed=False, min_isr=None))
        counted = COUNTED[rules.counted(held, situation, frozenset(brokers))]
        if counted.offline_partitions:
            return "offline"
        return "under-replicated" if counted.under_replicated else ""

    def as_json(self, brokers: list[int]) -> dict:
        """An object of `partitions` of `replay --at --json`."""
        state = self.state and {**self.state._asdict(), "isr": list(self.state.isr), "recovering": self.recovering}
        named = {name: list(ids) for name, ids in self.assignment._asdict().items()}
        return {
            "topic": self.topic,
            "partition": self.number,
            **named,
            "state": state,
            "trouble": self.trouble(brokers),
        }


@dataclass(frozen=True)
class ClusterAt:
    """The cluster after the record `zxid`, of `time` in ms since 1970; `requests`: what has not been dealt with."""

    zxid: int
    time: int
    controller: int | None
    epoch: int | None
    brokers: list[int]
    partitions: list[Placed]
    requests: list[str]

    def as_json(self) -> dict:
        """What `replay --at --json` prints."""
        return {
            "format": 1,
            "zxid": hex(self.zxid),
            "time": self.time,
            "controller": self.controller,
            "controller_epoch": self.epoch,
            "brokers": self.brokers,
            "partitions": [each.as_json(self.brokers) for each in self.partitions],
            "requests": self.requests,
        }


def cluster_at(tree: Tree, time: int, root: str, wanted: Callable[[Placed], bool]) -> ClusterAt:
    """What the znodes of the cluster with this chroot say; of the partitions those that are `wanted`."""
    nodes = {path: node.data for full, node in tree.nodes.items() if (path := below(root, full))}

    def children(path):
        return sorted(full.rpartition("/")[2] for full in tree.children.get(root + path, ()))

    placed = []
    for topic in children(_TOPICS):
        path = f"{_TOPICS}/{topic}"
        found = topic_in(nodes.get(path))
        for number, assignment in (found.partitions if found else {}).items():
            data = nodes.get(_STATE.format(path, number))
            placed.append(Placed(topic, number, assignment, state_in(data), is_recovering(data)))
    requests = [f"{told} {child}" for path, told in _MARKERS.items() for child in children(path)]
    for path, told in _LISTS.items():
        for (topic, number), replicas in entries_in(nodes.get(path)).items():
            requests.append(f"{told} of {topic}-{number}" + (f" to {list(replicas)}" if replicas else ""))
    return ClusterAt(
        tree.zxid,
        time,
        broker_in(nodes.get("/controller")),
        number_in(nodes.get("/controller_epoch")),
        [int(child) for child in children(_BROKERS)],
        [each for each in placed if wanted(each)],
        requests,
    )


def print_cluster(out: Console, found: ClusterAt) -> None:
    """Print the cluster as lines and a table of partitions."""
    controller = "no controller" if found.controller is None else f"broker {found.controller} is the controller"
    epoch = "" if found.epoch is None else f", controller epoch {found.epoch}"
    out.print(f"after {found.zxid:#x}, {day_and_time(found.time)}: {controller}{epoch}", soft_wrap=True)
    out.print(f"brokers: {', '.join(map(str, found.brokers)) or 'none'}", soft_wrap=True)
    for request in found.requests:
        out.print(f"asked for: {request}", soft_wrap=True, markup=False)
    table = Table(header_style="bold")
    for name in ("partition", "replicas", "leader", "ISR", "leader epoch", "controller epoch", "trouble"):
        table.add_column(name, justify="right" if name.endswith("epoch") or name == "leader" else "left")
    for each in found.partitions:
        table.add_row(*_cells(each, found.brokers))
    out.print(table)


def _cells(each: Placed, brokers: list[int]) -> list[str]:
    assignment, state = each.assignment, each.state
    moving = "".join(
        f" {sign}{list(ids)}" for sign, ids in (("+", assignment.adding), ("-", assignment.removing)) if ids
    )
    known = ["", "", "", ""]
    if state:
        leader = "none" if state.leader == NOBODY else str(state.leader)
        isr = str(list(state.isr)) + (" recovering" if each.recovering else "")
        known = [leader, isr, str(state.leader_epoch), str(state.controller_epoch)]
    return [f"{each.topic}-{each.number}", f"{list(assignment.replicas)}{moving}", *known, each.trouble(brokers)]
