"""What ZooKeeper's own log says of a recorded cluster: what operators wanted, and what was really written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from kafkaproof.spec.election.faults import delete_controller
from kafkaproof.spec.errors import UserError
from kafkaproof.spec.language.plain import Plain, ids_in, members
from kafkaproof.spec.language.sets import contains, with_member
from kafkaproof.spec.partition import faults
from kafkaproof.spec.partition.deletion import faults as deletion
from kafkaproof.spec.partition.reassignment import faults as reassignment
from kafkaproof.spec.running.broker_ids import BrokerIds
from kafkaproof.spec.running.processes import ELECTION, PARTITION
from kafkaproof.traces.evidence.topic_inputs import unclean_in
from kafkaproof.traces.processes.recorded.notices import STATE, Notices, isr_changes, log_dir_events
from kafkaproof.traces.processes.recorded.reading import Cluster
from kafkaproof.traces.processes.recorded.topic_numbers import OFFSETS_TOPIC, TopicNumbers
from kafkaproof.traces.zookeeper.transactions import Create, Delete, Operation, SetData, Transaction
from kafkaproof.traces.zookeeper.znodes.contents import number_in, state_in
from kafkaproof.traces.zookeeper.znodes.json_parts import entries_in
from kafkaproof.traces.zookeeper.znodes.topics import Topic, topic_in

TOPIC = re.compile(r"/brokers/topics/([^/]+)")
MARKER = re.compile(r"/admin/delete_topics/([^/]+)")


class Logged:
    """The transactions of a recording by zxid; `epochs` bounds the leader epochs and faults that there were, and `terms` the
    controller epochs.
    """

    def __init__(self, cluster: Cluster):
        self.config = f"/config/topics/{cluster.topic}"
        self.first_topics = cluster.topic, OFFSETS_TOPIC
        self._sizes, self._brokers = cluster.sizes, cluster.brokers
        self._deletes, self._reassigns = cluster.deletes, cluster.reassigns
        self._transactions = {t.zxid: t for t in cluster.zookeeper.transactions}
        self._log_dir_events = Notices(log_dir_events(cluster.zookeeper.transactions))
        self._isr_changes = Notices(isr_changes(cluster.zookeeper.transactions))
        self.numbers = TopicNumbers(cluster)
        of_epoch = [
            o
            for t in self._transactions.values()
            for o in t.operations
            if getattr(o, "path", "") == "/controller_epoch"
        ]
        self.epochs = 2 + len(of_epoch)
        self.terms = 2 + sum(isinstance(o, Create | SetData) for o in of_epoch)

    def notifying(self, zxid: int) -> int:
        """The brokers whose notifications of failed log directories are there after a transaction, as a set."""
        found = 0
        for broker in self._log_dir_events.there(zxid):
            found = with_member(found, self._brokers.number(broker))
        return found

    def has_isr_change(self, zxid: int, p: int) -> bool:
        """Whether a notification of a partition's ISR is there after a transaction: it comes with the state."""
        return any(self.numbers.of(topic, number, zxid) == p for topic, number in self._isr_changes.there(zxid))

    def refused(self, zxids: Iterable[int]) -> bool:
        """Whether there are transactions of these zxids, and ZooKeeper has refused them all."""
        found = [self._transactions[zxid].failed for zxid in zxids if zxid in self._transactions]
        return bool(found) and all(found)

    def wanted(self, transaction: Transaction) -> Iterator[tuple[str, str, dict]]:
        """What an operator's transaction is in the specification: part, transition and arguments."""
        for operation in () if transaction.failed else transaction.operations:
            yield from self._wanted(operation, transaction.zxid)

    def _wanted(self, operation: Operation, zxid: int) -> Iterator[tuple[str, str, dict]]:
        match operation:
            case Delete("/controller"):
                yield ELECTION, delete_controller.__name__, {}
                yield PARTITION, delete_controller.__name__, {}
            case Create("/admin/preferred_replica_election"):
                yield PARTITION, faults.ask_for_preferred.__name__, {}
            case Create("/admin/reassign_partitions", data):
                yield from self._moved(data, zxid)
            case Create(path) if found := MARKER.fullmatch(path):
                yield from self._marked(found[1], zxid)
            case Create(path) if self._is_another_topic(path):
                raise self._written_by_tool(path, zxid)
            case SetData(path) if TOPIC.fullmatch(path):
                raise self._written_by_tool(path, zxid)
            case Create(path, data) | SetData(path, data) if path == self.config:
                if unclean_in(data):
                    yield PARTITION, faults.allow_unclean.__name__, {}

    def _is_another_topic(self, path: str) -> bool:
        """Whether a path is that of a topic with which the cluster has not begun."""
        found = TOPIC.fullmatch(path)
        return found is not None and found[1] not in self.first_topics

    @staticmethod
    def _written_by_tool(path: str, zxid: int) -> UserError:
        return UserError(
            f"a tool wrote {path} in ZooKeeper (zxid {zxid:#x}), which no model of a recorded cluster has: create and "
            "expand topics through a broker, or replay ZooKeeper's log alone"
        )

    def listed(self, transaction: Transaction) -> dict[int, list[int]]:
        """The replicas that an operator's transaction wants of partitions, in order; none where it wants none."""
        for operation in () if transaction.failed else transaction.operations:
            match operation:
                case Create("/admin/reassign_partitions", data):
                    return self.targets(data, transaction.zxid)
        return {}

    def targets(self, data: bytes | None, zxid: int) -> dict[int, list[int]]:
        """The replicas that a request lists for each partition that there is, if there may be such replicas."""
        found = {}
        for (topic, partition), listed in entries_in(data).items():
            p, target = self.numbers.of(topic, partition, zxid), list(dict.fromkeys(self._brokers.numbers(listed)))
            known = set(target) <= set(range(self._sizes["brokers"])) and len(target) <= self._sizes["replicas"]
            if p is not None and target and known:
                found[p] = target
        return found

    def _moved(self, data: bytes | None, zxid: int) -> Iterator[tuple[str, str, dict]]:
        """The reassignment that is asked for: of partitions that there are, and of others."""
        targets = self.targets(data, zxid)
        if self._reassigns and any(self.numbers.of(*place, zxid) is None for place in entries_in(data)):
            yield PARTITION, reassignment.ask_for_unknown_reassignment.__name__, {}
        if not targets:
            return
        p, (first, *others) = next(iter(targets.items()))
        wanted = {"p": p, "target": first}
        if self._reassigns:
            wanted = {"moved": members(targets), "first": first, "others": members(others)}
        yield PARTITION, faults.ask_for_reassignment.__name__, wanted

    def _marked(self, topic: str, zxid: int) -> Iterator[tuple[str, str, dict]]:
        """The deletion of a topic that is asked for, one that is there or is not."""
        numbers = self.numbers.of_topic(topic, zxid)
        if not self._deletes:
            yield from [(PARTITION, faults.queue_deletion.__name__, {})] * (topic == self.first_topics[0])
        elif numbers:
            yield PARTITION, deletion.ask_for_deletion.__name__, {"p": numbers[0]}
        else:
            yield PARTITION, deletion.ask_for_unknown_deletion.__name__, {}

    def differs(self, zxid: int, states: Mapping[str, Plain]) -> str | None:
        """In what a transaction differs from what the specification's ZooKeeper holds now; None for nothing."""
        transaction = self._transactions.get(zxid)
        if transaction is None:
            return f"ZooKeeper's log has no transaction {zxid:#x}, which the step made"
        for operation in () if transaction.failed else transaction.operations:
            path, data = getattr(operation, "path", ""), getattr(operation, "data", None)
            if path == "/controller_epoch" and data and number_in(data) != states[ELECTION].zk.epoch:
                return f"it wrote the controller epoch {number_in(data)}, not {states[ELECTION].zk.epoch}"
            if isinstance(operation, Create) and (found := TOPIC.fullmatch(path)):
                topic = topic_in(data)
                if topic is None or topic.id is None:
                    return f"it created {path} without an assignment or without an id"
                if text := self._differs_in_topic(found[1], zxid, topic, states[PARTITION].zk):
                    return text
            if isinstance(operation, SetData) and (found := TOPIC.fullmatch(path)) and self._reassigns:
                if (topic := topic_in(data)) is None:
                    return f"it wrote no assignment to {path}"
                if text := self._differs_in_assignment(found[1], zxid, topic, states[PARTITION].zk):
                    return text
            if path == "/admin/reassign_partitions" and self._reassigns:
                left, zk = self.targets(data, zxid), states[PARTITION].zk
                held = {p: each.slots[: each.length] for p, each in enumerate(zk.targets) if each.length}
                if left != held:
                    left, held = ({p: self._brokers.ids(each) for p, each in of.items()} for of in (left, held))
                    return f"it left {left} in {path}, not {held}"
            if isinstance(operation, Delete) and (text := self._differs_in_deletion(path, zxid, states[PARTITION].zk)):
                return text
            if (found := STATE.fullmatch(path)) and data:
                p = self.numbers.of(found[1], int(found[2]), zxid)
                if p is None:
                    return f"it wrote {path}, and there is no such partition"
                written, held = _words(data), _held(states[PARTITION].zk, p, self._brokers)
                if written != held:
                    place = f"{found[1]}-{found[2]}"
                    return f"it wrote {json.dumps(written)} of {place}, not {json.dumps(held)}"
        return None

    def _differs_in_topic(self, name: str, zxid: int, topic: Topic, zk: Plain) -> str | None:
        """In what a topic that was created differs from what the specification's ZooKeeper holds."""
        numbers = self.numbers.of_topic(name, zxid)
        written = [list(assignment.replicas) for _, assignment in sorted(topic.partitions.items())]
        held = [self._brokers.ids(zk.assignments[p].slots[: zk.assignments[p].length]) for p in numbers]
        return None if written == held else f"it gave {name} the replicas {written}, not {held}"

    def _differs_in_assignment(self, name: str, zxid: int, topic: Topic, zk: Plain) -> str | None:
        """In what assignments that were written differ from what the specification's ZooKeeper holds."""
        for (_, written), p in zip(sorted(topic.partitions.items()), self.numbers.of_topic(name, zxid)):
            listed = zk.assignments[p].slots[: zk.assignments[p].length], ids_in(zk.adding[p]), ids_in(zk.removing[p])
            held = tuple(map(self._brokers.ids, listed))
            if (list(written.replicas), sorted(written.adding), sorted(written.removing)) != held:
                return f"it wrote {written} of partition {p}, not {held}"
        return None

    def _differs_in_deletion(self, path: str, zxid: int, zk: Plain) -> str | None:
        """In what a znode that was deleted differs from what the specification's ZooKeeper holds."""
        if found := STATE.fullmatch(path):
            p = self.numbers.of(found[1], int(found[2]), zxid)
            there = p is not None and zk.partitions[p].leader_epoch >= 0
        elif found := TOPIC.fullmatch(path):
            there = any(zk.assignments[p].length > 0 for p in self.numbers.of_topic(found[1], zxid))
        elif found := MARKER.fullmatch(path):
            there = any(contains(zk.deleting, p) for p in self.numbers.of_topic(found[1], zxid))
        else:
            return None
        return f"it deleted {path}, and in the specification that is there" if there else None


def _words(data: bytes) -> dict:
    """What a state says, nothing where it is none."""
    state = state_in(data)
    return {**state._asdict(), "isr": sorted(state.isr)} if state else {}


def _held(zk: Plain, p: int, brokers: BrokerIds) -> dict:
    state = zk.partitions[p]
    isr = [brokers.id(r) for r in range(len(zk.clients)) if contains(state.isr, r)]
    return {
        "leader": brokers.id(state.leader),
        "leader_epoch": state.leader_epoch,
        "controller_epoch": state.controller_epoch,
        "isr": isr,
    }
