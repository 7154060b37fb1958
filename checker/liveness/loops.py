"""From a fair set to a lasso: the nearest state of a fair set, and a short fair loop through it.

A loop has *debts*: each fair action must be disabled in one of its states or taken on it, and if the goal must settle,
it must fail in one of its states. The loop goes to the nearest state or step that pays a debt, then to the next, and
home. Without debts, the behaviour stops.
"""

from __future__ import annotations

import numpy as np

from kafkaproof.checker.compile.native import native
from kafkaproof.checker.liveness.graph import Graph
from kafkaproof.checker.liveness.labels import Question
from kafkaproof.checker.liveness.search import Region

GOAL = np.uint64(1 << 63)


def entry_of(graph: Graph, question: Question, region: Region, sets: np.ndarray) -> int:
    """The nearest state of a fair set; one where the behaviour may stop, if there is one."""
    members = np.flatnonzero(sets >= 0)
    nearest = members[region.distance[members] == region.distance[members].min()]
    owed = _owed(graph, question, nearest)
    return int(nearest[np.argmin(owed != 0)])


def _owed(graph, question, states):
    """The debts of behaviours that stay in each of `states` for ever, as bits; shape (m,)."""
    owed = graph.enabled[states] & np.uint64(question.weak | question.strong)
    if question.settles:
        owed = owed | np.where(graph.marks[states] & np.uint64(question.goal), GOAL, np.uint64(0))
    return owed


def loop_from(graph: Graph, question: Question, sets: np.ndarray, entry: int) -> list[int]:
    """The steps (indices into the graph's) of a fair loop through `entry`; empty if the behaviour may stop there."""
    if _owed(graph, question, np.array([entry]))[0] == 0:
        return []
    within = sets == sets[entry]
    weak, strong, finite = map(np.uint64, (question.weak, question.strong, question.finite))
    states = np.flatnonzero(within)
    paid = np.zeros(len(within), np.uint64)
    paid[states] = ~graph.enabled[states] & weak
    if question.settles:
        paid[states[(graph.marks[states] & np.uint64(question.goal)) == 0]] |= GOAL
    owed = weak | strong & np.bitwise_or.reduce(graph.enabled[states]) | (GOAL if question.settles else np.uint64(0))
    steps, at, owed = [], entry, owed & ~paid[entry]
    nothing = np.uint64(0)
    while owed or at != entry or not steps:
        for step in _way(graph, within, finite, paid, at, owed, entry):
            at = int(graph.target[step])
            owed &= ~(graph.taken[step] | paid[at])
            steps.append(step)
        if owed == nothing and at == entry:
            break
    return steps


def _way(graph, within, finite, paid, start, owed, home):
    """The shortest path, of at least one step, to a state or step that pays a debt; to `home` without debts."""
    parent, origin, queue = (np.empty(len(within), kind) for kind in (np.int64, np.int32, np.int32))
    parent.fill(-1)
    steps = graph.first, graph.target, graph.taken
    last, end = _search(*steps, within, finite, paid, start, owed, home, parent, origin, queue)
    way = [last]
    while end != start:
        way.append(int(parent[end]))
        end = int(origin[end])
    return way[::-1]


@native
def _search(first, target, taken, within, finite, paid, start, owed, home, parent, origin, queue):
    """The last step of such a path, and the state where it begins; `parent`, all -1, and `origin` lead from there back."""
    queue[0], head, tail = start, 0, 1
    while head < tail:
        u = queue[head]
        head += 1
        for step in range(first[u], first[u + 1]):
            v = target[step]
            if v < 0 or not within[v] or taken[step] & finite:
                continue
            arrives = (taken[step] | paid[v]) & owed != 0 if owed else v == home
            if arrives:
                return step, np.int64(u)
            if parent[v] < 0 and v != start:
                parent[v], origin[v] = step, u
                queue[tail] = v
                tail += 1
    return -1, start
