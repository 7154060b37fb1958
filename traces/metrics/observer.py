"""What ZooKeeper holds, as far as metrics need it, and what has been counted so far."""

import re
from collections import Counter, defaultdict

from traces.cluster import Members, below
from traces.metrics.rules import NOTHING, Counted, Rules
from traces.partitions.changes import Partition
from traces.znodes.assignments import Assignment, assignment_in
from traces.znodes.contents import PartitionState, number_in, state_in
from traces.znodes.json_parts import entries_in, is_number, json_in, part_of
from traces.znodes.places import place_of
from traces.zookeeper.transactions import CloseSession, Create, Delete, Failure, SetData, Transaction
from traces.zookeeper.tree import Tree

GAUGES = ("active_controllers", "controller_epoch", "brokers", "topics", "partitions", *Counted._fields,
          "topics_to_delete", "topics_ineligible")
COUNTERS = ("controller_elections", "leader_elections", "unclean_elections", "isr_shrinks", "isr_expands",
            "failed_isr_updates", "fenced_writes", "session_expiries")
_BADVERSION = -103
_BROKER = re.compile(r"/brokers/ids/(\d+)")
_REASSIGN, _DEFAULT, _EPOCH, _CONTROLLER = (
    "/admin/reassign_partitions", "/config/brokers/<default>", "/controller_epoch", "/controller",
)
_MIN_ISR = "min.insync.replicas"


class Observer:
    """What ZooKeeper holds, as far as metrics need it, and what each partition counts for."""

    def __init__(self, members: Members, root: str, tree: Tree):
        self._members, self._root, self._tree, self._rules = members, root, tree, Rules()
        self._states: dict[Partition, PartitionState | None] = {}
        self._led_by: dict[int, set[Partition]] = defaultdict(set)
        self._assignments: dict[str, dict[int, Assignment]] = {}
        self._counted: dict[Partition, Counted] = {}
        self._totals = [0] * len(Counted._fields)
        self._partitions = 0
        self._min_isrs: dict[str, int | None] = {}
        self._counts = dict.fromkeys(COUNTERS, 0)
        self._dirty: set[Partition] = set()
        self.unclean_by_epoch: Counter = Counter()
        self._brokers: frozenset[int] = frozenset()
        self._registered = True
        self._marked: set[str] = set()
        self._around: tuple[list[int], list[int]] | None = None
        self._listed: dict[Partition, tuple[int, ...]] | None = None
        for path, node in tree.nodes.items():
            self._note(below(root, path) or "", node.data or b"")
        self._counts = dict.fromkeys(COUNTERS, 0)
        self.unclean_by_epoch.clear()
        self.settled = self.settle()

    def add(self, transaction: Transaction) -> bool:
        """Go on by one record, the tree being the one before it; returns whether it may have changed a metric."""
        if transaction.failed:
            return self._add_refusal(transaction)
        noted = False
        for operation in transaction.operations:
            kind = type(operation)
            if kind is SetData or kind is Create:
                noted |= self._note(below(self._root, operation.path) or "", operation.data or b"")
            elif kind is Delete:
                noted |= self._note(below(self._root, operation.path) or "", None)
            elif kind is CloseSession:
                self._add_end(transaction)
                noted = True
        return noted

    def values(self) -> list[int]:
        """All metrics as they are now, in the order of GAUGES and COUNTERS."""
        if self._around is None:
            self._around = [
                int(self._root + _CONTROLLER in self._tree.nodes), self._epoch(), len(self._brokers),
                len(self._assignments), self._partitions,
            ], [len(self._marked), sum(self._is_ineligible(topic) for topic in self._marked)]
        return [*self._around[0], *self._totals, *self._around[1], *self._counts.values()]

    def _add_refusal(self, transaction: Transaction) -> bool:
        """A refused request of a broker: its check of the epoch, or a version that is not the present one."""
        counts = transaction.session in self._members.broker_of and transaction.first == Failure(_BADVERSION)
        if counts:
            self._counts["fenced_writes" if transaction.multi else "failed_isr_updates"] += 1
        return counts

    def _add_end(self, transaction: Transaction) -> None:
        owned = self._tree.ephemerals.get(transaction.session, ())
        self._around = None
        self._registered = any(_BROKER.fullmatch(below(self._root, path) or "") for path in owned)
        self._counts["session_expiries"] += int(self._registered and not transaction.cxid)

    def _note(self, path: str, data: bytes | None) -> bool:
        """A znode has these data now, or is gone (None); returns whether metrics read it."""
        place = place_of(path)
        if place and place.kind == "state":
            self.note_state(place.partition, data)
            return True
        self._around = None
        match place.kind if place else path:
            case "topic":
                self._note_topic(place.topic, data)
            case "marker":
                (self._marked.discard if data is None else self._marked.add)(place.topic)
                self._dirty |= self._of_topic(place.topic)
            case "config":
                self._dirty |= self._of_topic(place.topic)
                self._min_isrs.clear()
            case "reassign" | "/config/brokers/<default>":
                self._dirty |= set(self._counted)
                self._min_isrs.clear()
                self._listed = None
            case "/controller_epoch":
                if data is not None:
                    self._counts["controller_elections"] += int((number_in(data) or 0) > self._epoch())
            case "/controller":
                pass
            case _:
                if not _BROKER.fullmatch(path):
                    return False
                self._registered = True
        return True

    def note_state(self, partition: Partition, data: bytes | None) -> None:
        """The state of a partition is this now, or gone (None)."""
        after, before = state_in(data), self._states.get(partition)
        self._states[partition] = after
        self._dirty.add(partition)
        if before:
            self._led_by[before.leader].discard(partition)
        if after:
            self._led_by[after.leader].add(partition)
            former, isr, wished = (before.leader, before.isr, before.leader_epoch == after.leader_epoch) if before \
                else (None, (), False)
            for name in self._rules.changed(former, isr, after.leader, after.isr, wished):
                self._counts[name] += 1
                if name == "unclean_elections":
                    self.unclean_by_epoch[after.controller_epoch] += 1

    def _note_topic(self, topic, data):
        self._dirty |= self._of_topic(topic)
        listed = part_of(json_in(data), "partitions") if data is not None else {}
        numbers = [int(number) for number in listed if is_number(number)]
        found = {number: assigned for number in numbers if (assigned := assignment_in(data, number))}
        self._partitions -= len(self._assignments.pop(topic, ()))
        if data is not None:
            self._assignments[topic] = found
            self._partitions += len(found)
        self._dirty |= self._of_topic(topic)

    def settle(self) -> dict[Partition, Counted]:
        """Count anew what has changed, the tree being the one after the record; when brokers have come or gone,
        also what they lead. Returns the partitions that count for something else than before."""
        settled = {}
        if self._registered:
            self._registered = False
            names = (path.rpartition("/")[2] for path in self._tree.children.get(f"{self._root}/brokers/ids", ()))
            before, self._brokers = self._brokers, frozenset(int(name) for name in names if is_number(name))
            self._dirty = self._dirty.union(*(self._led_by[broker] for broker in before ^ self._brokers))
        for partition in sorted(self._dirty):
            known, counted = self._counted.pop(partition, NOTHING), self._count(partition)
            if counted is not None:
                self._counted[partition] = counted
            counted = counted or NOTHING
            if known != counted:
                settled[partition] = counted
                self._totals = [total - old + new for total, old, new in zip(self._totals, known, counted)]
        self._dirty = set()
        return settled

    def _count(self, partition):
        topic, number = partition
        assigned = self._assignments.get(topic, {}).get(number)
        if assigned is None:
            return None
        if self._listed is None:
            self._listed = entries_in(self._data(_REASSIGN))
        state = self._states.get(partition)
        leader, isr, led = (state.leader, state.isr, self._rules.is_led(state.leader, self._brokers)) if state \
            else (None, (), False)
        return self._rules.counted(leader, isr, assigned, led, topic in self._marked, partition in self._listed,
                                   self._min_isr(topic))

    def _of_topic(self, topic: str) -> set[Partition]:
        return {(topic, number) for number in self._assignments.get(topic, ())}

    def _is_ineligible(self, topic: str) -> bool:
        """Whether a deletion waits: for a broker that is not registered, or for a reassignment."""
        assigned = self._assignments.get(topic, {}).values()
        absent = any(set(each.replicas) - self._brokers for each in assigned)
        return absent or any(self._counted[partition].reassigning for partition in self._of_topic(topic))

    def _min_isr(self, topic: str) -> int | None:
        if topic not in self._min_isrs:
            self._min_isrs[topic] = self._configured_min_isr(topic)
        return self._min_isrs[topic]

    def _configured_min_isr(self, topic: str) -> int | None:
        for path in (f"/config/topics/{topic}", _DEFAULT):
            value = part_of(json_in(self._data(path)), "config").get(_MIN_ISR)
            if value is not None and is_number(str(value)):
                return int(value)
        return None

    def _epoch(self) -> int:
        node = self._tree.nodes.get(self._root + _EPOCH)
        return (number_in(node.data) or 0) if node else 0

    def _data(self, path: str) -> bytes | None:
        node = self._tree.nodes.get(self._root + path)
        return node.data if node else None
