"""The states of all partitions at a moment of a sweep."""

from collections.abc import Iterable

import numpy as np

from kafkaproof.traces.basics.columns import following
from kafkaproof.traces.reading.state_records import NOTHING, Held, Names, StateColumns, StateWrites
from kafkaproof.traces.zookeeper.snapshot import Znode
from kafkaproof.traces.zookeeper.znodes.contents import PartitionState, state_in

_FIELDS = 4


class Standing:
    """What stands in the znode of each state, by the codes of `Names.states`, and the version of that znode."""

    def __init__(self, names: Names, nodes: Iterable[tuple[str, Znode]]):
        """`nodes`: all znodes there are, by their paths in the log."""
        self._names = names
        self._columns = np.full((_FIELDS, 0), NOTHING, np.int32)
        for path, node in nodes:
            if (code := names.state_at(path)) != NOTHING:
                self.write(code, node)

    def __getitem__(self, code: int) -> PartitionState | None:
        """The state of a partition, None where the znode holds none or does not exist."""
        self._fit()
        return self._states.at(code, self._names)

    def at(self, path: str) -> PartitionState | None:
        """The same by the path of the znode in the log."""
        return self[self._names.state_at(path)]

    def held_at(self, path: str) -> tuple[PartitionState | None, int] | None:
        """The state, and the version of its znode, by its path in the log; None where that is no state's."""
        code = self._names.state_at(path)
        return None if code == NOTHING else (self[code], self.version(code))

    def version(self, code: int) -> int:
        """The version of the znode; it means nothing where that does not exist."""
        self._fit()
        return int(self._columns[3, code])

    def write(self, code: int, node: Znode | None) -> None:
        """The znode is this now, or (None) does not exist."""
        self._fit()
        state = state_in(node.data) if node else None
        values = (self._names.held.of(Held(state.leader, state.isr)), *state[1:3]) if state else (NOTHING,) * 3
        self._columns[:, code] = *values, node.version if node else NOTHING

    def before(self, writes: StateWrites) -> tuple[StateColumns, np.ndarray]:
        """What stood before each of some writes in a row, and the version of the znode then."""
        self._fit()
        partitions = writes.partitions
        later, earlier = following(partitions)
        found = self._columns[:, partitions]
        states = writes.states
        for row, column in enumerate((states.held, states.leader_epochs, states.controller_epochs, writes.versions)):
            found[row, later] = column[earlier]
        return StateColumns(*found[:3]), found[3]

    def take(self, writes: StateWrites) -> None:
        """Go on by some writes; of several of one state the last counts."""
        states = writes.states
        self._columns[:, writes.partitions] = (
            states.held,
            states.leader_epochs,
            states.controller_epochs,
            writes.versions,
        )

    @property
    def _states(self) -> StateColumns:
        return StateColumns(*self._columns[:3])

    def _fit(self) -> None:
        """Have room for all partitions."""
        have, want = self._columns.shape[1], len(self._names.states.values)
        if have < want:
            more = np.full((_FIELDS, max(want, 2 * have) - have), NOTHING, np.int32)
            self._columns = np.concatenate([self._columns, more], axis=1)
