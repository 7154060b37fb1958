"""The readable truth: a plain-Python breadth-first explorer that the fast one is tested against."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from checker.execution import Execution
from spec.language.domains import Scope
from spec.language.model import Model


@dataclass
class Explored:
    """What an exploration to the end counts; `depth` and the violations' lengths are in states."""

    distinct: int = 0
    generated: int = 0
    depth: int = 0
    violated: dict[str, int] = field(default_factory=dict)
    reached: set[str] = field(default_factory=set)
    coverage: Counter = field(default_factory=Counter)
    cuts: Counter = field(default_factory=Counter)


def explore(model: Model, scope: Scope) -> Explored:
    """Explore every state of `model` at `scope`; raises ExecutionError for a value out of its range."""
    run, result = Execution(model, scope), Explored()
    frontier = {run.key(state): state for state in run.initial_states()}
    result.generated = len(frontier)
    seen = set(frontier)
    while frontier:
        result.depth += 1
        for state in frontier.values():
            _judge(run.state_verdicts(state), result, result.depth)
        following = {}
        for state in frontier.values():
            for transition, arguments, after in run.successors(state, result.cuts):
                result.generated += 1
                result.coverage[transition.name] += 1
                for name in run.broken_by_step(state, transition, arguments, after):
                    result.violated.setdefault(name, result.depth + 1)
                key = run.key(after)
                if key not in seen:
                    seen.add(key)
                    following[key] = after
        frontier = following
    result.distinct = len(seen)
    return result


def _judge(verdicts, result, depth):
    for prop, holds in verdicts:
        if prop.kind == "sometimes" and holds:
            result.reached.add(prop.name)
        elif prop.kind == "always" and not holds:
            result.violated.setdefault(prop.name, depth)
