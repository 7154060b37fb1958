"""What ZooKeeper's own log says of a recorded cluster: what operators wanted, and what was really written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from spec.processes import ELECTION, PARTITION
from spec.language.plain import Plain
from spec.language.sets import contains, with_member
from spec.topic_ids import members_in
from traces.contents import number_in, partition_state
from traces.partitions.inputs import unclean_in
from traces.znode_json import entries_in
from traces.processes.reading import Cluster
from traces.znodes import Topic, topic_in
from traces.transactions import Create, Delete, Operation, SetData, Transaction

_TOPIC = re.compile(r"/brokers/topics/([^/]+)")
LOG_DIR_EVENT = "/log_dir_event_notification/"
_STATE = re.compile(r"/brokers/topics/([^/]+)/partitions/(\d+)/state")


class Logged:
    """The transactions of a recording by zxid; `epochs` bounds the epochs and faults that there were."""

    def __init__(self, cluster: Cluster):
        self._topic, self._offsets = cluster.topic, cluster.offsets
        self._created: dict[tuple[str, int], int] = {}
        self._transactions = {t.zxid: t for t in cluster.zookeeper.transactions}
        self._notifications = list(_notifications(cluster.zookeeper.transactions))
        self.epochs = 2 + sum(getattr(o, "path", "") == "/controller_epoch" for t in self._transactions.values()
                              for o in t.operations)

    def notifying(self, zxid: int) -> int:
        """The brokers whose notifications of failed log directories are there after a transaction, as a set."""
        there = {}
        for at, path, broker in self._notifications:
            if at <= zxid:
                there[path] = broker
        found = 0
        for broker in there.values():
            found = found if broker is None else with_member(found, broker)
        return found

    def wanted(self, transaction: Transaction) -> Iterator[tuple[str, str, dict]]:
        """What an operator's transaction is in the specification: part, transition and arguments."""
        for operation in () if transaction.failed else transaction.operations:
            yield from self._wanted(operation)

    def _wanted(self, operation: Operation) -> Iterator[tuple[str, str, dict]]:
        match operation:
            case Delete("/controller"):
                yield ELECTION, "delete_controller", {}
                yield PARTITION, "delete_controller", {}
            case Create("/admin/preferred_replica_election"):
                yield PARTITION, "ask_for_preferred", {}
            case Create("/admin/reassign_partitions", data):
                for (_, p), target in entries_in(data).items():
                    yield PARTITION, "ask_for_reassignment", {"p": p, "target": target[0]}
            case Create(path) if path == f"/admin/delete_topics/{self._topic}":
                yield PARTITION, "queue_deletion", {}
            case Create(path, data) | SetData(path, data) if path == f"/config/topics/{self._topic}":
                if unclean_in(data):
                    yield PARTITION, "allow_unclean", {}

    def differs(self, zxid: int, states: Mapping[str, Plain]) -> str | None:
        """In what a transaction differs from what the specification's ZooKeeper holds now; None for nothing."""
        transaction = self._transactions.get(zxid)
        if transaction is None:
            return f"ZooKeeper's log has no transaction {zxid:#x}, which the step made"
        for operation in () if transaction.failed else transaction.operations:
            path, data = getattr(operation, "path", ""), getattr(operation, "data", None)
            if path == "/controller_epoch" and data and number_in(data) != states[ELECTION].zk.epoch:
                return f"it wrote the controller epoch {number_in(data)}, not {states[ELECTION].zk.epoch}"
            if isinstance(operation, Create) and (found := _TOPIC.fullmatch(path)):
                if text := self._differs_in_topic(found[1], topic_in(data), states[PARTITION].zk):
                    return text
            if (found := _STATE.fullmatch(path)) and data:
                p = self._number(found[1], int(found[2]))
                written, held = _words(data), _held(states[PARTITION].zk, p)
                if written != held:
                    place = f"{found[1]}-{found[2]}"
                    return f"it wrote {json.dumps(written)} of {place}, not {json.dumps(held)}"
        return None

    def _differs_in_topic(self, name: str, topic: Topic, zk: Plain) -> str | None:
        """In what a topic that was created differs from what the specification's ZooKeeper holds."""
        members = members_in(topic.id)
        numbers = [p for p in range(len(zk.assignments)) if contains(members, p)]
        self._created.update({(name, i): p for i, p in enumerate(numbers)})
        written = [list(assignment.replicas) for _, assignment in sorted(topic.partitions.items())]
        held = [zk.assignments[p].slots[:zk.assignments[p].length] for p in numbers]
        return None if written == held else f"it gave {name} the replicas {written}, not {held}"

    def _number(self, topic: str, partition: int) -> int:
        """The number of a partition in the specification."""
        if topic == self._topic:
            return partition
        return self._created.get((topic, partition), self._offsets)


def _notifications(transactions: Iterable[Transaction]) -> Iterator[tuple[int, str, int | None]]:
    """When notifications of failed log directories came, of which broker; and when each was deleted (None)."""
    for transaction in transactions:
        for operation in () if transaction.failed else transaction.operations:
            path = getattr(operation, "path", "")
            if path.startswith(LOG_DIR_EVENT) and isinstance(operation, (Create, Delete)):
                created = isinstance(operation, Create)
                yield transaction.zxid, path, json.loads(operation.data)["broker"] if created else None


def _words(data: bytes) -> dict:
    state = partition_state(data)
    return {**state._asdict(), "isr": sorted(state.isr)}


def _held(zk: Plain, p: int) -> dict:
    state = zk.partitions[p]
    isr = [r for r in range(len(zk.clients)) if contains(state.isr, r)]
    return {"leader": state.leader, "leader_epoch": state.leader_epoch, "controller_epoch": state.controller_epoch,
            "isr": isr}
