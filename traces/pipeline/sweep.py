"""One pass over the records of a log, for all that follow it record by record."""

from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from traces.cluster import below
from traces.pipeline.work import Progress
from traces.recording import Recording
from traces.znodes.places import Place, place_of
from traces.zookeeper.transactions import Check, SetData, Transaction
from traces.zookeeper.tree import Tree

_EVERY = 5_000
_EPOCH = "/controller_epoch"


class StateWrite(NamedTuple):
    """A record that sets the data of one partition's state, alone or (`checked`) behind a check of /controller_epoch.

    Nearly all records of a long log are of this kind. `path`: as brokers know it; `known`: the data before, None where
    there were none.
    """

    transaction: Transaction
    path: str
    place: Place
    partition: tuple[str, int]
    data: bytes | None
    known: bytes | None
    checked: bool


class Listener:
    """Follows a log that is swept; each is told of the same records, and of the same tree."""

    def begin(self, tree: Tree) -> None:
        """The tree before the first record that counts, which the sweep changes as it goes on."""

    def before(self, transaction: Transaction) -> None:
        """A record, while the tree is the one before it."""

    def after(self, transaction: Transaction, contradictions: tuple[str, ...]) -> None:
        """The same record, and the tree after it; what ZooKeeper cannot have written is in `contradictions`."""

    def state_written(self, write: StateWrite, contradictions: tuple[str, ...]) -> None:
        """In place of both: a record that sets a partition's state, and the tree after it."""

    def end(self) -> None:
        """The log is over."""


def sweep(recording: Recording, root: str, *listeners: Listener,
          progress: Progress = lambda done, of: None) -> None:
    """Tell listeners of a log: what was written while its snapshot was taken is in the tree that they begin with.

    `root`: the chroot of the cluster.
    """
    tree, complete = Tree(recording.start), recording.start.last_processed_zxid if recording.start else 0
    counted = iter(recording.transactions)
    for transaction in counted:
        if transaction.zxid > complete:
            counted = chain([transaction], counted)
            break
        tree.apply(transaction)
    for listener in listeners:
        listener.begin(tree)
    written, of = [each.state_written for each in listeners], len(recording.transactions)
    for number, transaction in enumerate(counted, 1):
        if write := _state_write(transaction, root, tree):
            contradictions = tree.apply(transaction)
            for state_written in written:
                state_written(write, contradictions)
        else:
            for listener in listeners:
                listener.before(transaction)
            contradictions = tree.apply(transaction)
            for listener in listeners:
                listener.after(transaction, contradictions)
        if number % _EVERY == 0:
            progress(number, of)
    progress(of, of)
    for listener in listeners:
        listener.end()


def _state_write(transaction: Transaction, root: str, tree: Tree) -> StateWrite | None:
    """A record as one that sets a partition's state; None where it does, or asked for, anything else."""
    operations = transaction.operations
    checked = transaction.multi
    if len(operations) != 1 + checked or type(write := operations[-1]) is not SetData:
        return None
    path, place, partition = _state_at(root, write.path)
    if place is None or checked and (type(first := operations[0]) is not Check or first.path != root + _EPOCH):
        return None
    node = tree.nodes.get(write.path)
    return StateWrite(transaction, path, place, partition, write.data, node and node.data, checked)


@lru_cache(maxsize=100_000)
def _state_at(root: str, path: str) -> tuple[str, Place | None, tuple[str, int] | None]:
    """A path as brokers know it, and its place and partition if that is of a state."""
    known = below(root, path) or ""
    place = place_of(known)
    return (known, place, place.partition) if place and place.kind == "state" else (known, None, None)
