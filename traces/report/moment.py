"""The cluster at a moment of a log: who was the controller, which brokers were there, who led what, and what was asked for."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile

from rich.console import Console
from rich.table import Table

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.basics.times import day_and_time
from kafkaproof.traces.metrics.rules import COUNTED, Rules, Situation
from kafkaproof.traces.reading.cluster import below
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.reading.state_records import Held
from kafkaproof.traces.zookeeper.transactions import Transaction
from kafkaproof.traces.zookeeper.tree import Tree
from kafkaproof.traces.zookeeper.znodes.assignments import Assignment
from kafkaproof.traces.zookeeper.znodes.contents import PartitionState, broker_in, is_recovering, number_in, state_in
from kafkaproof.traces.zookeeper.znodes.json_parts import entries_in
from kafkaproof.traces.zookeeper.znodes.topics import topic_in

Moment = tuple[str, int]
"""``("zxid", N)``, or ``("time", milliseconds since 1970)``."""
HEADINGS = ("partition", "replicas", "leader", "ISR", "leader epoch", "controller epoch", "trouble")
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

    @property
    def lines(self) -> list[str]:
        """The cluster in lines, without its partitions."""
        controller = "no controller" if self.controller is None else f"broker {self.controller} is the controller"
        epoch = "" if self.epoch is None else f", controller epoch {self.epoch}"
        return [
            f"after {self.zxid:#x}, {day_and_time(self.time)}: {controller}{epoch}",
            f"brokers: {', '.join(map(str, self.brokers)) or 'none'}",
            *(f"asked for: {request}" for request in self.requests),
        ]

    def row(self, placed: Placed) -> list[str]:
        """A row of the table of partitions, under `HEADINGS`."""
        return _cells(placed, self.brokers)

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


def is_before(transaction: Transaction, moment: Moment, or_at: bool) -> bool:
    """Whether a record is before a moment, or also at it."""
    kind, value = moment
    found = transaction.zxid if kind == "zxid" else transaction.time
    return found <= value if or_at else found < value


def zxid_at(recording: Recording, moment: Moment) -> int:
    """The last record up to a moment. Raises UserError where the log begins later."""
    parts = [part for part in recording.parts if part.transactions and is_before(part.transactions[0], moment, True)]
    if not parts:
        first = recording.parts[0].transactions[0]
        raise UserError(f"--at: the log begins later, at {first.zxid:#x}, {day_and_time(first.time)}")
    if parts[-1].begins_unknown:
        raise UserError("--at: what was before the first record is unknown, so the cluster then is, too")
    up_to = takewhile(lambda each: is_before(each, moment, True), parts[-1].transactions)
    return deque(up_to, maxlen=1)[0].zxid


def clusters_at(
    recording: Recording, root: str, zxids: Iterable[int], wanted: Callable[[Placed], bool]
) -> Iterator[ClusterAt]:
    """The cluster after each of these records, in their order, but for those before which something is unknown."""
    due = set(zxids)
    for part in recording.parts:
        if part.begins_unknown:
            continue
        tree = Tree(part.start)
        for transaction in part.transactions:
            if not due:
                break
            tree.apply(transaction)
            if transaction.zxid in due:
                due.remove(transaction.zxid)
                yield _cluster_in(tree, transaction.time, root, wanted)


def _cluster_in(tree: Tree, time: int, root: str, wanted: Callable[[Placed], bool]) -> ClusterAt:
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
    for line in found.lines:
        out.print(line, soft_wrap=True, markup=False)
    table = Table(header_style="bold")
    for name in HEADINGS:
        table.add_column(name, justify="right" if name.endswith("epoch") or name == "leader" else "left")
    for each in found.partitions:
        table.add_row(*found.row(each))
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
