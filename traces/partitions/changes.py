"""The changes of partition states in a log: every version of every state znode, with its writer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from traces.pipeline.columns import following, groups, numbers
from traces.pipeline.states import NOTHING, Codes
from traces.pipeline.written import Writes
from traces.znodes.contents import PartitionState, state_in
from traces.znodes.places import place_of
from traces.zookeeper.snapshot import Znode

Partition = tuple[str, int]
_DELETED = -2


@dataclass(slots=True)
class Change:
    """One version of a partition's state; `before` is None when it is created, and stood from zxid `since` on.

    `broker` is whose session wrote it, None for a tool's; `checked`: in a multi with a check of
    /controller_epoch; `after` is None where the znode holds no partition state.
    """

    zxid: int
    time: int
    partition: Partition
    since: int
    before: PartitionState | None
    after: PartitionState | None
    session: int
    broker: int | None
    checked: bool

    @property
    def topic(self) -> str:
        """The topic of the partition."""
        return self.partition[0]

    @property
    def number(self) -> int:
        """The number of the partition in its topic."""
        return self.partition[1]

    @property
    def reign(self) -> tuple[int, int]:
        """The controller that a controller's write claims to be of: epoch and session."""
        return self.after.controller_epoch, self.session


class States:
    """Different states by columns; the last row, that of NOTHING, is no state.

    `held`: codes of `different`, which are leaders and members of ISRs.
    """

    def __init__(self, contents: list[bytes | None]):
        """`contents`: what znodes hold, the last of them nothing."""
        self.values = [state_in(data) for data in contents]
        listed, held = Codes[tuple[int, tuple[int, ...]]](), Codes[tuple[int, frozenset[int]]]()
        found = [state or PartitionState(NOTHING, NOTHING, NOTHING, ()) for state in self.values]
        codes = np.array([listed.of((state.leader, state.isr)) for state in found], np.int64)
        self.held = np.array([held.of((leader, frozenset(isr))) for leader, isr in listed.values], np.int64)[codes]
        self.different = held.values
        self.repeats = np.array([len(set(isr)) < len(isr) for _, isr in listed.values], bool)[codes]
        self.leads = np.array([leader in isr for leader, isr in listed.values], bool)[codes]
        self.valid = np.array([state is not None for state in self.values], bool)
        self.leaders, self.leader_epochs, self.controller_epochs = map(numbers, list(zip(*found))[:3])


class Changes(Sequence):
    """All changes by columns. `rows`: their places among the writes; `since`, `before`, `after`: as of a Change.

    `partitions` are codes of `names`; `before` and `after` of `states`.
    """

    def __init__(self, nodes: Mapping[str, Znode], writes: Writes):
        """`nodes`: the znodes before the first write, by their paths as brokers know them."""
        self._writes = writes
        names, initial = Codes[Partition](), {}
        for path, node in nodes.items():
            if (place := place_of(path)) and place.kind == "state":
                initial[names.of(place.partition)] = node
        of_path = np.array([names.of(place.partition) if place and place.kind == "state" else NOTHING
                            for place in writes.places], np.int64)[writes.paths]
        rows = np.flatnonzero(of_path != NOTHING)
        self.names: list[Partition] = names.values
        contents = writes.contents.take(pa.array(rows)).dictionary_encode(null_encoding="encode")
        states, known = contents.dictionary.to_pylist(), [node.data for node in initial.values()]
        self.states = States([*states, *known, None])
        codes = np.concatenate([len(states) + np.arange(len(known)), contents.indices.to_numpy()]).astype(np.int64)
        codes = np.where(self.states.valid[codes], codes, NOTHING)
        codes[len(known):][writes.deletes[rows]] = _DELETED
        partitions = np.concatenate([np.array([*initial], np.int64), of_path[rows]])
        zxids = np.concatenate([np.array([node.mzxid for node in initial.values()], np.int64), writes.zxids[rows]])
        self._follow(partitions, codes, zxids, len(known), rows)

    def _follow(self, partitions: np.ndarray, codes: np.ndarray, zxids: np.ndarray, known: int, rows: np.ndarray):
        """What stood before each write, which the one before of its partition has left."""
        later, earlier = following(partitions)
        before, since = np.full(len(codes), _DELETED), np.zeros(len(codes), np.int64)
        before[later], since[later] = codes[earlier], zxids[earlier]
        since[before == _DELETED] = 0
        written = known + np.flatnonzero(codes[known:] != _DELETED)
        self.rows, self.partitions, self.zxids = rows[written - known], partitions[written], zxids[written]
        self.before, self.after, self.since = np.maximum(before[written], NOTHING), codes[written], since[written]
        self.times, self.sessions = self._writes.times[self.rows], self._writes.sessions[self.rows]
        self.checked = self._writes.checked[self.rows]

    def of(self, partition: Partition) -> np.ndarray:
        """The rows of one partition."""
        return self._by_partition.get(partition, self.rows[:0])

    @cached_property
    def _by_partition(self) -> dict[Partition, np.ndarray]:
        return {self.names[self.partitions[rows[0]]]: rows for rows in groups(self.partitions)}

    @property
    def overwritten(self) -> np.ndarray:
        """Which of them the same record writes once more."""
        found = np.zeros(len(self), bool)
        later, earlier = following(self.partitions)
        found[earlier] = self.zxids[later] == self.zxids[earlier]
        return found

    def at(self, rows: np.ndarray) -> list[Change]:
        """The changes in some rows."""
        states, sessions = self.states.values, self.sessions[rows].tolist()
        return list(map(
            Change, self.zxids[rows].tolist(), self.times[rows].tolist(),
            map(self.names.__getitem__, self.partitions[rows].tolist()), self.since[rows].tolist(),
            map(states.__getitem__, self.before[rows].tolist()), map(states.__getitem__, self.after[rows].tolist()),
            sessions, map(self._writes.members.broker_of.get, sessions), self.checked[rows].tolist()))

    def __getitem__(self, row):
        if isinstance(row, slice):
            return self.at(np.arange(len(self))[row])
        states, session = self.states.values, int(self.sessions[row])
        return Change(
            int(self.zxids[row]), int(self.times[row]), self.names[self.partitions[row]], int(self.since[row]),
            states[self.before[row]], states[self.after[row]], session, self._writes.members.broker_of.get(session),
            bool(self.checked[row]))

    def __iter__(self) -> Iterator[Change]:
        return iter(self[:])

    def __len__(self) -> int:
        return len(self.rows)
