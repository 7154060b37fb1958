"""The ISRs that leaders propose, and write or ask the controller to write (AlterPartition, 2.7+)."""

from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kafkaproof.traces.basics.columns import distinct
from kafkaproof.traces.evidence.state_changes import Change
from kafkaproof.traces.evidence.streams import Evidence
from kafkaproof.traces.explain.partitions.explained import ExplainedChanges, writer
from kafkaproof.traces.explain.partitions.explanations import Explanation
from kafkaproof.traces.explain.partitions.proposals import proposals_of
from kafkaproof.traces.explain.partitions.strategies import Elected, Strategy
from kafkaproof.traces.explain.partitions.ways import DELETION, DIRECTORY, REASSIGNMENT
from kafkaproof.traces.reading.state_records import NOTHING

BY_LEADER, BY_ALTER_PARTITION = "leader's own write", "AlterPartition"
OF_THE_LIVE = (DELETION, DIRECTORY, REASSIGNMENT)
"""What takes a replica out of an ISR though its broker may be live."""


def explain_proposals(evidence: Evidence, rows: np.ndarray, found: ExplainedChanges) -> None:
    """Explain the changes in some rows, whose leader epoch stays.

    A leader lets in replicas of any assignment since it was told to lead in its leader epoch.
    """
    changes = evidence.changes
    states, before, after = changes.states, changes.before[rows], changes.after[rows]
    stays = states.leads[after] & (states.leaders[after] == states.leaders[before])
    brokers = evidence.writes.brokers[changes.rows[rows]]
    leads = (brokers == states.leaders[after]) & (brokers != NOTHING)
    own = np.where(changes.checked[rows], evidence.claims.won[rows], leads)
    for row in rows[~stays].tolist():
        found.refuse(row, "the leader epoch stays, and the leader does not or is not in the ISR")
    for row in rows[stays & ~own].tolist():
        found.refuse(row, f"an ISR written by {writer(changes[row])}, who is neither leader nor controller")
    _explain(evidence, rows[stays & own], found)


def _explain(evidence: Evidence, rows: np.ndarray, found: ExplainedChanges) -> None:
    """Explain the proposals of leaders, those that are alike at once."""
    changes, assigned = evidence.changes, evidence.assigned
    began, partitions, states = _began(evidence)[rows], changes.partitions[rows], changes.states
    told = np.where(began == NOTHING, 0, changes.zxids[began])
    ranges = assigned.ranges(assigned.places(partitions, told), assigned.places(partitions, changes.zxids[rows]))
    alike = states.held[changes.before[rows]], states.held[changes.after[rows]], ranges
    first, kinds = distinct(*alike, changes.checked[rows].astype(np.int64), *_seen(evidence, rows, began, found))
    codes = np.zeros(len(first), np.int64)
    for kind, place in enumerate(first.tolist()):
        change = changes[rows[place]]
        told_by = BY_ALTER_PARTITION if change.checked else BY_LEADER
        proposal = _Proposal(change, int(rows[place]), int(began[place]), evidence, found).judged(int(told[place]))
        if isinstance(proposal, Strategy):
            codes[kind] = found.code(_proposed(proposal, told_by))
        else:
            for row in rows[kinds == kind].tolist():
                found.refuse(row, proposal)
    found.codes[rows] = codes[kinds]


def _began(evidence: Evidence) -> np.ndarray:
    """For each change the one by which its leader epoch began, NOTHING where that was before all."""
    changes = evidence.changes
    order, states = np.argsort(changes.partitions, kind="stable"), changes.states
    before, after = changes.before[order], changes.after[order]
    same = (before != NOTHING) & (states.leader_epochs[before] == states.leader_epochs[after])
    tells = np.where((after != NOTHING) & ~same, np.arange(len(order)), NOTHING)
    latest = np.maximum.accumulate(tells)
    own = np.searchsorted(changes.partitions[order], changes.partitions[order])
    found = np.zeros(len(order), np.int64)
    found[order] = np.where(latest >= own, order[latest], NOTHING)
    return found


def _seen(evidence: Evidence, rows: np.ndarray, began: np.ndarray, found: ExplainedChanges) -> tuple[np.ndarray, ...]:
    """All that changes depend on whose controllers look who is live: nothing, where none does."""
    changes, claims, brokers, states = (
        evidence.changes,
        evidence.claims,
        evidence.inputs.brokers,
        evidence.changes.states,
    )
    if not evidence.features.refuses_ineligible:
        return ()
    terms = (claims.terms[claims.codes[row]] for row in rows.tolist())
    first = [term.view_at(zxid) if term else 0 for term, zxid in zip(terms, changes.zxids[rows].tolist())]
    since = [np.where(began == NOTHING, NOTHING, each[began]) for each in (found.codes, changes.before, changes.after)]
    held = (np.where(each == NOTHING, NOTHING, states.held[each]) for each in since[1:])
    same_term = (claims.codes[began] == claims.codes[rows]).astype(np.int64)
    return brokers.counts(np.array(first, np.int64)), brokers.counts(changes.zxids[rows]), since[0], same_term, *held


class _Proposal(NamedTuple):
    """A change of an ISR by a leader: its row, and the row of the change by which the leader epoch `began`."""

    change: Change
    row: int
    began: int
    evidence: Evidence
    found: ExplainedChanges

    def judged(self, told: int) -> Strategy | str:
        """What a leader did to its ISR, or in words why it may not have."""
        change, evidence = self.change, self.evidence
        before, after = Elected(change.former.leader, frozenset(change.former.isr)), frozenset(change.written.isr)
        assigned = evidence.inputs.assignments(change.partition, told, change.zxid)
        members = before.isr.union(*(version.value.replicas for version in assigned))
        allowed = f"allowed there: a larger or a smaller one that has {before.leader}, of {sorted(members)}"
        if not before.isr < after and not after < before.isr:
            return f"no ISR that a leader may propose; {allowed}"
        proposals = proposals_of(evidence.features)
        if change.checked:
            live = self._live() if evidence.features.refuses_ineligible else members
            why = proposals.why_not_granted(before, after, members, live)
        else:
            why = proposals.why_not_written(before, after, members)
        if why:
            return f"no ISR that a leader may propose: {why}; {allowed}"
        return Strategy.ISR_EXPAND if before.isr < after else Strategy.ISR_SHRINK

    def _live(self) -> frozenset[int]:
        """Whom the controller may take for live, and not for shutting down."""
        term = self.evidence.claims.terms[self.evidence.claims.codes[self.row]]
        views = self.evidence.inputs.brokers.between(term.view_at(self.change.zxid), self.change.zxid)
        return frozenset().union(*(view.value for view in views)) - self._gone()

    def _gone(self) -> frozenset[int]:
        """Whom the controller took out of the ISR since they went, or began to shut down, and who have not come since. A later
        controller does not know who asked an earlier one for a shutdown.
        """
        began, terms = None if self.began == NOTHING else self.found[self.began], self.evidence.claims.codes
        if began is None or began.change.before is None or not began.explanations:
            return frozenset()
        if terms[self.began] != terms[self.row]:
            return frozenset()
        views = [each.view for each in began.explanations if each.trigger not in OF_THE_LIVE and each.view is not None]
        if len(views) < len(began.explanations):
            return frozenset()
        versions = self.evidence.inputs.brokers.between(min(views), self.change.zxid)
        come = frozenset().union(*(after.value - before.value for before, after in pairwise(versions)))
        return frozenset(began.change.former.isr) - frozenset(began.change.written.isr) - come


@cache
def _proposed(strategy: Strategy, trigger: str) -> tuple[Explanation, ...]:
    return (Explanation(strategy, trigger, None),)
