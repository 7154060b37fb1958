"""Refinement: every behaviour of a concrete model is one of an abstract model, as far as they must agree.

For each concrete state the set of abstract states is kept that some abstract behaviour with the same
appearance may be in by now. A concrete step is matched by abstract steps (none, one or several) through
states that agree, perhaps but for high watermarks, with the concrete state before or after it. When no
abstract state is left, the concrete behaviour is none of the abstract model's: that is the divergence. It
needs neither a function between the states nor prophecies, and is exact for finite behaviours at one scope.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Callable

from checker.execution import Execution
from spec.language.domains import Scope
from spec.language.model import Model
from spec.language.steps import Step


@dataclass(frozen=True)
class Relation:
    """What of two states must agree: `seen(state)` equal, and `agrees`; on the way of one step only `passes`."""

    seen: Callable
    seen_abstract: Callable
    passes: Callable
    agrees: Callable


@dataclass
class Refined:
    """Concrete states, pairs (state, set of abstract states), and the steps to the first divergence."""

    states: int = 0
    pairs: int = 0
    diverged: list[str] | None = None


class Abstract:
    """The reachable graph of an abstract model at one scope, with the states grouped by what is seen of them."""

    def __init__(self, model: Model, scope: Scope, relation: Relation):
        run = Execution(model, scope)
        self.states = run.initial_states()
        numbers = {run.key(state): i for i, state in enumerate(self.states)}
        self.after: list[set[int]] = []
        for state in self.states:
            following = set()
            for _, _, after in run.successors(state, Counter()):
                key = run.key(after)
                if key not in numbers:
                    numbers[key] = len(self.states)
                    self.states.append(after)
                following.add(numbers[key])
            self.after.append(following)
        self.groups = defaultdict(list)
        for i, state in enumerate(self.states):
            self.groups[relation.seen_abstract(state)].append(i)

    def closed(self, among: set[int], start: frozenset[int] | set[int]) -> frozenset[int]:
        """What can be reached from `start` without leaving `among`."""
        found, todo = set(start), list(start)
        while todo:
            for i in self.after[todo.pop()]:
                if i in among and i not in found:
                    found.add(i)
                    todo.append(i)
        return frozenset(found)


def refine(model: Model, scope: Scope, abstract: Abstract, relation: Relation) -> Refined:
    """Follow every behaviour of `model` with its abstract ones, breadth first, until one has none."""
    run, result, known = Execution(model, scope), Refined(), defaultdict(list)
    matches: dict[tuple, tuple[set[int], set[int]]] = {}

    def matching(state):
        key = run.key(state)
        if key not in matches:
            passed = {i for i in abstract.groups[relation.seen(state)] if relation.passes(state, abstract.states[i])}
            matches[key] = passed, {i for i in passed if relation.agrees(state, abstract.states[i])}
        return matches[key]

    def is_new(state, held):
        """Whether no smaller set was kept for this state; then this one is kept."""
        kept = known[run.key(state)]
        if any(smaller <= held for smaller in kept):
            return False
        kept.append(held)
        return True

    queue = []
    for state in run.initial_states():
        held = frozenset(matching(state)[1])
        is_new(state, held)
        queue.append((state, held, None, None))
    for entry in queue:
        state, held = entry[:2]
        result.pairs += 1
        near = abstract.closed(matching(state)[0], held)
        reach = near.union(*(abstract.after[i] for i in near))
        for transition, arguments, after in run.successors(state, Counter()):
            passed, agreed = matching(after)
            found = abstract.closed(passed, reach & passed) & agreed
            step = Step(transition.name, dict(zip(transition.arguments, arguments)))
            if not found:
                result.states, result.diverged = len(known), [*_steps(entry), str(step)]
                return result
            if is_new(after, found):
                queue.append((after, found, entry, step))
    result.states = len(known)
    return result


def _steps(entry):
    steps = []
    while entry[2] is not None:
        steps.append(str(entry[3]))
        entry = entry[2]
    return steps[::-1]
