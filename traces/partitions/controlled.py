"""The changes by controllers: those that are alike in all that explanations depend on are explained once."""

from typing import NamedTuple

import numpy as np

from traces.evidence import Evidence
from traces.partitions.case import Case, Repeated, case_of, repeats_of
from traces.partitions.explained import UNEXPLAINED, ExplainedChanges, writer
from traces.partitions.explanations import Explanation, explainer_of
from traces.partitions.views import Sight
from traces.pipeline.columns import distinct
from traces.pipeline.states import NOTHING
from traces.reigns import Reign
from traces.znodes.places import Place

ELECTIONS = ("new_topic", "offline", "offline_unclean", "preferred", "reassign", "controlled_shutdown")


class _Told(NamedTuple):
    """What is told of changes that are alike: the code of their explanations, or why there are none.

    `view`: the oldest that their controller can have had, None where that is not known; `elected`: the same of an
    election, None of other changes; `strategy`, `trigger`: the preferred ones.
    """

    code: int
    why: str = ""
    view: int | None = None
    elected: int | None = None
    strategy: str = ""
    trigger: str = ""


def explain_controlled(evidence: Evidence, rows: np.ndarray, found: ExplainedChanges) -> None:
    """Explain the changes in some rows."""
    changes, won = evidence.changes, evidence.claims.won[rows]
    for row in rows[~won].tolist():
        change = changes[row]
        found.refuse(row, f"written in controller epoch {change.after.controller_epoch} by {writer(change)}, "
                          "who did not win it")
    _Judge(evidence, found).explain(rows[won])


class _Judge:
    """Explains the changes of one stream by controllers."""

    def __init__(self, evidence: Evidence, found: ExplainedChanges):
        self._evidence, self._found, self._changes = evidence, found, evidence.changes
        self._explainer = explainer_of(evidence.features)
        self._alike: dict[tuple, tuple[_Told, tuple[Sight, ...]]] = {}

    def explain(self, rows: np.ndarray) -> None:
        """Explain all of them in order: within a reign the view of /brokers/ids only moves forward."""
        changes, views, claims = self._changes, self._evidence.views, self._evidence.claims
        last, codes = self._last(rows), []
        moments = views.moments(claims.codes[rows], claims.keys, changes.times[rows], changes.zxids[rows])
        columns = (rows, claims.codes[rows], changes.partitions[rows], changes.zxids[rows], self._inputs(rows, last),
                   changes.states.leaders[changes.before[rows]], changes.before[rows])
        for row, claim, partition, zxid, inputs, leader, before, moment in zip(
                *(column.tolist() for column in columns), moments):
            reign, name = claims.reigns[claim], changes.names[partition]
            sights = views.sights(reign, None if before == NOTHING else leader, reign.elected.get(name, reign.start),
                                  moment)
            repeats = self._repeats(row, name, reign)
            told, _ = self._alike.get((inputs, id(sights), repeats)) or self._tell(row, reign, inputs, sights, repeats)
            reign.last[name] = zxid
            codes.append(told.code)
            if told.why:
                self._found.refuse(row, told.why, not reign.unknown)
            if told.view is not None and told.view > reign.view:
                reign.see(zxid, told.view)
            if told.elected is not None:
                reign.elected[name] = told.elected
                reign.elections[name] = zxid, told.strategy, told.trigger
        self._found.codes[rows] = codes

    def _repeats(self, row: int, name: tuple[str, int], reign: Reign) -> Repeated | None:
        if self._evidence.features.kip455 or name not in reign.elections:
            return None
        return repeats_of(self._changes[row], reign, self._evidence)

    def _tell(self, row: int, reign: Reign, inputs: int, sights: tuple[Sight, ...],
              repeats: Repeated | None) -> tuple[_Told, tuple[Sight, ...]]:
        """Explain a change; its sights are kept, so that no others get their id."""
        case = case_of(self._changes[row], reign, self._evidence, sights, repeats)
        found = self._explainer.explanations(case)
        told = self._told(found) if found else _Told(UNEXPLAINED, why_not(case, self._explainer.allowed(case)))
        self._alike[inputs, id(sights), repeats] = told, sights
        return told, sights

    def _told(self, found: tuple[Explanation, ...]) -> _Told:
        views, first = [e.view for e in found], found[0]
        elected = min(e.view for e in found if e.strategy in ELECTIONS) if first.strategy in ELECTIONS else None
        return _Told(self._found.code(found), "", None if None in views else min(views), elected, *first[:2])

    def _last(self, rows: np.ndarray) -> np.ndarray:
        """The zxid of the write before each by the same controller to the same state, or of its reign's begin."""
        claims, partitions = self._evidence.claims.codes[rows], self._changes.partitions[rows]
        found = self._evidence.claims.starts[rows]
        order = np.lexsort((partitions, claims))
        again = np.flatnonzero((np.diff(claims[order]) == 0) & (np.diff(partitions[order]) == 0))
        found[order[again + 1]] = self._changes.zxids[rows][order[again]]
        return found

    def _inputs(self, rows: np.ndarray, last: np.ndarray) -> np.ndarray:
        """The same number for changes of which all is alike but for what controllers saw of /brokers/ids."""
        evidence, changes, states = self._evidence, self._changes, self._changes.states
        claims, partitions, zxids = evidence.claims.codes[rows], changes.partitions[rows], changes.zxids[rows]
        before, after, since = changes.before[rows], changes.after[rows], changes.since[rows]
        starts, new, inputs = evidence.claims.starts[rows], before == NOTHING, evidence.inputs
        assigned = evidence.assigned
        first, now = assigned.places(partitions, starts), assigned.places(partitions, zxids)
        overtaken = (states.controller_epochs[before] != states.controller_epochs[after]) & (since > starts)
        in_time = zxids <= evidence.claims.ends[rows]
        own = np.unique([topic for topic, _ in changes.names] or [""], return_inverse=True)[1][partitions]
        moments, lists = inputs.moments([topic for topic, _ in changes.names]), inputs.common.moments_of_lists()
        return distinct(
            claims, states.held[before], states.held[after], np.where(new, 1 + np.arange(len(rows)), 0),
            assigned.ranges(first, now), now - assigned.places(partitions, last),
            partitions if len(lists) else own,
            *(np.searchsorted(moments, each, "right") for each in (zxids, np.maximum(starts, since))),
            *(np.searchsorted(lists, each, "right") for each in (zxids, last)),
            overtaken + 2 * in_time + 4 * self._topic_follows(rows))[1]

    def _topic_follows(self, rows: np.ndarray) -> np.ndarray:
        """Where leader and ISR stay, whether the controller writes the topic next."""
        changes, states = self._changes, self._changes.states
        found = np.zeros(len(rows), bool)
        same = states.held[changes.before[rows]] == states.held[changes.after[rows]]
        for place in np.flatnonzero(same & (changes.before[rows] != NOTHING)).tolist():
            row = rows[place]
            following = self._evidence.next_checked(int(changes.sessions[row]), int(changes.zxids[row]))
            found[place] = following == Place("topic", changes.names[changes.partitions[row]][0])
        return found


def why_not(case: Case, allowed: list[str]) -> str:
    """Why nothing explains a controller's change: what it may have read, and what it might have written by that."""
    orders = " or ".join(str(list(order)) for order in case.assignments) or "unknown"
    views = ", ".join(f"{sorted(view.brokers)} since {view.zxid:#x}" for view, *_ in case.sights)
    return f"no strategy gives this with assignment {orders} and a view of /brokers/ids of {views}; " \
           f"allowed there: {', '.join(allowed) or 'nothing'}"
