"""The states of partitions in a stream by columns: most contents differ, and nearly none of them is read alone."""

import numpy as np
import pyarrow as pa

from kafkaproof.traces.basics.columns import distinct, numbers
from kafkaproof.traces.reading.meanings import number_in_states, taken_apart
from kafkaproof.traces.reading.state_records import NOTHING, Codes
from kafkaproof.traces.zookeeper.znodes.contents import PartitionState, is_recovering, listed_ids, state_in

_NONE = PartitionState(NOTHING, NOTHING, NOTHING, ())


class States:
    """Different states by columns; the last row, that of NOTHING, is no state.

    `valid`: which are states; `held`: codes of `different`, which are leaders and members of ISRs; `leads`: the leader
    is in the ISR; `repeats`: the ISR has a replica twice; `recovering`: leader_recovery_state is RECOVERING (3.2+).
    """

    def __init__(self, contents: pa.Array):
        """`contents`: what znodes hold, the last of them nothing."""
        apart = taken_apart(contents)
        is_usual = apart.is_valid().to_numpy(zero_copy_only=False)
        usual, others = apart.filter(pa.array(is_usual)), np.flatnonzero(~is_usual)
        unusual = contents.take(pa.array(others)).to_pylist()
        found = [state_in(content) for content in unusual]
        order = np.empty(len(contents), np.int64)
        order[np.concatenate([np.flatnonzero(is_usual), others])] = np.arange(len(contents))
        self.valid = np.array([True] * len(usual) + [state is not None for state in found], bool)[order]
        recovering = [state is not None and is_recovering(content) for state, content in zip(found, unusual)]
        self.recovering = np.array([False] * len(usual) + recovering, bool)[order]
        self._take(usual, [state or _NONE for state in found], order)
        self._hold()

    def _take(self, usual: pa.StructArray, others: list[PartitionState], order: np.ndarray) -> None:
        """Have the columns of the usual states and of the others, each of which has its place by an order."""
        self.leaders, self.leader_epochs, self.controller_epochs = (
            np.concatenate([number_in_states(usual, name), numbers(getattr(state, name) for state in others)])[order]
            for name in PartitionState._fields[:3]
        )
        isrs, listed = Codes[tuple[int, ...]](), usual.field("isr").dictionary_encode()
        codes = np.array([isrs.of(listed_ids(each)) for each in listed.dictionary.to_pylist()], np.int64)
        rest = np.array([isrs.of(state.isr) for state in others], np.int64)
        self._isrs, self._codes = isrs.values, np.concatenate([codes[listed.indices.to_numpy()], rest])[order]

    def _hold(self) -> None:
        """Number leaders with ISRs in the order in which they first come."""
        first, codes = distinct(np.unique(self.leaders, return_inverse=True)[1], self._codes)
        rows, held = np.sort(first), Codes[tuple[int, frozenset[int]]]()
        codes = np.searchsorted(rows, first)[codes]
        listed = [(int(self.leaders[row]), self._isrs[self._codes[row]]) for row in rows.tolist()]
        self.held = np.array([held.of((leader, frozenset(isr))) for leader, isr in listed], np.int64)[codes]
        self.different = held.values
        self.repeats = np.array([len(set(isr)) < len(isr) for _, isr in listed], bool)[codes]
        self.leads = np.array([leader in isr for leader, isr in listed], bool)[codes]

    def __getitem__(self, code: int) -> PartitionState | None:
        """One of them."""
        if not self.valid[code]:
            return None
        return PartitionState(
            int(self.leaders[code]),
            int(self.leader_epochs[code]),
            int(self.controller_epochs[code]),
            self._isrs[self._codes[code]],
        )

    def at(self, codes: np.ndarray) -> list[PartitionState | None]:
        """Some of them."""
        columns = self.valid, self.leaders, self.leader_epochs, self.controller_epochs
        rows = zip(*(column[codes].tolist() for column in columns), self.isrs(codes))
        return [PartitionState(*state) if valid else None for valid, *state in rows]

    def isrs(self, codes: np.ndarray) -> list[tuple[int, ...]]:
        """The ISRs of some of them, empty for what is no state."""
        return list(map(self._isrs.__getitem__, self._codes[codes].tolist()))
