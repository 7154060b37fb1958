"""Holds the later snapshots of a directory to its log: what a fuzzy snapshot cannot explain, ZooKeeper did not write.

A snapshot holds all that was written up to the zxid in its name, and of what was written while it was taken some. So
a znode in it that was last written up to then is as the log leaves it then; one that was written later is as that
record writes it; and one that is missing is deleted later.
"""

from bisect import bisect_right
from pathlib import Path

import numpy as np

from kafkaproof.traces.integrity.contradictions import Contradiction
from kafkaproof.traces.reading.current_states import Standing
from kafkaproof.traces.reading.recording import Recording, snapshots_among
from kafkaproof.traces.reading.state_records import StateWrite, StateWrites
from kafkaproof.traces.reading.sweep import Listener
from kafkaproof.traces.redaction import Redactor
from kafkaproof.traces.zookeeper.snapshot import Snapshot, Znode, read_snapshot
from kafkaproof.traces.zookeeper.transactions import CloseSession, Create, Delete, LogError, SetData, Transaction
from kafkaproof.traces.zookeeper.tree import Tree
from kafkaproof.traces.zookeeper.znodes.contents import state_in

_OWN = "/zookeeper"
"""Below it ZooKeeper writes what no log has."""


class Snapshots(Listener):
    """Compares each snapshot when the sweep is at its zxid. `contradictions`: what is not so; `problems`: a line each.

    A snapshot with which replay begins is not compared, nor one that is compressed.
    """

    def __init__(self, recording: Recording, redactor: Redactor | None = None):
        self.contradictions: list[Contradiction] = []
        self.problems: list[str] = []
        self._redactor, self._waiting = redactor, snapshots_among(recording)
        self._written: dict[int, list[tuple[Path, str, Znode]]] = {}
        self._missing: dict[str, tuple[Path, int, int]] = {}

    def begin(self, tree: Tree, standing: Standing) -> None:
        """Begin with what there is."""
        self._tree, self._standing, self._last = tree, standing, tree.zxid

    def before(self, transaction: Transaction) -> None:
        """Compare what is due before a record."""
        while self._waiting and self._waiting[0][0] < transaction.zxid:
            self._compare(self._last, {})

    def after(self, transaction: Transaction, contradictions: tuple[str, ...]) -> None:
        """See what a record makes of what was open."""
        self._see(transaction)
        self._last = transaction.zxid
        if self._missing and any(isinstance(each, Delete | CloseSession) for each in transaction.operations):
            self._missing = {path: due for path, due in self._missing.items() if path in self._tree.nodes}

    def state_written(self, write: StateWrite, contradictions: tuple[str, ...]) -> None:
        """The same of a record that sets a state: what stood before it is in `standing` still."""
        while self._waiting and self._waiting[0][0] < write.transaction.zxid:
            self._compare(self._last, {})
        self._see(write.transaction)
        self._last = write.transaction.zxid

    def states_written(self, writes: StateWrites) -> None:
        """The same of many."""
        while self._waiting and self._waiting[0][0] < writes.zxids[-1]:
            count = int(np.searchsorted(writes.zxids, self._waiting[0][0], "right"))
            last = {int(code): row for row, code in enumerate(writes.partitions[:count])}
            paths = writes.names.states.values
            self._compare(
                int(writes.zxids[count - 1]) if count else self._last,
                {
                    paths[code].path: (writes.states.at(row, writes.names), int(writes.versions[row]))
                    for code, row in last.items()
                },
            )
        for zxid in sorted(self._written)[: bisect_right(sorted(self._written), int(writes.zxids[-1]))]:
            row = int(np.searchsorted(writes.zxids, zxid))
            if row < len(writes) and writes.zxids[row] == zxid:
                self._see(writes.transaction(row))
        self._last = int(writes.zxids[-1])

    def end(self) -> None:
        """Compare what is due at the end of the log, and tell what is open."""
        while self._waiting:
            self._compare(self._last, {})
        for zxid, due in self._written.items():
            if zxid <= self._tree.zxid:
                self._tell(self._tree.zxid, due[0][0], f"{due[0][1]} is of record {zxid:#x}, which the log has not")
        for path, (file, last, processed) in self._missing.items():
            if processed <= self._tree.zxid:
                self._tell(last, file, f"{path} is missing, and the log has it there and never deletes it")

    def _compare(self, last: int, later: dict[str, tuple]) -> None:
        """Compare the next snapshot. `last`: the record up to which it is; `later`: states that stand there by then."""
        zxid, file = self._waiting.pop(0)
        try:
            found = read_snapshot(file)
        except LogError as error:
            self.problems.append(str(error))
            return
        found = self._redactor.snapshot(found) if self._redactor else found
        for path, node in found.nodes.items():
            if path == "/" or path.startswith(_OWN):
                continue
            if node.mzxid > zxid:
                self._written.setdefault(node.mzxid, []).append((file, path, node))
            elif why := self._why_not(path, node, later):
                self._tell(last, file, why)
                return
        self._note_missing(found, file, last)

    def _note_missing(self, found: Snapshot, file: Path, last: int) -> None:
        for path in self._tree.nodes.keys() - found.nodes.keys():
            if not path.startswith(_OWN):
                self._missing.setdefault(path, (file, last, found.last_processed_zxid))

    def _why_not(self, path: str, node: Znode, later: dict[str, tuple]) -> str | None:
        """Why a znode that was not written while the snapshot was taken is not the one that the log leaves."""
        known = self._tree.nodes.get(path)
        if known is None:
            return f"{path} is there, and by the log it is not"
        if known.czxid != node.czxid:
            return f"{path} is created by record {node.czxid:#x}, in the log by {known.czxid:#x}"
        state = later.get(path) or self._standing.held_at(path)
        content, version = state or (known.data, known.version)
        if version != node.version:
            return f"{path} is at version {node.version}, in the log at {version}"
        if content != (state_in(node.data) if state else node.data):
            return f"{path} holds something else than in the log"
        return None

    def _see(self, transaction: Transaction) -> None:
        """Hold a record to what snapshots have of it."""
        for file, path, node in self._written.pop(transaction.zxid, ()):
            written = [
                each for each in transaction.operations if isinstance(each, Create | SetData) and each.path == path
            ]
            version = written[-1].version if written and isinstance(written[-1], SetData) else 0
            if not written or (written[-1].data, version) != (node.data, node.version):
                self._tell(transaction.zxid, file, f"{path} is not what this record writes")

    def _tell(self, zxid: int, file: Path, why: str) -> None:
        self.contradictions.append(
            Contradiction(zxid, f"{file} and the log contradict each other, and ZooKeeper wrote both: {why}")
        )
