"""What happened in one stream of a log, and in all of them together."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.basics.columns import distinct
from kafkaproof.traces.evidence.state_changes import Change, Changes
from kafkaproof.traces.evidence.streams import Evidence
from kafkaproof.traces.explain.facts.expectations import UNEXPECTED, Broken, broken_by
from kafkaproof.traces.explain.facts.leaderless import Leaderless, alone, is_unclean, without_leader
from kafkaproof.traces.explain.facts.outside_assignment import Outside, outside_in
from kafkaproof.traces.explain.facts.terms import Written, states_by
from kafkaproof.traces.explain.topics.history import Deletion
from kafkaproof.traces.reading.state_records import NOTHING


@dataclass
class StreamFacts:
    """Unclean elections, times without a leader, ISRs outside the assignment, what controllers wrote, what might be
    expected and was not so.

    `lost`: how many states took the leader from a partition; `kept_alone`: how many kept only that leader in the ISR.
    """

    unclean: list[Change]
    leaderless: list[Leaderless]
    outside: list[Outside]
    lost: int
    kept_alone: int
    written: list[Written]
    broken: list[Broken]


def facts_in(evidence: Evidence, deletions: list[Deletion]) -> StreamFacts:
    """The facts of one stream, of whose topics these are the deletions."""
    changes, states = evidence.changes, evidence.changes.states
    known, is_state = changes.before != NOTHING, changes.after != NOTHING
    led = known & (states.leaders[changes.before] != NOBODY)
    nobody = is_state & (states.leaders[changes.after] == NOBODY)
    elected = known & is_state & ~nobody & (states.leaders[changes.before] != states.leaders[changes.after])
    lost = np.flatnonzero(led & nobody)
    first, kinds = distinct(states.held[changes.before[lost]], states.held[changes.after[lost]])
    kept_alone = np.array([alone(change) for change in changes.at(lost[first])], bool)[kinds]
    leaderless = without_leader(changes.at(np.flatnonzero(~led | nobody)), deletions)
    written = states_by(evidence.controllers, evidence.common.moments, changes, evidence.claims)
    unclean = _unclean(changes, np.flatnonzero(elected))
    return StreamFacts(
        unclean, leaderless, outside_in(evidence), len(lost), int(kept_alone.sum()), written, broken_by(evidence)
    )


def _unclean(changes: Changes, rows: np.ndarray) -> list[Change]:
    """The unclean elections among changes that elect a leader."""
    states = changes.states
    first, kinds = distinct(states.held[changes.before[rows]], states.held[changes.after[rows]])
    unclean = np.array([is_unclean(change) for change in changes.at(rows[first])], bool)[kinds]
    return changes.at(rows[unclean])


def facts_together(found: Iterable[StreamFacts]) -> StreamFacts:
    """The facts of all streams, in the order of the log."""
    whole = StreamFacts([], [], [], 0, 0, [], [])
    written: dict[tuple[int, int | None], Written] = {}
    broken: dict[str, Broken] = {}
    for each in found:
        whole.unclean += each.unclean
        whole.leaderless += each.leaderless
        whole.outside += each.outside
        whole.lost, whole.kept_alone = whole.lost + each.lost, whole.kept_alone + each.kept_alone
        for term in each.written:
            written.setdefault((term.epoch, term.session), term.nothing()).add(term)
        for one in each.broken:
            known = broken.setdefault(one.text, Broken(one.text, one.zxid))
            known.zxid, known.count = min(known.zxid, one.zxid), known.count + one.count
    whole.unclean.sort(key=lambda change: (change.zxid, change.topic))
    whole.leaderless.sort(key=lambda time: time.zxid)
    whole.outside.sort(key=lambda time: (time.zxid, time.partition))
    whole.written, whole.broken = list(written.values()), [broken[text] for text in UNEXPECTED if text in broken]
    return whole
