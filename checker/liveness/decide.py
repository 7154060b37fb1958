"""Deciding properties of liveness on a run that was explored to the end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Callable

import numpy as np

from checker.counterexample import Trace, extended, trace_of
from checker.execution import Execution
from checker.kernel import Kernel
from checker.liveness.graph import Graph, graph_of
from checker.liveness.kernel import look_of
from checker.liveness.labels import Labels, Question
from checker.liveness.lasso import reasons
from checker.liveness.loops import entry_of, loop_from
from checker.liveness.search import Region, fair_sets, leading_to, region_of
from checker.outcome import Found
from checker.rundir import RunDirectory
from spec.language.model import Property


@dataclass(frozen=True)
class Decided:
    """What became of one property of liveness.

    `lasso` is a violation, with its `reasons`, or None. Of the `waiting` states (those that a behaviour passes while
    the goal has not come) `cut` have a fair step that a bound cuts, and from `beyond` the goal cannot be reached
    within the bounds. A state counts once for each choice of the property's arguments.
    """

    prop: Property
    waiting: int
    cut: int
    beyond: int
    lasso: Trace | None = None
    reasons: tuple[str, ...] = ()

    @property
    def vacuous(self) -> bool:
        """Whether it holds only because nothing ever waits for the goal, or within the bounds nothing reaches it."""
        return self.lasso is None and self.beyond == self.waiting


def decide(run: RunDirectory, kernel: Kernel, note: Callable[[str], None] = lambda text: None) -> list[Decided]:
    """Decide the kernel's properties of liveness; raises RunError when the run directory lacks something.

    `note` is told what is done.
    """
    if not kernel.liveness:
        return []
    labels = Labels(kernel.model, kernel.scope, tuple(kernel.liveness))
    note("finding all steps again, for liveness")
    graph = graph_of(run, look_of(kernel, labels))
    decided = []
    for prop in kernel.liveness:
        note(f"looking for lassos that avoid {prop.name}")
        decided.append(_together([_decided(run, kernel, graph, q) for q in labels.questions if q.prop is prop]))
    return decided


def _together(instances):
    """What became of a property from what became of it for each choice of its arguments."""
    worst = min(instances, key=lambda d: (d.lasso is None, d.lasso and d.lasso.states))
    counts = (sum(getattr(d, name) for d in instances) for name in ("waiting", "cut", "beyond"))
    return Decided(worst.prop, *counts, worst.lasso, worst.reasons)


def _decided(run, kernel, graph, question):
    region = region_of(graph, question)
    sets = fair_sets(graph, question, region.inside)
    decided = Decided(question.prop, *_counts(graph, question, region))
    if not (sets >= 0).any():
        return decided
    entry = entry_of(graph, question, region, sets)
    way, begin = _way(graph, region, entry)
    words = graph.states[begin].tobytes().hex()
    trace = trace_of(run, kernel, Found(question.prop.name, int(graph.level[begin]), words))
    loop = loop_from(graph, question, sets, entry)
    trace = extended(trace, kernel, [int(graph.number[step]) for step in way + loop], len(loop))
    return replace(decided, lasso=trace, reasons=tuple(reasons(trace, question.prop)))


def _counts(graph, question, region):
    """How many states wait; how many of them have a fair step that is cut, and from how many no way leads to the goal."""
    goal = (graph.marks & np.uint64(question.goal)) != 0
    waiting = region.inside & ~goal
    cut = graph.cut & np.uint64(question.weak | question.strong) != 0
    beyond = waiting & ~leading_to(graph.first, graph.target, goal)
    return tuple(int(part.sum()) for part in (waiting, waiting & cut, beyond))


def _way(graph: Graph, region: Region, entry: int) -> tuple[list[int], int]:
    """The steps (indices) from where the waiting begins to `entry`, and the state where it begins."""
    steps, at = [], entry
    while region.parent[at] >= 0:
        steps.insert(0, int(region.parent[at]))
        at = int(np.searchsorted(graph.first, steps[0], side="right") - 1)
    return steps, at
