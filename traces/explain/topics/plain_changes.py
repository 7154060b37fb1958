"""Changes of partition states that tell nothing of topics and reassignments, which nearly all of them do not."""

from bisect import bisect_left

import numpy as np

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.basics.columns import distinct
from kafkaproof.traces.evidence.streams import Evidence
from kafkaproof.traces.evidence.writes import Write
from kafkaproof.traces.explain.partitions.explained import ExplainedChanges
from kafkaproof.traces.explain.partitions.ways import DELETION, REASSIGNMENT
from kafkaproof.traces.explain.topics.context import Context
from kafkaproof.traces.reading.state_records import NOTHING


class PlainChanges:
    """Passes by such changes: all that is left of them is who wrote them, and the state that stands then.

    All others are to be judged: those that create a state, may be of a reassignment or a deletion, or take the leader
    away when the deletion of the topic may be known, and whatever comes while its controller is in the middle of
    something.
    """

    def __init__(self, evidence: Evidence, explained: ExplainedChanges):
        self._evidence, changes, states = evidence, evidence.changes, evidence.changes.states
        rare = np.array([any(e.trigger in (REASSIGNMENT, DELETION) for e in value) for value in explained.values])
        marked = np.array([evidence.inputs.first_marked(topic) for topic, _ in changes.names], np.int64)
        doomed = (states.leaders[changes.after] == NOBODY) & (changes.zxids >= marked[changes.partitions])
        special = rare[explained.codes] | (changes.before == NOTHING) | (changes.after == NOTHING) | doomed
        self._special = np.flatnonzero(special | evidence.writes.creates[changes.rows])
        self._writes = dict(zip(self._special.tolist(), evidence.writes.at(changes.rows[self._special])))
        self._rows, self._ends = changes.rows, [*self._special.tolist(), len(changes)]
        self._controlled = self._controls()
        self._starts = np.where(self._controlled, evidence.claims.starts, NOTHING).tolist()
        topics = np.unique([topic for topic, _ in changes.names] or [""], return_inverse=True)[1][changes.partitions]
        controllers = np.where(self._controlled, 1 + evidence.claims.codes, 0)
        self._writers, self._partitions = distinct(controllers, topics)[1].tolist(), changes.partitions.tolist()

    def _controls(self) -> np.ndarray:
        """Which changes the thread of a controller's events wrote, not a leader; those without a state need not be."""
        changes, states = self._evidence.changes, self._evidence.changes.states
        ruled = self._evidence.claims.ruled
        if self._evidence.features.guarded:
            return ruled & changes.checked
        new = changes.before == NOTHING
        return ruled & (new | (states.leader_epochs[changes.before] != states.leader_epochs[changes.after]))

    def write(self, row: int) -> Write:
        """The write of a change."""
        return self._writes.get(row) or self._evidence.writes[int(self._rows[row])]

    def pass_by(self, first: int, end: int, context: Context) -> int:
        """Pass by changes from a row on, as many as there are before another one or `end`; returns how many."""
        starts, works = self._starts, context.works
        stop = min(end, self._ends[bisect_left(self._ends, first)])
        if works:
            stop = next((row for row in range(first, stop) if starts[row] in works), stop)
        if first < stop:
            rows = _last(self._writers, first, stop)
            written = zip(map(starts.__getitem__, rows), self._evidence.changes.at(rows))
            context.pass_by(written, self._evidence.changes.at(_last(self._partitions, first, stop)))
        return stop - first

    def add_threads(self, threads: dict[tuple[int, int], list[int]]) -> None:
        """Add the zxids of all changes by controllers to those of their other writes."""
        claims, zxids = self._evidence.claims, self._evidence.changes.zxids
        for code in np.unique(claims.codes[self._controlled]).tolist():
            threads[claims.keys[code]] += zxids[self._controlled & (claims.codes == code)].tolist()


def _last(codes: list[int], first: int, stop: int) -> np.ndarray:
    """The last row of each code among some rows, in their order."""
    return np.array(sorted(dict(zip(codes[first:stop], range(first, stop))).values()), np.int64)
