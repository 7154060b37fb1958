"""The breadth-first search, over pairs of a state and a set, for a concrete behaviour that no abstract one follows."""

from __future__ import annotations

import resource
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from kafkaproof.checker.compile.expansion import Expansion, require_in_range
from kafkaproof.checker.compile.kernel import Kernel
from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.refine.abstract import Abstract
from kafkaproof.checker.refine.matching import Matching
from kafkaproof.checker.refine.numbered import Numbered
from kafkaproof.checker.runs.counterexample import Trace, extend
from kafkaproof.checker.runs.outcome import Outcome
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.model import Model, first_paragraph
from kafkaproof.spec.language.refinement import Refinement

NOTHING = -1


@dataclass
class Refined:
    """The result: abstract and concrete states, pairs (state, set of abstract states), levels.

    `lost` maps properties that the abstract model with its added steps violates to the lengths of their shortest
    counterexamples. `diverged` is a shortest behaviour whose last step no abstract behaviour follows, or None, and
    `reason` says what cannot agree after it. `complete` is False when the search was stopped before its end.
    """

    abstract_states: int
    lost: dict[str, int] = field(default_factory=dict)
    states: int = 0
    pairs: int = 0
    depth: int = 0
    diverged: Trace | None = None
    reason: str = ""
    complete: bool = True


def refine(
    model: Model,
    scope: Scope,
    refinement: Refinement,
    *,
    without: tuple[str, ...] = (),
    most: int | None = None,
    progress: Callable[[Outcome, int], None] = lambda outcome, generated: None,
) -> Refined:
    """Follow every behaviour of `model` at `scope` by abstract ones, until one has none.

    Added steps called `without` are left out. The search stops after the level that reaches `most` states. Raises
    UserError for a value out of its range, UnitError or RuleError for a model that cannot be compiled.
    """
    abstract = Abstract(
        refinement.model_at(scope, without), refinement.abstract_scope(scope), list(refinement.equal.values())
    )
    search = _Search(Kernel(model, scope, ()), abstract, refinement)
    result = Refined(len(abstract), abstract.lost)
    level = search.begin()
    while len(level) and result.complete:
        result.depth += 1
        level = search.advance(level)
        result.states, result.pairs = len(search.states), len(search.parents)
        result.complete = not len(level) or most is None or result.states < most
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        progress(Outcome(depth=result.depth, frontier=len(level), distinct=result.states, memory=memory), 0)
    result.diverged, result.reason = search.diverged, search.reason
    return result


class _Search:
    """Pairs by number: `_state` and `_held` are their parts, `parents` and `_steps` say how each was first reached."""

    def __init__(self, kernel, abstract, refinement):
        self._kernel, self._abstract, self._refinement = kernel, abstract, refinement
        self._expansion, self._matching = Expansion(kernel.compiled), Matching(kernel, abstract, refinement)
        self.states, self._class = Numbered(kernel.compiled.words), np.empty(0, np.int64)
        self._state, self._held, self.parents, self._steps = (array("q") for _ in range(4))
        self._sets: list[int] = []
        self._set_numbers: dict[int, int] = {}
        self._first_held, self._more_held = array("q"), {}
        self._onward: dict[tuple[int, int], dict[int, int]] = {}
        self._followed: dict[tuple[int, int], dict[int, int]] = {}
        self.diverged: Trace | None = None
        self.reason = ""

    def begin(self) -> range:
        """The pairs of the initial states, as the range of their numbers."""
        initial = Execution(self._kernel.model, self._kernel.scope).initial_states()
        states = self.states.numbers(np.array([self._kernel.packing.pack(state) for state in initial]))
        self._classify()
        for state in states.tolist():
            beside = self._matching.classes[self._class[state]]
            if not beside.agreed:
                return self._diverge(state, (), beside, -1 if beside.group >= 0 else 0)
            self._keep(state, self._number(beside.agreed), NOTHING, NOTHING)
        return range(len(self.parents))

    def advance(self, level: range) -> range:
        """The new pairs that the steps from a level lead to; stops at a divergence."""
        states = sorted({self._state[pair] for pair in level})
        index = {state: i for i, state in enumerate(states)}
        offsets, targets, steps = self._expanded(np.array(states))
        classes, begin = self._class[targets].tolist(), len(self.parents)
        targets, steps = targets.tolist(), steps.tolist()
        for pair in level:
            state, held = self._state[pair], self._held[pair]
            key = held, int(self._class[state])
            followed = self._followed.setdefault(key, {})
            for edge in range(offsets[index[state]], offsets[index[state] + 1]):
                after = followed.get(classes[edge])
                if after is None:
                    after = followed[classes[edge]] = self._follow(*key, classes[edge])
                if after == NOTHING:
                    return self._diverge(*self._path(pair, steps[edge]), *self._reached(*key, classes[edge]))
                self._keep(targets[edge], after, pair, steps[edge])
        return range(begin, len(self.parents))

    def _expanded(self, states):
        """The index of each state's first step, and for each step the number of the state after it and its own number."""
        origins, targets, steps = [], [], []
        for successors, origin, number in self._expansion.run(self.states.rows[states]):
            origins.append(origin.copy())
            steps.append(number.copy())
            targets.append(self.states.numbers(successors))
        require_in_range(self._kernel, self._expansion)
        self._classify()
        offsets = np.searchsorted(np.concatenate(origins), np.arange(len(states) + 1))
        return offsets.tolist(), np.concatenate(targets), np.concatenate(steps)

    def _classify(self):
        """Give each new state its class."""
        fresh = self._matching.classes_of(self.states.rows[len(self._class) :])
        self._class = np.concatenate([self._class, fresh])

    def _follow(self, held, before, after):
        """The number of the set after a step from one class to another, NOTHING if it is empty."""
        beside = self._matching.classes[after]
        if (held, before) not in self._onward:
            group, passed = self._matching.classes[before].group, self._matching.classes[before].passed
            near = self._abstract.closed(group, passed, self._sets[held])
            self._onward[held, before] = self._abstract.onward(group, near)
        start = self._onward[held, before].get(beside.group, 0) & beside.passed
        found = self._abstract.closed(beside.group, beside.passed, start) & beside.agreed
        return self._number(found) if found else NOTHING

    def _reached(self, held, before, after):
        """The class after a step, and the abstract states of its group that may follow."""
        beside = self._matching.classes[after]
        return beside, self._onward[held, before].get(beside.group, 0)

    def _number(self, states):
        """The number of a set."""
        if states not in self._set_numbers:
            self._set_numbers[states] = len(self._sets)
            self._sets.append(states)
        return self._set_numbers[states]

    def _keep(self, state, held, parent, step):
        """Keep a pair, unless a subset was kept for this state: what diverges from a set diverges from its subsets."""
        while state >= len(self._first_held):
            self._first_held.append(NOTHING)
        first = self._first_held[state]
        if first == NOTHING:
            self._first_held[state] = held
        elif first == held:
            return
        else:
            kept = self._more_held.setdefault(state, [])
            if any(not self._sets[one] & ~self._sets[held] for one in (first, *kept)):
                return
            kept.append(held)
        self._state.append(state)
        self._held.append(held)
        self.parents.append(parent)
        self._steps.append(step)

    def _path(self, pair, last):
        """The initial state of a pair, and the numbers of the steps to it and of one more."""
        numbers = [last]
        while self.parents[pair] != NOTHING:
            numbers.append(self._steps[pair])
            pair = self.parents[pair]
        return self._state[pair], numbers[::-1]

    def _diverge(self, initial, numbers, beside, reachable):
        """Note the diverging behaviour and why none of the `reachable` abstract states agrees. There is no next level."""
        run = Execution(self._kernel.model, self._kernel.scope)
        state = run.from_values(self._kernel.packing.unpack(self.states.rows[initial]))
        self.diverged = Trace(self._kernel.model, self._kernel.scope, state, [])
        for number in numbers:
            extend(self.diverged, run, *self._kernel.step(number))
        predicate = self._refinement.agrees if reachable & beside.passed else self._refinement.passes
        self.reason = first_paragraph(predicate) if reachable else f"equal are {', '.join(self._refinement.equal)}."
        return range(0)
