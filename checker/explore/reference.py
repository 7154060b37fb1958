"""The reference: a plain-Python breadth-first explorer that the fast one is tested against.

Like the fast one, it judges states and steps; liveness is decided afterwards, on the finished graph.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

from kafkaproof.checker.liveness.reference import Steps, lassos
from kafkaproof.checker.model.execution import Execution
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.language.renaming import Symmetry


@dataclass
class Explored:
    """The counts of a complete exploration, and its graph. `depth` and the lengths of violations are in states.

    `violated` has properties of states and steps; `liveness.reference.lassos` decides liveness on the `graph`.
    """

    distinct: int = 0
    generated: int = 0
    depth: int = 0
    violated: dict[str, int] = field(default_factory=dict)
    reached: set[str] = field(default_factory=set)
    coverage: Counter = field(default_factory=Counter)
    cuts: Counter = field(default_factory=Counter)
    graph: Steps = field(default_factory=Steps)


def explore(
    model: Model, scope: Scope, symmetric: bool = False, enough: float = math.inf, until: str | None = None
) -> Explored:
    """Explore every state of `model` at `scope`, or until a level ends with `enough` states or breaks `until`.

    With `symmetric`, one state of each orbit under renaming of interchangeable ids. Raises ExecutionError for a value
    out of its range.
    """
    run, result = Execution(model, scope), Explored()
    graph = result.graph
    symmetry = Symmetry(model, scope, model.interchangeable if symmetric else {})
    frontier = {symmetry.least(run.key(state)): state for state in run.initial_states()}
    result.generated = len(frontier)
    while frontier and result.distinct < enough and until not in result.violated:
        result.depth += 1
        graph.states |= frontier
        result.distinct = len(graph.states)
        graph.depths |= {key: result.depth for key in frontier}
        for state in frontier.values():
            _judge(run.state_verdicts(state), result, result.depth)
        following = {}
        for key, state in frontier.items():
            graph.steps[key] = _expand(run, symmetry, state, result, following)
        frontier = {key: state for key, state in following.items() if key not in graph.states}
    return result


def violations(model: Model, scope: Scope) -> dict[str, int]:
    """All properties violated at `scope`, liveness included, with the lengths of their shortest counterexamples in
    states.
    """
    found = explore(model, scope)
    return found.violated | lassos(model, scope, found.graph)


def _expand(run, symmetry, state, result, following):
    """Take every step from a state; returns those that change it, and adds what they lead to."""
    steps, before = [], symmetry.least(run.key(state))
    for transition, arguments, after, bound in run.steps(state):
        key = symmetry.least(run.key(after))
        if bound:
            result.cuts[bound] += 1
        else:
            following[key] = after
            result.generated += 1
            result.coverage[transition.name] += 1
            for name in run.broken_by_step(state, transition, arguments, after):
                result.violated.setdefault(name, result.depth + 1)
        if key != before:
            steps.append((transition, arguments, None if bound else key, run.spends(state, after)))
    return steps


def _judge(verdicts, result, depth):
    for prop, holds in verdicts:
        if prop.kind == "sometimes" and holds:
            result.reached.add(prop.name)
        elif prop.kind == "always" and not holds:
            result.violated.setdefault(prop.name, depth)
