"""The changes of partition states in a log: every version of every state znode, with its writer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from kafkaproof.traces.basics.columns import following, groups
from kafkaproof.traces.basics.versions import NEVER
from kafkaproof.traces.evidence.state_columns import States
from kafkaproof.traces.evidence.terms import TermKey
from kafkaproof.traces.evidence.write_columns import Writes
from kafkaproof.traces.reading.state_records import NOTHING, Codes
from kafkaproof.traces.zookeeper.snapshot import Znode
from kafkaproof.traces.zookeeper.znodes.contents import PartitionState
from kafkaproof.traces.zookeeper.znodes.topics import PlaceKind, place_of

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
    def former(self) -> PartitionState:
        """The state before it; raises ValueError where it is the first."""
        if self.before is None:
            raise ValueError(f"{self.zxid:#x} creates the state")
        return self.before

    @property
    def written(self) -> PartitionState:
        """The state that it writes; raises ValueError where it writes none."""
        if self.after is None:
            raise ValueError(f"{self.zxid:#x} writes no state")
        return self.after

    @property
    def term_key(self) -> TermKey:
        """The controller that a controller's write claims to be of: epoch, 0 where it wrote no state, and session."""
        return self.after.controller_epoch if self.after else 0, self.session

    @property
    def text(self) -> str:
        """What it does, in words."""
        return f"{self.topic}-{self.number} from {_words(self.before)} to {_words(self.after)}"


class Standing(NamedTuple):
    """The versions of all partitions' states by columns, those before the first write among them.

    `partitions`, `states`: codes as of Changes; each stands from the record of zxid `since` to before that of `until`.
    """

    partitions: np.ndarray
    states: np.ndarray
    since: np.ndarray
    until: np.ndarray


class Changes(Sequence):
    """All changes by columns. `rows`: their places among the writes; `since`, `before`, `after`: as of a Change.

    `partitions` are codes of `names`; `before` and `after` of `states`. `versions`: all that ever stood.
    """

    def __init__(self, nodes: Mapping[str, Znode], writes: Writes):
        """`nodes`: the znodes before the first write, by their paths as brokers know them."""
        self._writes = writes
        names, initial = Codes[Partition](), {}
        for path, node in nodes.items():
            if (place := place_of(path)) and place.kind == PlaceKind.STATE:
                initial[names.of(place.partition)] = node
        of_path = np.array(
            [names.of(place.partition) if place.kind == PlaceKind.STATE else NOTHING for place in writes.places],
            np.int64,
        )[writes.paths]
        rows = np.flatnonzero(of_path != NOTHING)
        self.names: list[Partition] = names.values
        contents = writes.contents.take(pa.array(rows)).dictionary_encode(null_encoding="encode")
        written, known = contents.dictionary, [node.data for node in initial.values()]
        self.states = States(pa.concat_arrays([written, pa.array([*known, None], pa.binary())]))
        codes = np.concatenate([len(written) + np.arange(len(known)), contents.indices.to_numpy()]).astype(np.int64)
        codes = np.where(self.states.valid[codes], codes, NOTHING)
        codes[len(known) :][writes.deletes[rows]] = _DELETED
        partitions = np.concatenate([np.array([*initial], np.int64), of_path[rows]])
        zxids = np.concatenate([np.array([node.mzxid for node in initial.values()], np.int64), writes.zxids[rows]])
        self._follow(partitions, codes, zxids, len(known), rows)

    def _follow(self, partitions: np.ndarray, codes: np.ndarray, zxids: np.ndarray, known: int, rows: np.ndarray):
        """What stood before each write, which the one before of its partition has left."""
        later, earlier = following(partitions)
        before, since = np.full(len(codes), _DELETED), np.zeros(len(codes), np.int64)
        before[later], since[later] = codes[earlier], zxids[earlier]
        until = np.full(len(codes), NEVER)
        until[earlier] = zxids[later]
        kept = codes >= 0
        self.versions = Standing(partitions[kept], codes[kept], zxids[kept], until[kept])
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

    def state_at(self, partition: Partition, zxid: int) -> PartitionState | None:
        """The state that a partition has after the record of that zxid."""
        rows = self.versions_of(partition)
        since, until = self.versions.since[rows], self.versions.until[rows]
        standing = rows[(since <= zxid) & (zxid < until)]
        return self.states[self.versions.states[standing[-1]]] if len(standing) else None

    def leaders(self, partition: Partition, since: int, zxid: int) -> frozenset[int]:
        """The leaders of the states that a partition has had from the record `since` to before that of `zxid`."""
        rows = self.versions_of(partition)
        first = np.searchsorted(self.versions.until[rows], since, "right")
        end = np.searchsorted(self.versions.since[rows], zxid)
        return frozenset(self.states.leaders[self.versions.states[rows[first:end]]].tolist())

    def creation(self, partition: Partition, zxid: int) -> Change | None:
        """The change that created the state that a partition has after a record; None where that was before the log."""
        rows = self.of(partition)
        rows = rows[(self.zxids[rows] <= zxid) & (self.since[rows] == 0)]
        return self[int(rows[-1])] if len(rows) else None

    def versions_of(self, partition: Partition) -> np.ndarray:
        """The rows of `versions` that are of one partition."""
        return self._versions_of.get(partition, self.rows[:0])

    @cached_property
    def _versions_of(self) -> dict[Partition, np.ndarray]:
        return {self.names[self.versions.partitions[rows[0]]]: rows for rows in groups(self.versions.partitions)}

    @property
    def overwritten(self) -> np.ndarray:
        """Which of them the same record writes once more."""
        found = np.zeros(len(self), bool)
        later, earlier = following(self.partitions)
        found[earlier] = self.zxids[later] == self.zxids[earlier]
        return found

    def at(self, rows: np.ndarray) -> list[Change]:
        """The changes in some rows."""
        sessions = self.sessions[rows].tolist()
        return list(
            map(
                Change,
                self.zxids[rows].tolist(),
                self.times[rows].tolist(),
                map(self.names.__getitem__, self.partitions[rows].tolist()),
                self.since[rows].tolist(),
                self.states.at(self.before[rows]),
                self.states.at(self.after[rows]),
                sessions,
                map(self._writes.members.broker_of.get, sessions),
                self.checked[rows].tolist(),
            )
        )

    def __getitem__(self, row):
        if isinstance(row, slice):
            return self.at(np.arange(len(self))[row])
        states, session = self.states, int(self.sessions[row])
        return Change(
            int(self.zxids[row]),
            int(self.times[row]),
            self.names[self.partitions[row]],
            int(self.since[row]),
            states[self.before[row]],
            states[self.after[row]],
            session,
            self._writes.members.broker_of.get(session),
            bool(self.checked[row]),
        )

    def __iter__(self) -> Iterator[Change]:
        return iter(self[:])

    def __len__(self) -> int:
        return len(self.rows)


def _words(state: PartitionState | None) -> str:
    if state is None:
        return "nothing"
    return f"leader {state.leader}, leader epoch {state.leader_epoch}, ISR {','.join(map(str, state.isr)) or 'empty'}"
