"""One pass over the records of a log, for all that follow it record by record."""

from dataclasses import replace

import numpy as np

from kafkaproof.traces.basics.tasks import Progress
from kafkaproof.traces.reading.current_states import Standing
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.reading.records import batches_of
from kafkaproof.traces.reading.state_records import NOTHING, Names, StateWrite, StateWrites
from kafkaproof.traces.reading.state_runs import cut
from kafkaproof.traces.zookeeper.transactions import CloseSession, Transaction
from kafkaproof.traces.zookeeper.tree import Tree
from kafkaproof.traces.zookeeper.znodes.contents import state_in

_EVERY = 5_000
_FEW = 4
"""So few records in a row that set states are told one by one, which takes less time."""


class Listener:
    """Follows a log that is swept; each is told of the same records, and of the same tree."""

    def begin(self, tree: Tree, standing: Standing) -> None:
        """The tree, and in it the states of partitions, before the first record that counts.

        The sweep changes both as it goes on; the tree does not follow what is written to states, `standing` does.
        """

    def before(self, transaction: Transaction) -> None:
        """A record, while the tree is the one before it."""

    def after(self, transaction: Transaction, contradictions: tuple[str, ...]) -> None:
        """The same record, and the tree after it (`standing` comes behind); what ZooKeeper cannot have written is in
        `contradictions`."""

    def state_written(self, write: StateWrite, contradictions: tuple[str, ...]) -> None:
        """In place of both: a record that sets a partition's state, and the tree after it."""

    def states_written(self, writes: StateWrites) -> None:
        """In place of that for each of many: valid states after valid states, without contradictions."""

    def end(self) -> None:
        """The log is over."""


def sweep(recording: Recording, root: str, *listeners: Listener, progress: Progress = lambda done, of: None) -> None:
    """Tell listeners of a log: what was written while its snapshot was taken is in the tree that they begin with.

    `root`: the chroot of the cluster.
    """
    swept = _Sweep(recording, root, listeners)
    told, of = 0, len(recording.transactions)
    for batch in batches_of(recording.transactions):
        for piece in cut(batch, swept.names, swept.complete):
            if isinstance(piece, StateWrites):
                swept.tell_states(piece)
                count = len(piece)
            else:
                swept.tell(piece)
                count = 1
            if told // _EVERY < (told := told + count) // _EVERY:
                progress(told, of)
    progress(of, of)
    swept.end()


class _Sweep:
    """The tree and the states as they are now, and the listeners."""

    def __init__(self, recording: Recording, root: str, listeners: tuple[Listener, ...]):
        self.complete = recording.start.last_processed_zxid if recording.start else 0
        self.names, self._listeners = Names(root), listeners
        self._tree, self._epoch, self._begun = Tree(recording.start), f"{root}/controller_epoch", False

    def tell(self, transaction: Transaction) -> None:
        """Tell of a record that does not only set a state."""
        if transaction.zxid <= self.complete:
            self._tree.apply(transaction)
            return
        self._begin()
        for listener in self._listeners:
            listener.before(transaction)
        touched = self._touched(transaction)
        contradictions = self._apply(transaction, touched)
        for listener in self._listeners:
            listener.after(transaction, contradictions)
        self._note(transaction, touched)

    def tell_states(self, writes: StateWrites) -> None:
        """Tell of records in a row that set states."""
        self._begin()
        told = 0
        while told < len(writes):
            rest = self._usual(writes.part(told, len(writes)))
            if len(rest) >= _FEW:
                self._tell_many(rest)
            else:
                rest = writes.part(told, told + max(1, len(rest)))
                for row in range(len(rest)):
                    self._tell_one(rest, row)
            told += len(rest)

    def end(self) -> None:
        """The log is over."""
        self._begin()
        for listener in self._listeners:
            listener.end()

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            self._standing = Standing(self.names, self._tree.nodes.items())
            for listener in self._listeners:
                listener.begin(self._tree, self._standing)

    def _usual(self, writes: StateWrites) -> StateWrites:
        """The first of these that set a state after a state, and contradict nothing, with what they knew."""
        known, versions = self._standing.before(writes)
        epoch = self._tree.nodes.get(self._epoch)
        fits = (writes.states.held != NOTHING) & (known.held != NOTHING) & (writes.versions == versions + 1)
        fits &= ~writes.checked | (writes.check_versions == (epoch.version + 1 if epoch else NOTHING))
        usual = len(fits) if fits.all() else int(np.argmin(fits))
        return replace(writes.part(0, usual), known=known.part(slice(usual)))

    def _tell_many(self, writes: StateWrites) -> None:
        for listener in self._listeners:
            listener.states_written(writes)
        self._standing.take(writes)
        self._tree.zxid = int(writes.zxids[-1])

    def _tell_one(self, writes: StateWrites, row: int) -> None:
        transaction, code = writes.transaction(row), int(writes.partitions[row])
        _, path, place = self.names.states.values[code]
        known = self._standing[code]
        contradictions = self._apply(transaction, {code})
        state = state_in(writes.contents[row].as_py())
        write = StateWrite(transaction, path, place, place.partition, state, known, bool(writes.checked[row]))
        for listener in self._listeners:
            listener.state_written(write, contradictions)
        self._note(transaction, {code})

    def _touched(self, transaction: Transaction) -> set[int]:
        """The codes of the states whose znodes a record may create, set or delete."""
        paths = [getattr(operation, "path", None) for operation in transaction.operations]
        if any(type(operation) is CloseSession for operation in transaction.operations):
            paths += self._tree.ephemerals.get(transaction.session, ())
        return {code for path in paths if (code := self.names.state_at(path)) != NOTHING}

    def _apply(self, transaction: Transaction, touched: set[int]) -> tuple[str, ...]:
        """Apply a record to the tree, where the znodes that it touches have their versions."""
        for code in touched:
            path = self.names.states.values[code].path
            if node := self._tree.nodes.get(path):
                self._tree.nodes[path] = node._replace(version=self._standing.version(code))
        return self._tree.apply(transaction)

    def _note(self, transaction: Transaction, touched: set[int]) -> None:
        """Know what a record made of the states that it touched."""
        for code in touched:
            node = self._tree.nodes.get(self.names.states.values[code].path)
            if node is None or node.mzxid == transaction.zxid:
                self._standing.write(code, node)
