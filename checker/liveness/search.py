"""Searching a graph in memory for fair behaviours that never reach a goal.

From some moment on, a fair behaviour visits the states of one strongly connected set again and again (a single state,
if it stops). Such a set is *fair* when each weakly fair action is taken within it or disabled in one of its states, and
each strongly fair action is taken within it or disabled in all of them. A set that fails only for strong fairness may
contain smaller fair sets: the states where those actions are enabled are removed, and the rest is searched again
(Lichtenstein and Pnueli, POPL 1985).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafkaproof.checker.compile.native import native
from kafkaproof.checker.liveness.graph import Graph
from kafkaproof.checker.liveness.labels import Question

FAR = np.iinfo(np.int32).max


@dataclass
class Region:
    """The states in which a behaviour may be before it reaches the goal: `inside` (n,), and how soon it can be there.

    `distance` counts the states on a shortest path to a state, itself included: from an initial state to a state where
    the wait begins, and from there within the region. `parent` is the last step of that path, -1 where the wait begins.
    """

    inside: np.ndarray
    distance: np.ndarray
    parent: np.ndarray


def region_of(graph: Graph, question: Question) -> Region:
    """The states that wait for the goal of a question, or (where it must settle) all states."""
    inside, begins = beginnings(graph.marks, question)
    n = len(graph.level)
    distance, parent = np.full(n, FAR, np.int32), np.full(n, -1, np.int64)
    _distances(graph.first, graph.target, graph.level, inside, begins, distance, parent, np.empty((2, n), np.int32))
    return Region(distance < FAR, distance, parent)


def beginnings(marks: np.ndarray, question: Question) -> tuple[np.ndarray, np.ndarray]:
    """Which states may belong to the region of a question, and in which of them the wait begins; both (n,)."""
    if question.settles:
        everywhere = np.ones(len(marks), bool)
        return everywhere, everywhere
    outside = (marks & np.uint64(question.goal)) == 0
    return outside, outside & ((marks & np.uint64(question.after)) == question.after)


def fair_sets(graph: Graph, question: Question, inside: np.ndarray) -> np.ndarray:
    """The number of the fair set that each state belongs to, -1 for none; shape (n,), int32.

    The sets are maximal, within the states of `inside` where the lasting condition holds.
    """
    lasting, weak, strong, finite = map(np.uint64, (question.lasting, question.weak, question.strong, question.finite))
    alive = inside & ((graph.marks & lasting) == lasting)
    missed = (graph.marks & np.uint64(question.goal)) == 0
    found, count = np.full(len(alive), -1, np.int32), 0
    while alive.any():
        part = _components(graph, alive, finite)
        off, on, taken, fails = _facts(graph, missed, part, finite)
        possible = ((weak & ~(off | taken)) == 0) & (fails if question.settles else True)
        starved = strong & on & ~taken
        fair, again = possible & (starved == 0), possible & (starved != 0)
        here = np.flatnonzero(alive)
        chosen = here[fair[part[here]]]
        found[chosen] = count + part[chosen]
        count += len(fair)
        alive[here] = again[part[here]] & ((graph.enabled[here] & starved[part[here]]) == 0)
    return found


@native
def _distances(first, target, level, inside, begins, distance, parent, queues):
    """Breadth-first from all beginnings at once, each at its own distance. All are `FAR` before, and without a parent."""
    n, here, following = len(level), queues[0], queues[1]
    now, waiting, at = 0, 0, 0
    while at < n or waiting > 0:
        if waiting == 0 and level[at] + 1 > now:
            now = level[at] + 1
        here, following = following, here
        size, waiting = waiting, 0
        while at < n and level[at] + 1 == now:
            if begins[at] and distance[at] == FAR:
                distance[at] = now
                here[size] = at
                size += 1
            at += 1
        for i in range(size):
            for step in range(first[here[i]], first[here[i] + 1]):
                v = target[step]
                if v >= 0 and inside[v] and distance[v] == FAR:
                    distance[v] = now + 1
                    parent[v] = step
                    following[waiting] = v
                    waiting += 1
        now += 1


def leading_to(graph: Graph, ends: np.ndarray) -> np.ndarray:
    """Whether some path leads from each state to one of `ends`; shape (n,)."""
    begin = np.concatenate([[0], np.cumsum(np.bincount(graph.target[graph.target >= 0], minlength=len(ends)))])
    found = ends.copy()
    source, stack = np.empty(begin[-1], np.int32), np.empty(len(ends), np.int32)
    _lead(graph.first, graph.target, begin, begin.copy(), source, found, stack)
    return found


@native
def _lead(first, target, begin, free, source, found, stack):
    """Add to `found` what leads there. The steps to v come from source[begin[v] : begin[v + 1]], which is filled."""
    n = len(found)
    for u in range(n):
        for step in range(first[u], first[u + 1]):
            v = target[step]
            if v >= 0:
                source[free[v]] = u
                free[v] += 1
    size = 0
    for u in range(n):
        if found[u]:
            stack[size] = u
            size += 1
    while size > 0:
        size -= 1
        v = stack[size]
        for i in range(begin[v], begin[v + 1]):
            u = source[i]
            if not found[u]:
                found[u] = True
                stack[size] = u
                size += 1


def _components(graph, alive, finite):
    """The strongly connected component of each state that is alive, -1 for others.

    Steps of the actions `finite` do not count.
    """
    n = len(alive)
    part, order = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    low, path, stack = np.empty((3, n), np.int32)
    at = np.empty(n, np.int64)
    _number_components(graph.first, graph.target, graph.taken, alive, finite, part, order, low, path, stack, at)
    return part


@native
def _number_components(first, target, taken, alive, finite, part, order, low, path, stack, at):
    """Number strongly connected components in `part`: Tarjan's algorithm without recursion. `part` and `order` are -1."""
    seen, parts, kept = 0, 0, 0
    for root in range(len(alive)):
        if not alive[root] or order[root] >= 0:
            continue
        depth = 0
        path[0], at[0] = root, first[root]
        order[root] = low[root] = seen
        seen += 1
        stack[kept] = root
        kept += 1
        while depth >= 0:
            u = path[depth]
            if at[depth] < first[u + 1]:
                step = at[depth]
                at[depth] += 1
                v = target[step]
                if v < 0 or not alive[v] or taken[step] & finite:
                    continue
                if order[v] < 0:
                    depth += 1
                    path[depth], at[depth] = v, first[v]
                    order[v] = low[v] = seen
                    seen += 1
                    stack[kept] = v
                    kept += 1
                elif part[v] < 0:
                    low[u] = min(low[u], order[v])
            else:
                if low[u] == order[u]:
                    last = -1
                    while last != u:
                        kept -= 1
                        last = stack[kept]
                        part[last] = parts
                    parts += 1
                depth -= 1
                if depth >= 0:
                    low[path[depth]] = min(low[path[depth]], low[u])


def _facts(graph, missed, part, finite):
    """For each component: the actions disabled somewhere, enabled somewhere and taken within; whether the goal fails in
    it.
    """
    parts = part.max() + 1
    off, on, within = np.zeros((3, parts), np.uint64)
    fails = np.zeros(parts, bool)
    steps = graph.first, graph.target, graph.taken
    _note_facts(*steps, graph.enabled, missed, part, finite, off, on, within, fails)
    return off, on, within, fails


@native
def _note_facts(first, target, taken, enabled, missed, part, finite, off, on, within, fails):
    for u in range(len(part)):
        p = part[u]
        if p < 0:
            continue
        off[p] |= ~enabled[u]
        on[p] |= enabled[u]
        fails[p] |= missed[u]
        for step in range(first[u], first[u + 1]):
            v = target[step]
            if v >= 0 and part[v] == p and not taken[step] & finite:
                within[p] |= taken[step]
