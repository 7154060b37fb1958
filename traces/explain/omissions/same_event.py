"""Writes of handlers that concern all partitions of a broker: it is gone, or shuts down."""

from typing import NamedTuple

import numpy as np

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.basics.columns import Rows
from kafkaproof.traces.evidence.streams import Evidence
from kafkaproof.traces.evidence.terms import TermKey
from kafkaproof.traces.explain.partitions.explained import ExplainedChanges
from kafkaproof.traces.explain.partitions.explanations import Explanation
from kafkaproof.traces.explain.partitions.strategies import Strategy
from kafkaproof.traces.explain.partitions.ways import FAILOVER, FAILURE, SHUTDOWN, START_UP
from kafkaproof.traces.reading.state_records import NOTHING

_STRATEGIES = {Strategy.OFFLINE, Strategy.OFFLINE_UNCLEAN, Strategy.CONTROLLED_SHUTDOWN, Strategy.REMOVAL}
_TRIGGERS = {FAILURE, FAILOVER, START_UP, SHUTDOWN}


class Sibling(NamedTuple):
    """A write that takes a broker out of a partition's state: whom it elects (NOBODY where it elects none), by which
    controller (epoch and session), and what explains it."""

    zxid: int
    gone: int
    elected: int
    term_key: TermKey
    explanations: tuple[Explanation, ...]


def siblings_in(evidence: Evidence, explained: ExplainedChanges) -> Rows:
    """All such writes of a stream, each a Sibling: those that nothing explains but a handler of that kind."""
    found, changes = Rows("qqqrr", Sibling), evidence.changes
    fit = np.array([_is_of_all(value) for value in explained.values], bool)[explained.codes]
    for row in np.flatnonzero(fit & (changes.before != NOTHING) & (changes.after != NOTHING)).tolist():
        change = changes[row]
        before, after = change.before, change.after
        elected = after.leader if after.leader != before.leader else NOBODY
        gone = {before.leader} if before.leader not in (after.leader, NOBODY) else set(before.isr) - set(after.isr)
        for broker in gone if len(gone) == 1 else ():
            found.append(change.zxid, broker, elected, change.term_key, explained.values[explained.codes[row]])
    return found


def _is_of_all(explanations: tuple[Explanation, ...]) -> bool:
    return bool(explanations) and all(e.strategy in _STRATEGIES and e.trigger in _TRIGGERS for e in explanations)
