"""Records that set the state of one partition, by columns: nearly all records of a long log are of this kind."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from kafkaproof.traces.reading.cluster import below
from kafkaproof.traces.zookeeper.transactions import Check, Create, SetData, Transaction
from kafkaproof.traces.zookeeper.znodes.contents import PartitionState
from kafkaproof.traces.zookeeper.znodes.topics import Place, PlaceKind, place_of

Value = TypeVar("Value")
NOTHING = -1
"""The code of no state, or of one that its columns cannot hold."""


class Held(NamedTuple):
    """Who leads a partition, and its ISR as the state lists it."""

    leader: int
    isr: tuple[int, ...]


class Codes(Generic[Value]):
    """Values by numbers from 0 on, in the order in which they first came. `values`: all of them."""

    def __init__(self):
        self.values: list[Value] = []
        self._codes: dict[Value, int] = {}

    def of(self, value: Value) -> int:
        """The number of a value."""
        code = self._codes.setdefault(value, len(self.values))
        if code == len(self.values):
            self.values.append(value)
        return code


class StatePath(NamedTuple):
    """The state znode of a partition: its path in the log, as brokers know it, and its place."""

    path: str
    known: str
    place: Place


class Names:
    """What the codes in columns of a sweep stand for: `states` are znodes of states, `held` their leaders and ISRs."""

    def __init__(self, root: str):
        """`root`: the chroot of the cluster."""
        self.root, self.states, self.held = root, Codes[StatePath](), Codes[Held]()
        self._leaders = np.zeros(0, np.int32)
        self._known: dict[str, int] = {}

    @property
    def leaders(self) -> np.ndarray:
        """The leader by each code of `held`."""
        new = self.held.values[len(self._leaders) :]
        if new:
            self._leaders = np.append(self._leaders, np.array([each.leader for each in new], np.int32))
        return self._leaders

    def state_at(self, path: str | None) -> int:
        """The code of the state whose znode that is, NOTHING for any other path."""
        if path is None:
            return NOTHING
        if (code := self._known.get(path)) is not None:
            return code
        if (found := _state_at(self.root, path)) is None:
            return NOTHING
        return self._known.setdefault(path, self.states.of(found))


@lru_cache(maxsize=100_000)
def _state_at(root: str, path: str) -> StatePath | None:
    known = below(root, path) or ""
    place = place_of(known)
    return StatePath(path, known, place) if place and place.kind == PlaceKind.STATE else None


class StateWrite(NamedTuple):
    """A record that sets the data of one partition's state, alone or (`checked`) behind a check of /controller_epoch.

    `path`: as brokers know it; `state`, `known`: what is written, and what stood before; None for what is no state.
    """

    transaction: Transaction
    path: str
    place: Place
    partition: tuple[str, int]
    state: PartitionState | None
    known: PartitionState | None
    checked: bool

    @property
    def data(self) -> bytes | None:
        """What is written."""
        written = self.transaction.operations[-1]
        return written.data if isinstance(written, Create | SetData) else None


@dataclass(frozen=True)
class StateColumns:
    """States as columns, int32 each: codes of leaders and ISRs (NOTHING: no state), leader and controller epochs."""

    held: np.ndarray
    leader_epochs: np.ndarray
    controller_epochs: np.ndarray

    def part(self, places: slice | np.ndarray) -> StateColumns:
        """Some of them."""
        return StateColumns(self.held[places], self.leader_epochs[places], self.controller_epochs[places])

    def at(self, place: int, names: Names) -> PartitionState | None:
        """One of them."""
        if self.held[place] == NOTHING:
            return None
        leader, isr = names.held.values[self.held[place]]
        return PartitionState(leader, int(self.leader_epochs[place]), int(self.controller_epochs[place]), isr)


_NONE = np.zeros(0, np.int32)
NO_STATES = StateColumns(_NONE, _NONE, _NONE)


@dataclass(frozen=True)
class StateWrites:
    """Records in a row, each as `StateWrite` says; a row for each.

    `zxids`, `times` (ms since 1970): int64; `sessions`: uint64; `cxids`, `versions` (of the znode, after it): int32;
    `checked`: bool, and the version that the check had; `partitions`: codes of `names.states`; `contents`: what is
    written; `states`, `known`: as columns, `known` is empty until a sweep tells of them.
    """

    names: Names
    zxids: np.ndarray
    times: np.ndarray
    sessions: np.ndarray
    cxids: np.ndarray
    checked: np.ndarray
    check_versions: np.ndarray
    versions: np.ndarray
    partitions: np.ndarray
    contents: pa.Array
    states: StateColumns
    known: StateColumns = NO_STATES

    def __len__(self) -> int:
        return len(self.zxids)

    def part(self, first: int, last: int) -> StateWrites:
        """The rows from one place up to another."""
        places = slice(first, last)
        return StateWrites(
            self.names,
            self.zxids[places],
            self.times[places],
            self.sessions[places],
            self.cxids[places],
            self.checked[places],
            self.check_versions[places],
            self.versions[places],
            self.partitions[places],
            self.contents[places],
            self.states.part(places),
            self.known.part(places),
        )

    @property
    def elects(self) -> np.ndarray:
        """Which of them give a partition another leader."""
        leaders = self.names.leaders
        return leaders[self.states.held] != leaders[self.known.held]

    @property
    def removes(self) -> np.ndarray:
        """Which of them leave a partition its leader, raise the leader epoch, and give it another ISR."""
        raised = self.states.leader_epochs > self.known.leader_epochs
        return raised & (self.states.held != self.known.held) & ~self.elects

    def write(self, row: int) -> StateWrite:
        """One of them."""
        _, path, place = self.names.states.values[self.partitions[row]]
        return StateWrite(
            self.transaction(row),
            path,
            place,
            place.partition,
            self.states.at(row, self.names),
            self.known.at(row, self.names),
            bool(self.checked[row]),
        )

    def transaction(self, row: int) -> Transaction:
        """The record of a row."""
        write = SetData(
            self.names.states.values[self.partitions[row]].path, self.contents[row].as_py(), int(self.versions[row])
        )
        checked = bool(self.checked[row])
        check = (Check(f"{self.names.root}/controller_epoch", int(self.check_versions[row])),) if checked else ()
        return Transaction(
            int(self.zxids[row]),
            int(self.sessions[row]),
            int(self.cxids[row]),
            int(self.times[row]),
            (*check, write),
            checked,
        )
