"""The changes of partition states in a log: every version of every state znode, with its writer."""

import re
from dataclasses import dataclass

from traces.cluster import Members, PartitionState, below, partition_state
from traces.transactions import Check, Create, Delete, SetData, Transaction
from traces.zookeeper_tree import Tree

Partition = tuple[str, int]
_STATE = re.compile(r"/brokers/topics/([^/]+)/partitions/(\d+)/state")


@dataclass(frozen=True)
class Change:
    """One version of a partition's state; `before` is None when it is created, and stood from zxid `since` on.

    `broker` is whose session wrote it, None for a tool's; `checked`: in a multi with a check of
    /controller_epoch; `after` is None where the znode holds no partition state.
    """

    zxid: int
    time: int
    topic: str
    number: int
    since: int
    before: PartitionState | None
    after: PartitionState | None
    session: int
    broker: int | None
    checked: bool

    @property
    def partition(self) -> Partition:
        """Topic and number."""
        return self.topic, self.number

    @property
    def reign(self) -> tuple[int, int]:
        """The controller that a controller's write claims to be of: epoch and session."""
        return self.after.controller_epoch, self.session


class Changes:
    """Collects the changes record by record."""

    def __init__(self, members: Members, root: str, tree: Tree):
        self.all: list[Change] = []
        self._members, self._root = members, root
        self._known: dict[Partition, tuple[int, PartitionState | None]] = {}
        for path, node in tree.nodes.items():
            if partition := self._partition(path):
                self._known[partition] = node.mzxid, state_in(node.data)

    def add(self, transaction: Transaction) -> None:
        """Note what a transaction that succeeded did to partition states."""
        checked = isinstance(transaction.operations[0], Check)
        for operation in transaction.operations:
            partition = self._partition(getattr(operation, "path", ""))
            if partition and isinstance(operation, Create | SetData):
                known, after = self._known.get(partition, (0, None)), state_in(operation.data)
                broker = self._members.broker_of.get(transaction.session)
                self.all.append(Change(transaction.zxid, transaction.time, *partition, *known, after,
                                       transaction.session, broker, checked))
                self._known[partition] = transaction.zxid, after
            elif partition and isinstance(operation, Delete):
                self._known.pop(partition, None)

    def _partition(self, path: str) -> Partition | None:
        found = _STATE.fullmatch(below(self._root, path) or "")
        return (found[1], int(found[2])) if found else None


def state_in(data: bytes | None) -> PartitionState | None:
    """The partition state that a znode holds, None when it is none or its ISR is no list of broker ids."""
    state = partition_state(data)
    return state if state and all(isinstance(broker, int) for broker in state.isr) else None
