"""What ZooKeeper holds, as far as metrics need it, and what has been counted so far."""

import re

from kafkaproof.traces.evidence.state_changes import Partition
from kafkaproof.traces.metrics.partitions import Partitions
from kafkaproof.traces.metrics.rules import Changes, Counted, Situation
from kafkaproof.traces.reading.cluster import Members, below
from kafkaproof.traces.zookeeper.transactions import CloseSession, Create, Delete, Failure, SetData, Transaction
from kafkaproof.traces.zookeeper.tree import Tree
from kafkaproof.traces.zookeeper.znodes.assignments import Assignment, assignment_in
from kafkaproof.traces.zookeeper.znodes.contents import PartitionState, number_in, state_in
from kafkaproof.traces.zookeeper.znodes.json_parts import entries_in, is_number, json_in, part_of
from kafkaproof.traces.zookeeper.znodes.topics import OUTSIDE, PlaceKind, place_of

GAUGES = (
    "active_controllers",
    "controller_epoch",
    "brokers",
    "topics",
    "partitions",
    *Counted._fields,
    "topics_to_delete",
    "topics_ineligible",
)
_ELECTIONS, *_OTHERS = "controller_elections", "failed_isr_updates", "fenced_writes", "session_expiries"
COUNTERS = (_ELECTIONS, *Changes._fields, *_OTHERS)
_BADVERSION = -103
_BROKER = re.compile(r"/brokers/ids/(\d+)")
_REASSIGN, _DEFAULT, _EPOCH, _CONTROLLER = (
    "/admin/reassign_partitions",
    "/config/brokers/<default>",
    "/controller_epoch",
    "/controller",
)
_MIN_ISR = "min.insync.replicas"


class Observer:
    """What ZooKeeper holds, as far as metrics need it; `partitions` are those that it has states and topics of."""

    def __init__(self, members: Members, root: str, tree: Tree):
        self._members, self._root, self._tree, self.partitions = members, root, tree, Partitions()
        self._assignments: dict[str, dict[int, Assignment]] = {}
        self._assigned = 0
        self._min_isrs: dict[str, int | None] = {}
        self._counts = dict.fromkeys((_ELECTIONS, *_OTHERS), 0)
        self._dirty: set[Partition] = set()
        self._written: set[Partition] = set()
        self._registered = True
        self._marked: set[str] = set()
        self._around: tuple[list[int], list[int]] | None = None
        self._listed: dict[Partition, tuple[int, ...]] | None = None
        for path, node in tree.nodes.items():
            self._note(below(root, path) or "", node.data or b"")
        self._counts = dict.fromkeys(self._counts, 0)
        self.partitions.forget()
        self.settled = self.settle()

    def add(self, transaction: Transaction) -> bool:
        """Go on by one record, the tree being the one before it; returns whether it may have changed a metric."""
        if transaction.failed:
            return self._add_refusal(transaction)
        noted = False
        for operation in transaction.operations:
            if isinstance(operation, SetData | Create):
                noted |= self._note(below(self._root, operation.path) or "", operation.data or b"")
            elif isinstance(operation, Delete):
                noted |= self._note(below(self._root, operation.path) or "", None)
            elif isinstance(operation, CloseSession):
                self._add_end(transaction)
                noted = True
        return noted

    def values(self) -> list[int]:
        """All metrics as they are now, in the order of GAUGES and COUNTERS."""
        if self._around is None:
            self._around = (
                [
                    int(self._root + _CONTROLLER in self._tree.nodes),
                    self._epoch(),
                    len(self.partitions.registered),
                    len(self._assignments),
                    self._assigned,
                ],
                [len(self._marked), sum(self._is_ineligible(topic) for topic in self._marked)],
            )
        elections, *others = self._counts.values()
        return [
            *self._around[0],
            *self.partitions.totals,
            *self._around[1],
            elections,
            *self.partitions.changes,
            *others,
        ]

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
        place = place_of(path) or OUTSIDE
        if place.kind == PlaceKind.STATE:
            self.note_state(place.partition, state_in(data))
            return True
        self._around = None
        match path if place == OUTSIDE else place.kind:
            case PlaceKind.TOPIC:
                self._note_topic(place.topic, data)
            case PlaceKind.MARKER:
                (self._marked.discard if data is None else self._marked.add)(place.topic)
                self._dirty |= self._of_topic(place.topic)
            case PlaceKind.CONFIG:
                self._dirty |= self._of_topic(place.topic)
                self._min_isrs.clear()
            case PlaceKind.REASSIGN | "/config/brokers/<default>":
                self._dirty.update(self.partitions.assigned)
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

    def note_state(self, partition: Partition, state: PartitionState | None) -> None:
        """The state of a partition is this now, or gone (None)."""
        self.partitions.set_state(partition, state)
        self._written.add(partition)

    def _note_topic(self, topic, data):
        self._dirty |= self._of_topic(topic)
        listed = part_of(json_in(data), "partitions") if data is not None else {}
        numbers = [int(number) for number in listed if is_number(number)]
        found = {number: assigned for number in numbers if (assigned := assignment_in(data, number))}
        self._assigned -= len(self._assignments.pop(topic, ()))
        if data is not None:
            self._assignments[topic] = found
            self._assigned += len(found)
        self._dirty |= self._of_topic(topic)

    def settle(self) -> dict[Partition, Counted]:
        """Count anew what has changed, the tree being the one after the record; when brokers have come or gone,
        also what they lead. Returns the partitions that count for something else than before."""
        partitions = self.partitions
        for partition in self._dirty:
            partitions.situate(partition, self._situation(partition))
        dirty = self._dirty | self._written
        if self._registered:
            self._registered = False
            names = (path.rpartition("/")[2] for path in self._tree.children.get(f"{self._root}/brokers/ids", ()))
            before, now = partitions.registered, frozenset(int(name) for name in names if is_number(name))
            partitions.registered = now
            dirty |= partitions.led_by(before ^ now)
        self._dirty, self._written = set(), set()
        return partitions.count(sorted(dirty))

    def _situation(self, partition: Partition) -> Situation | None:
        topic, number = partition
        assigned = self._assignments.get(topic, {}).get(number)
        if assigned is None:
            return None
        if self._listed is None:
            self._listed = entries_in(self._data(_REASSIGN))
        return Situation(assigned, topic in self._marked, partition in self._listed, self._min_isr(topic))

    def _of_topic(self, topic: str) -> set[Partition]:
        return {(topic, number) for number in self._assignments.get(topic, ())}

    def _is_ineligible(self, topic: str) -> bool:
        """Whether a deletion waits: for a broker that is not registered, or for a reassignment."""
        assigned = self._assignments.get(topic, {}).values()
        absent = any(set(each.replicas) - self.partitions.registered for each in assigned)
        return absent or any(self.partitions.counted(partition).reassigning for partition in self._of_topic(topic))

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
