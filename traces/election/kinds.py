"""Many records that set states, by what of them matters to the election system."""

import numpy as np

from traces.cluster import Members
from traces.pipeline.states import StateWrites


class Kinds:
    """Records of one kind are of one session, and observed alike; there are few kinds.

    `of`: the kind of each record; `rows`: of each kind its first record.
    """

    def __init__(self, writes: StateWrites, members: Members, guarded: bool):
        """`guarded`: each write of a controller is checked against the epoch."""
        self.writes, self._members = writes, members
        sessions, places = np.unique(writes.sessions, return_inverse=True)
        self._sessions = [int(session) for session in sessions]
        forms = self._forms(guarded, places)
        columns = places, forms, *(_places(c.controller_epochs) for c in (writes.states, writes.known))
        codes = np.zeros(len(writes), np.int64)
        for column in columns:
            codes = codes * (int(column.max()) + 1) + column
        _, self.rows, self.of = np.unique(codes, return_index=True, return_inverse=True)

    def _forms(self, guarded: bool, places: np.ndarray) -> np.ndarray:
        """Whether a controller wrote (0), the leader (1), or neither may have (2)."""
        states, known = self.writes.states, self.writes.known
        forms = np.zeros(len(self.writes), np.int64)
        raised = np.zeros(len(forms), bool) if guarded else states.leader_epochs > known.leader_epochs
        rows = np.flatnonzero(~self.writes.checked & ~raised)
        if len(rows):
            pairs, codes = np.unique(np.stack([places[rows], states.held[rows]]), axis=1, return_inverse=True)
            own = np.array([self._leads(*pair) for pair in pairs.T.tolist()])[codes.ravel()]
            same = ~self.writes.elects[rows] & (states.leader_epochs[rows] == known.leader_epochs[rows])
            forms[rows] = np.where(own & same, 1, 2)
        return forms

    def _leads(self, place: int, held: int) -> bool:
        """Whether it is the leader's session, and the leader in the ISR."""
        leader, isr = self.writes.names.held.values[held]
        return leader == self._members.broker_of.get(self._sessions[place]) and leader in isr


def _places(column: np.ndarray) -> np.ndarray:
    """The place of each value among the different ones."""
    return np.unique(column, return_inverse=True)[1]
