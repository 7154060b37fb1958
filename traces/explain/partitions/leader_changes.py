"""The ISRs that leaders propose, and write or ask the controller to write (AlterPartition, 2.7+)."""

from functools import cache

import numpy as np

from kafkaproof.traces.basics.columns import distinct
from kafkaproof.traces.evidence.state_changes import Change
from kafkaproof.traces.evidence.streams import Evidence
from kafkaproof.traces.explain.partitions.explained import ExplainedChanges, writer
from kafkaproof.traces.explain.partitions.explanations import Explanation
from kafkaproof.traces.explain.partitions.proposals import proposals_of
from kafkaproof.traces.explain.partitions.strategies import Elected, Strategy
from kafkaproof.traces.reading.state_records import NOTHING

BY_LEADER, BY_ALTER_PARTITION = "leader's own write", "AlterPartition"


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
    told, partitions, states = _told(evidence)[rows], changes.partitions[rows], changes.states
    ranges = assigned.ranges(assigned.places(partitions, told), assigned.places(partitions, changes.zxids[rows]))
    first, kinds = distinct(
        states.held[changes.before[rows]], states.held[changes.after[rows]], ranges, *_views(evidence, rows)
    )
    codes = np.zeros(len(first), np.int64)
    for kind, place in enumerate(first.tolist()):
        change = changes[rows[place]]
        told_by = BY_ALTER_PARTITION if change.checked else BY_LEADER
        proposal = _proposal(change, int(rows[place]), evidence, int(told[place]))
        if isinstance(proposal, Strategy):
            codes[kind] = found.code(_proposed(proposal, told_by))
        else:
            for row in rows[kinds == kind].tolist():
                found.refuse(row, proposal)
    found.codes[rows] = codes[kinds]


def _told(evidence: Evidence) -> np.ndarray:
    """For each change the zxid at which the leader was told to lead in its leader epoch, 0 where it was before all."""
    changes = evidence.changes
    order, states = np.argsort(changes.partitions, kind="stable"), changes.states
    before, after = changes.before[order], changes.after[order]
    same = (before != NOTHING) & (states.leader_epochs[before] == states.leader_epochs[after])
    tells = np.where((after != NOTHING) & ~same, np.arange(len(order)), NOTHING)
    latest = np.maximum.accumulate(tells)
    own = np.searchsorted(changes.partitions[order], changes.partitions[order])
    found = np.zeros(len(order), np.int64)
    found[order] = np.where(latest >= own, changes.zxids[order][latest], 0)
    return found


def _views(evidence: Evidence, rows: np.ndarray) -> tuple[np.ndarray, ...]:
    """Whether the controller writes each change, and the first and the last version of /brokers/ids by which it may."""
    changes, claims, brokers = evidence.changes, evidence.claims, evidence.inputs.brokers
    checked, first = changes.checked[rows], np.zeros(len(rows), np.int64)
    if not evidence.features.refuses_ineligible:
        return (checked.astype(np.int64),)
    for place in np.flatnonzero(checked).tolist():
        zxid = int(changes.zxids[rows[place]])
        first[place] = claims.terms[claims.codes[rows[place]]].view_at(zxid)
    return checked.astype(np.int64), brokers.counts(first), np.where(checked, brokers.counts(changes.zxids[rows]), 0)


def _proposal(change: Change, row: int, evidence: Evidence, told: int) -> Strategy | str:
    """What a leader did to its ISR, or in words why it may not have."""
    before, after = Elected(change.former.leader, frozenset(change.former.isr)), frozenset(change.written.isr)
    assigned = evidence.inputs.assignments(change.partition, told, change.zxid)
    members = before.isr.union(*(version.value.replicas for version in assigned))
    allowed = f"allowed there: a larger or a smaller one that has {before.leader}, of {sorted(members)}"
    if not before.isr < after and not after < before.isr:
        return f"no ISR that a leader may propose; {allowed}"
    proposals = proposals_of(evidence.features)
    if change.checked:
        why = proposals.why_not_granted(before, after, members, _live(change, row, members, evidence))
    else:
        why = proposals.why_not_written(before, after, members)
    if why:
        return f"no ISR that a leader may propose: {why}; {allowed}"
    return Strategy.ISR_EXPAND if before.isr < after else Strategy.ISR_SHRINK


def _live(change: Change, row: int, members: frozenset[int], evidence: Evidence) -> frozenset[int]:
    """Whom the controller may take for live; all, where its releases do not ask of whom an ISR is."""
    if not evidence.features.refuses_ineligible:
        return members
    term = evidence.claims.terms[evidence.claims.codes[row]]
    views = evidence.inputs.brokers.between(term.view_at(change.zxid), change.zxid)
    return frozenset().union(*(view.value for view in views))


@cache
def _proposed(strategy: Strategy, trigger: str) -> tuple[Explanation, ...]:
    return (Explanation(strategy, trigger, None),)
