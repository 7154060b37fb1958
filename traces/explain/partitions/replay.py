"""Follows all partition states of a recording and explains each of their changes."""

from math import inf

import numpy as np

from kafkaproof.traces.evidence.state_changes import Changes
from kafkaproof.traces.evidence.streams import Evidence
from kafkaproof.traces.explain.partitions.controller_changes import explain_controlled
from kafkaproof.traces.explain.partitions.explained import ExplainedChanges
from kafkaproof.traces.explain.partitions.leader_changes import explain_proposals
from kafkaproof.traces.explain.partitions.strategies import Elected, may_be_recovering
from kafkaproof.traces.reading.state_records import NOTHING


def explain_changes(evidence: Evidence, end: float = inf) -> ExplainedChanges:
    """Explain each change of a partition's state in a stream by what controllers may have read, up to a zxid `end`."""
    changes, states = evidence.changes, evidence.changes.states
    found, before, after = ExplainedChanges(changes), changes.before, changes.after
    known = before != NOTHING
    stays = known & (states.leader_epochs[before] == states.leader_epochs[after])
    expected = np.where(known, states.leader_epochs[before] + 1, 0)
    rest = changes.zxids < end
    for wrong, why in (
        (after == NOTHING, lambda row: "what is written is no partition state"),
        (states.repeats[after], lambda row: "the ISR has a replica twice"),
        (
            ~stays & (states.leader_epochs[after] != expected),
            lambda row: f"leader epoch {states.leader_epochs[after[row]]}, where it can only be {expected[row]}",
        ),
        (
            _is_no_recovery(changes),
            lambda row: (
                "RECOVERING, which begins only with an election outside the ISR, of a leader that is alone in it"
            ),
        ),
    ):
        for row in np.flatnonzero(rest & wrong).tolist():
            found.refuse(row, why(row))
        rest &= ~wrong
    explain_controlled(evidence, np.flatnonzero(rest & ~stays), found)
    explain_proposals(evidence, np.flatnonzero(rest & stays), found)
    return found


def _is_no_recovery(changes: Changes) -> np.ndarray:
    """Which changes write RECOVERING where no Kafka does; a new partition is RECOVERED."""
    states = changes.states
    found = states.recovering[changes.after]
    for row in np.flatnonzero(found & (changes.before != NOTHING)).tolist():
        before, after = changes.before[row], changes.after[row]
        _, isr = states.different[states.held[before]]
        written = Elected(*states.different[states.held[after]])
        found[row] = not may_be_recovering(bool(states.recovering[before]), isr, written)
    return found
