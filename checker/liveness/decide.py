"""Deciding liveness on a completely explored run: in memory, or on Spark if the graph is too large for that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kafkaproof.checker.compile.kernel import Kernel
from kafkaproof.checker.liveness.graph import Graph, graph_of
from kafkaproof.checker.liveness.kernel import look_of
from kafkaproof.checker.liveness.labels import Instance, Labels
from kafkaproof.checker.liveness.lasso import reasons
from kafkaproof.checker.liveness.loops import entry_of, loop_from
from kafkaproof.checker.liveness.search import Region, fair_sets, leading_to, region_of
from kafkaproof.checker.liveness.spark import Partitions
from kafkaproof.checker.runs.counterexample import Trace, extended, trace_of
from kafkaproof.checker.runs.directory import RunDirectory
from kafkaproof.checker.runs.outcome import Found
from kafkaproof.spec.language.model import Property

IN_MEMORY = 4_000_000
"""Graphs of up to this many states are searched in the driver."""


@dataclass(frozen=True)
class Decided:
    """The verdict on one liveness property.

    `lasso` is a violation, with its `reasons`, or None. `waiting` counts the states in which a behaviour may be before
    it reaches the goal; `cut` those of them with a fair step that a bound cuts; `beyond` those from which no path
    within the bounds leads to the goal (None if not counted). A state counts once for each choice of the property's
    arguments. `vacuous`: the property holds, but no state waits, or no waiting state reaches the goal within the
    bounds, or no behaviour within the bounds keeps the assumptions (on Spark: no state satisfies what must last).
    `idle` has the assumptions, in words, about steps that are possible in no state: they assume nothing at this scope.
    """

    prop: Property
    waiting: int
    cut: int
    beyond: int | None
    vacuous: bool
    idle: tuple[str, ...] = ()
    lasso: Trace | None = None
    reasons: tuple[str, ...] = ()


def decide(
    run: RunDirectory,
    kernel: Kernel,
    note: Callable[[str], None] = lambda text: None,
    context=None,
    partitions: int = 1,
    in_memory: int = IN_MEMORY,
) -> list[Decided]:
    """Decide the kernel's liveness properties; raises RunError when the run directory is incomplete.

    A graph of more than `in_memory` states is searched on Spark, in the partitions of its exploration; without a
    `context` all is done in this process. `note` is called with what is being done.
    """
    if not kernel.liveness:
        return []
    labels = Labels(kernel.model, kernel.scope, tuple(kernel.liveness))
    look = look_of(kernel, labels)
    note("finding all steps again, for liveness")
    states = sum(part["states"] for level in run.levels() for part in level["parts"])
    large = context is not None and states > in_memory
    search = _OnSpark(run, kernel, Partitions(context, run, look, partitions)) if large else _Here(run, kernel, look)
    decided = []
    for prop in kernel.liveness:
        note(f"looking for lassos that avoid {prop.name}")
        decided.append(_together([search.decide(instance) for instance in labels.instances if instance.prop is prop]))
    idle = labels.idle(search.possible())
    search.close()
    return [replace(d, idle=tuple(a.text for a in d.prop.given if a in idle)) for d in decided]


def _together(instances):
    """The verdict on a property, from the verdicts for each choice of its arguments."""
    worst = min(instances, key=lambda d: (d.lasso is None, d.lasso and d.lasso.states))
    waiting, cut = sum(d.waiting for d in instances), sum(d.cut for d in instances)
    beyond = None if worst.beyond is None else sum(d.beyond for d in instances)
    vacuous = all(d.vacuous for d in instances)
    return Decided(worst.prop, waiting, cut, beyond, vacuous, lasso=worst.lasso, reasons=worst.reasons)


class _Here:
    """The search in memory."""

    def __init__(self, run, kernel, look):
        self._run, self._kernel, self._graph = run, kernel, graph_of(run, look)

    def decide(self, instance):
        graph, question = self._graph, instance.question
        region = region_of(graph, question)
        goal = (graph.marks & np.uint64(question.goal)) != 0
        waiting = region.inside & ~goal
        cut = waiting & ((graph.cut & np.uint64(question.weak | question.strong)) != 0)
        beyond = waiting & ~leading_to(graph, goal)
        waits, never = int(waiting.sum()), int(beyond.sum())
        decided = Decided(instance.prop, waits, int(cut.sum()), never, vacuous=never == waits)
        found = _with_lasso(self._run, self._kernel, decided, instance, graph, region, self._way)
        return found if found.lasso else replace(found, vacuous=found.vacuous or not self._is_kept(question))

    def _is_kept(self, question):
        """Whether some behaviour keeps the assumptions, whether or not it reaches the goal."""
        everywhere = np.ones(len(self._graph.states), bool)
        return bool((fair_sets(self._graph, replace(question, settles=False), everywhere) >= 0).any())

    def _way(self, region, entry):
        """The state where the wait that leads to `entry` begins (packed), its level, and the steps from there."""
        graph, numbers = self._graph, []
        while region.parent[entry] >= 0:
            step = int(region.parent[entry])
            numbers.insert(0, int(graph.number[step]))
            entry = int(np.searchsorted(graph.first, step, side="right") - 1)
        return graph.states[entry], int(graph.level[entry]), numbers

    def possible(self):
        """The actions that have a step in some state, as bits."""
        return int(np.bitwise_or.reduce(self._graph.enabled))

    def close(self):
        """Nothing to delete."""


class _OnSpark:
    """The search on Spark, which leaves little to be searched here."""

    def __init__(self, run, kernel, partitions):
        self._run, self._kernel, self._partitions = run, kernel, partitions

    def decide(self, instance):
        left = self._partitions.decide(instance.question)
        decided = Decided(
            instance.prop, left.waiting, left.cut, None, left.waiting == 0 or not (left.answered and left.lasts)
        )

        def way(region, entry):
            return self._partitions.way_to(left.graph.states[entry])

        return _with_lasso(self._run, self._kernel, decided, instance, left.graph, left.region, way)

    def possible(self):
        """The actions that have a step in some state, as bits."""
        return self._partitions.possible()

    def close(self):
        """Delete what the partitions have stored."""
        self._partitions.close()


def _with_lasso(run, kernel, decided: Decided, instance: Instance, graph: Graph, region: Region, way) -> Decided:
    """The verdict, with a lasso if the graph has a fair set within the region."""
    question, prop = instance.question, instance.prop
    sets = fair_sets(graph, question, region.inside)
    if not (sets >= 0).any():
        return decided
    entry = entry_of(graph, question, region, sets)
    state, level, numbers = way(region, entry)
    loop = [int(graph.number[step]) for step in loop_from(graph, question, sets, entry)]
    trace = trace_of(run, kernel, Found(prop.name, level, state.tobytes().hex()))
    trace = extended(trace, kernel, numbers + loop, len(loop))
    return replace(decided, vacuous=False, lasso=trace, reasons=tuple(reasons(trace, prop)))
