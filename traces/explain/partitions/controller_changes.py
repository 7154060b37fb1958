"""The changes by controllers: those that are alike in all that explanations depend on are explained once."""

import numpy as np

from kafkaproof.traces.basics.columns import distinct, following
from kafkaproof.traces.basics.interned import Known, known
from kafkaproof.traces.evidence.broker_views import Sight
from kafkaproof.traces.evidence.state_changes import Partition
from kafkaproof.traces.evidence.streams import Evidence
from kafkaproof.traces.evidence.terms import ObservedTerm
from kafkaproof.traces.explain.partitions.case import Case, Repeated, case_of, is_overtaken, repeats_of, unclean_of
from kafkaproof.traces.explain.partitions.explained import ExplainedChanges, writer
from kafkaproof.traces.explain.partitions.explanations import Told, explainer_of
from kafkaproof.traces.reading.state_records import NOTHING
from kafkaproof.traces.zookeeper.znodes.topics import Place, PlaceKind


def explain_controlled(evidence: Evidence, rows: np.ndarray, found: ExplainedChanges) -> None:
    """Explain the changes in some rows."""
    changes, won = evidence.changes, evidence.claims.won[rows]
    for row in rows[~won].tolist():
        change = changes[row]
        found.refuse(
            row, f"written in controller epoch {change.after.controller_epoch} by {writer(change)}, who did not win it"
        )
    _Judge(evidence, found).explain(rows[won])


class _Judge:
    """Explains the changes of one stream by controllers."""

    def __init__(self, evidence: Evidence, found: ExplainedChanges):
        self._evidence, self._found, self._changes = evidence, found, evidence.changes
        self._explainer = explainer_of(evidence.features)
        self._given: dict[int, Known[Case]] = {}
        self._alike: dict[tuple[int, Known, Repeated | None], tuple[Told, int]] = {}

    def explain(self, rows: np.ndarray) -> None:
        """Explain all of them in order: within a term the view of /brokers/ids only moves forward."""
        changes, views, claims = self._changes, self._evidence.views, self._evidence.claims
        alike, codes = self._alike, []
        moments = views.moments(claims.codes[rows], claims.keys, changes.times[rows], changes.zxids[rows])
        columns = (
            rows,
            claims.codes[rows],
            changes.partitions[rows],
            changes.zxids[rows],
            self._inputs(rows),
            changes.states.leaders[changes.before[rows]],
            changes.before[rows],
        )
        for row, claim, partition, zxid, inputs, leader, before, moment in zip(
            *(column.tolist() for column in columns), moments
        ):
            term, name = claims.terms[claim], changes.names[partition]
            sights = views.sights(
                term, None if before == NOTHING else leader, term.elected.get(name, term.start), moment
            )
            repeats = self._repeats(row, name, term, zxid)
            told, code = alike.get((inputs, sights, repeats)) or self._tell(row, term, inputs, sights, repeats)
            term.last[name] = zxid
            codes.append(code)
            if not told.explanations:
                self._found.refuse(row, told.why, not term.unknown)
            if told.view is not None and told.view > term.view:
                term.see(zxid, told.view)
            if told.elected is not None:
                term.elected[name] = told.elected
                term.elections[name] = zxid, *told.explanations[0][:2]
        self._found.codes[rows] = codes

    def _repeats(self, row: int, name: Partition, term: ObservedTerm, zxid: int) -> Repeated | None:
        """The election that may be held again, since a write of the controller has met another version after it."""
        at = term.elections[name][0] if name in term.elections else zxid
        refused = self._evidence.failures.refused(term.session, at, zxid)
        return repeats_of(self._changes[row], term) if refused else None

    def _tell(
        self, row: int, term: ObservedTerm, inputs: int, sights: Known[tuple[Sight, ...]], repeats: Repeated | None
    ) -> tuple[Told, int]:
        """Explain a change that is like none before."""
        if inputs not in self._given:
            self._given[inputs] = known(case_of(self._changes[row], term, self._evidence))
        given = self._given[inputs]
        unclean = unclean_of(given.value, row, term, sights.value, self._evidence)
        told = self._explainer.tell(given, sights, unclean, repeats)
        self._alike[inputs, sights, repeats] = found = told, self._found.code(told.explanations)
        return found

    def _last(self, rows: np.ndarray) -> np.ndarray:
        """The zxid of the write before each by the same controller to the same state, or of its term's begin."""
        claims, found = self._evidence.claims, self._evidence.claims.starts[rows]
        later, earlier = following(distinct(claims.codes[rows], self._changes.partitions[rows])[1])
        found[later] = self._changes.zxids[rows][earlier]
        return found

    def _inputs(self, rows: np.ndarray) -> np.ndarray:
        """The same number for changes of which all is alike but for what controllers saw of /brokers/ids."""
        evidence, changes, states = self._evidence, self._changes, self._changes.states
        partitions, zxids = changes.partitions[rows], changes.zxids[rows]
        before, after, since = changes.before[rows], changes.after[rows], changes.since[rows]
        last = self._last(rows)
        starts, new, inputs = evidence.claims.starts[rows], before == NOTHING, evidence.inputs
        assigned = evidence.assigned
        first, now = assigned.places(partitions, starts), assigned.places(partitions, zxids)
        epochs = states.controller_epochs
        newer = ~new & (epochs[before] > epochs[after])
        overtaken = is_overtaken(epochs[before], epochs[after], since, starts)
        in_time = zxids <= evidence.claims.ends[rows]
        own = np.unique([topic for topic, _ in changes.names] or [""], return_inverse=True)[1][partitions]
        moments, lists = inputs.moments([topic for topic, _ in changes.names]), inputs.common.moments_of_lists()
        return distinct(
            states.held[before],
            states.held[after],
            np.where(new, 1 + np.arange(len(rows)), 0),
            assigned.ranges(first, now),
            now - assigned.places(partitions, last),
            partitions if len(lists) else own,
            *(np.searchsorted(moments, each, "right") for each in (starts, np.maximum(starts, since), zxids)),
            *(np.searchsorted(lists, each, "right") for each in (starts, last, zxids)),
            np.unique(changes.sessions[rows], return_inverse=True)[1] if len(lists) else np.zeros(len(rows), np.int64),
            self._remembered(rows, last, overtaken),
            2 * in_time + 4 * self._topic_follows(rows) + 8 * self._unknown(rows) + 16 * newer,
        )[1]

    def _remembered(self, rows: np.ndarray, last: np.ndarray, overtaken: np.ndarray) -> np.ndarray:
        """The same number for changes whose controllers may remember the same leaders, where another one has written."""
        changes, found = self._changes, np.zeros(len(rows), np.int64)
        codes: dict[frozenset[int], int] = {}
        for place in () if self._evidence.features.guarded else np.flatnonzero(overtaken).tolist():
            row = rows[place]
            name = changes.names[changes.partitions[row]]
            leaders = changes.leaders(name, int(last[place]), int(changes.zxids[row]))
            found[place] = codes.setdefault(leaders, 1 + len(codes))
        return found

    def _unknown(self, rows: np.ndarray) -> np.ndarray:
        """Where the term of the controller began before the log."""
        claims = self._evidence.claims
        return np.array([term is not None and term.unknown for term in claims.terms], bool)[claims.codes[rows]]

    def _topic_follows(self, rows: np.ndarray) -> np.ndarray:
        """Where leader and ISR stay, whether the controller writes the topic next."""
        changes, states = self._changes, self._changes.states
        found = np.zeros(len(rows), bool)
        same = states.held[changes.before[rows]] == states.held[changes.after[rows]]
        for place in np.flatnonzero(same & (changes.before[rows] != NOTHING)).tolist():
            row = rows[place]
            following = self._evidence.next_checked(int(changes.sessions[row]), int(changes.zxids[row]))
            found[place] = following == Place(PlaceKind.TOPIC, changes.names[changes.partitions[row]][0])
        return found
