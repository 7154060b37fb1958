"""What the writes of each controller show of its handlers."""

from collections.abc import Iterable, Mapping

import numpy as np

from kafkaproof.traces.basics.columns import groups
from kafkaproof.traces.evidence.terms import Term, TermKey
from kafkaproof.traces.explain.log.view_order import Explanations, Floors
from kafkaproof.traces.explain.omissions.threads import Thread
from kafkaproof.traces.explain.partitions.leader_changes import BY_ALTER_PARTITION, BY_LEADER
from kafkaproof.traces.explain.partitions.strategies import Strategy
from kafkaproof.traces.explain.partitions.ways import SHUTDOWN


def threads_of(floors: Floors, terms: Mapping[TermKey, Term], made: Iterable[tuple[int, int]]) -> dict[TermKey, Thread]:
    """The threads of all controllers. `made`: of first states the zxid, and that of the record that made the topic."""
    kinds = np.array([_kind(value) for value in floors.values], np.int64).reshape(-1, 4)[floors.explained]
    topics = dict(made)
    found = {}
    for rows in groups(floors.terms):
        term_key = floors.names[floors.terms[rows[0]]]
        rows = rows[kinds[rows, 0] != _LEFT_OUT]
        if term_key is None or term_key not in terms or not len(rows):
            continue
        rows = rows[np.argsort(floors.zxids[rows], kind="stable")]
        zxids = floors.zxids[rows]
        of_topics = np.array([topics.get(zxid, 0) for zxid in zxids.tolist()], np.int64)
        seen = np.maximum(np.maximum.accumulate(floors.floors[rows]), terms[term_key].start)
        of_kinds, views, preferred, leaving = kinds[rows].T
        behind = _behind(zxids, of_kinds, views, preferred, leaving, of_topics)
        found[term_key] = Thread(zxids, seen, of_topics, behind)
    return found


_LEFT_OUT, _ANY, _AT_ONCE, _LAST_OF_ALL, _LEAVING = range(5)


def _kind(explanations: Explanations) -> tuple[int, int, int, int]:
    """What a change tells of its handler: its kind, the oldest view, and whether it may be of the kinds that follow
    others: a preferred election, a controlled shutdown."""
    triggers, strategies = ({getattr(e, name) for e in explanations} for name in ("trigger", "strategy"))
    if not explanations or BY_LEADER in triggers:
        return _LEFT_OUT, 0, 0, 0
    view = min(0 if e.view is None else e.view for e in explanations)
    kind = _ANY
    if triggers == {BY_ALTER_PARTITION}:
        kind = _AT_ONCE
    elif strategies == {Strategy.PREFERRED}:
        kind = _LAST_OF_ALL
    elif strategies == {Strategy.CONTROLLED_SHUTDOWN}:
        kind = _LEAVING
    return (
        kind,
        view,
        int(Strategy.PREFERRED in strategies),
        int(Strategy.CONTROLLED_SHUTDOWN in strategies or SHUTDOWN in triggers),
    )


def _behind(zxids, kinds, views, preferred, leaving, topics) -> np.ndarray:
    """The zxid before which all writes are of handlers that have ended when each write comes.

    A handler reads brokers and topics before it writes states. An AlterPartition is a handler of its own. Those that
    elect preferred replicas, or shut a broker down, do so last, or nothing else.
    """
    found = np.maximum(views, topics)
    found[kinds == _AT_ONCE] = zxids[kinds == _AT_ONCE] + 1
    for kind, may_be in (_LAST_OF_ALL, preferred), (_LEAVING, leaving):
        others = np.maximum.accumulate(np.where(may_be == 0, np.arange(len(zxids)), -1))
        rows = (kinds == kind) & (others >= 0)
        found[rows] = np.maximum(found[rows], zxids[others[rows]] + 1)
    return found
