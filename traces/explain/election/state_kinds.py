"""Many records that set states, by what of them matters to the election system."""

import numpy as np

from kafkaproof.traces.basics.columns import distinct
from kafkaproof.traces.reading.cluster import Members
from kafkaproof.traces.reading.state_records import StateWrites


class Kinds:
    """Records of one kind are of one session, and observed alike; there are few kinds.

    `of`: the kind of each record; `rows`: of each kind its first record.
    """

    def __init__(self, writes: StateWrites, members: Members, guarded: bool):
        """`guarded`: each write of a controller is checked against the epoch."""
        self.writes, self._members = writes, members
        places = np.unique(writes.sessions, return_inverse=True)[1]
        forms = self._forms(guarded, places)
        epochs = (np.unique(each.controller_epochs, return_inverse=True)[1] for each in (writes.states, writes.known))
        self.rows, self.of = distinct(places, forms, *epochs)

    def _forms(self, guarded: bool, places: np.ndarray) -> np.ndarray:
        """Whether a controller wrote (0), the leader (1), or neither may have (2)."""
        states, known = self.writes.states, self.writes.known
        forms = np.zeros(len(self.writes), np.int64)
        raised = np.zeros(len(forms), bool) if guarded else states.leader_epochs > known.leader_epochs
        rows = np.flatnonzero(~self.writes.checked & ~raised)
        if len(rows):
            first, codes = distinct(places[rows], states.held[rows])
            own = np.array([self._leads(row) for row in rows[first].tolist()])[codes]
            same = ~self.writes.elects[rows] & (states.leader_epochs[rows] == known.leader_epochs[rows])
            forms[rows] = np.where(own & same, 1, 2)
        return forms

    def _leads(self, row: int) -> bool:
        """Whether it is the leader's session, and the leader in the ISR."""
        leader, isr = self.writes.names.held.values[self.writes.states.held[row]]
        return leader == self._members.broker_of.get(int(self.writes.sessions[row])) and leader in isr
