"""Running a model in plain Python: initial states, steps, cuts, properties, and the text of a step."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from operator import gt, lt

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.model.kept import require_accepted_once
from kafkaproof.checker.model.refusals import Refusal, refusal_of
from kafkaproof.spec.language import plain, sets
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.layout import leaves
from kafkaproof.spec.language.model import Model, Property, Transition
from kafkaproof.spec.language.plain import Plain, get, plain_type, put, values_of
from kafkaproof.spec.language.rebind import rebind
from kafkaproof.spec.language.steps import Step
from kafkaproof.spec.language.subset import place_in


class ExecutionError(UserError):
    """The specification put a value out of its declared range; the message names step, field and value."""


class Execution:
    """One model at one scope in plain Python. Seams are wrapped, so that steps show their answers."""

    def __init__(self, model: Model, scope: Scope):
        require_accepted_once(model, scope)
        self.model, self.scope = model, scope
        self.leaves = leaves(model.state, scope)
        self._lows, self._highs = [leaf.low for leaf in self.leaves], [leaf.high for leaf in self.leaves]
        self._budgets = [leaf.path for leaf in self.leaves if leaf.is_budget]
        self._new_state = plain_type(model.state, scope)
        self._answer = None
        watched = OF_IDS | {seam: self._watch(rebind(seam, OF_IDS)) for seam in model.seams}
        self._functions = {t.name: rebind(t.function, watched) for t in model.transitions}
        self._choices = [(t, [(of, f"{t.name}{of}") for of in t.choices(scope)]) for t in model.transitions]
        self._predicates = {p.name: rebind(p.predicate, OF_IDS) for p in model.properties_at(scope)}
        self._states = [p for p in model.properties_at(scope) if p.kind in ("always", "sometimes")]
        self._steps = [p for p in model.properties_at(scope) if p.kind == "step"]

    def _watch(self, seam):
        def watched(*arguments):
            self._answer = seam(*arguments)
            return self._answer

        return watched

    def initial_states(self) -> list[Plain]:
        """The model's initial states, without repetition; raises ExecutionError for one out of a range or a bound."""
        states = {}
        for arguments in Transition(self.model.initial).choices(self.scope):
            state = self._new_state()
            self._run("initial state", rebind(self.model.initial, OF_IDS), state, *arguments)
            if bound := self.beyond(state, "initial state"):
                raise ExecutionError(
                    f"{self.model.name}: an initial state is beyond the bound"
                    f" {bound}; choose a larger one, or mend `initial`"
                )
            states.setdefault(self.key(state), state)
        return list(states.values())

    def key(self, state: Plain) -> tuple[int, ...]:
        """The values of all leaves."""
        return tuple(values_of(state))

    def from_values(self, values) -> Plain:
        """The state whose leaves have these values, in order."""
        state = self._new_state()
        for leaf, value in zip(self.leaves, values):
            put(state, leaf.path, int(value))
        return state

    def after(self, state: Plain, transition: Transition, arguments: tuple[int, ...]) -> Plain | None:
        """The state after a step, without regard to bounds; None when the step is not enabled."""
        after = state.copy()
        self._answer = None
        function, where = self._functions[transition.name], f"{transition.name}{arguments}"
        return after if self._run(where, function, after, *arguments) else None

    def refusal(self, state: Plain, transition: Transition, arguments: tuple[int, ...]) -> Refusal | None:
        """The guard by which a transition refuses a step; None where the step is possible."""
        return refusal_of(self._functions[transition.name], self.model.state, state.copy(), *arguments)

    def _run(self, where, function, *arguments):
        """Call a function; an index or an id out of range is an error in the specification."""
        try:
            return function(*arguments)
        except IndexError as error:
            raise ExecutionError(
                f"{self.model.name}: {where}: {error}, {place_of(error)}; guard it, or mend the declaration"
            ) from error

    def spends(self, before: Plain, after: Plain) -> bool:
        """Whether a step spends a budget (see `domains.Budget`)."""
        return any(get(before, path) != get(after, path) for path in self._budgets)

    def step(self, transition: Transition, arguments: tuple[int, ...]) -> Step:
        """The step last computed by `after` or `steps`, with the answer that it got."""
        answer = None if self._answer is None else self.model.answers[self._answer]
        return Step(transition.name, dict(zip(transition.arguments, arguments)), answer)

    def successors(self, state: Plain, cuts) -> Iterator[tuple[Transition, tuple[int, ...], Plain]]:
        """All enabled steps within the bounds; steps beyond a bound are counted in `cuts`."""
        for transition, arguments, after, bound in self.steps(state):
            if bound:
                cuts[bound] += 1
            else:
                yield transition, arguments, after

    def steps(self, state: Plain) -> Iterator[tuple[Transition, tuple[int, ...], Plain, str | None]]:
        """All enabled steps, each with the state that it leads to and the first bound that it leaves, or None."""
        scratch = state.copy()
        for transition, choices in self._choices:
            function = self._functions[transition.name]
            for arguments, where in choices:
                self._answer = None
                if not self._run(where, function, scratch, *arguments):
                    continue
                after, scratch = scratch, state.copy()
                yield transition, arguments, after, self.beyond(after, where)

    def beyond(self, state: Plain, where: str) -> str | None:
        """The first bound that a state leaves, or None; `where` names the step to it in an error of its range.

        A step beyond a bound is cut, whatever else it does. The other ranges are checked only for steps within all
        bounds.
        """
        values = values_of(state)
        if not any(map(lt, values, self._lows)) and not any(map(gt, values, self._highs)):
            return None
        outside = [(leaf, value) for leaf, value in zip(self.leaves, values) if not leaf.low <= value <= leaf.high]
        for leaf, value in outside:
            if leaf.bound and (value > leaf.high or leaf.spare):
                return leaf.bound
        for leaf, value in outside:
            raise ExecutionError(
                f"{self.model.name}: {where} sets {leaf.expression} to {value},"
                f" outside {leaf.low}..{leaf.high}; mend the transition or the declaration"
            )
        return None

    def state_verdicts(self, state: Plain) -> Iterator[tuple[Property, bool]]:
        """Every property of states with its answer in `state`."""
        return ((p, bool(self._run(p.name, self._predicates[p.name], state))) for p in self._states)

    def broken_by_step(self, before, transition, arguments, after) -> list[str]:
        """Names of the step properties that a step breaks."""
        return [
            p.name for p in self._steps if p.concerns(transition) and not self.holds_for(p, before, after, arguments)
        ]

    def newly_broken(self, before: Plain, transition, arguments, after: Plain) -> list[str]:
        """Names of the properties that hold before a step and not after it, and of those of steps that it breaks."""
        held = {p.name for p, holds in self.state_verdicts(before) if holds}
        lost = [
            p.name for p, holds in self.state_verdicts(after) if p.kind == "always" and not holds and p.name in held
        ]
        return lost + self.broken_by_step(before, transition, arguments, after)

    def holds_for(self, prop: Property, before: Plain, after: Plain, arguments: tuple[int, ...]) -> bool:
        """Whether a step has a property of steps."""
        return bool(self._run(prop.name, self._predicates[prop.name], before, after, *(arguments if prop.of else ())))


def _of_an_id(function):
    """A function of `sets` that refuses an id, or a number of ids, that is out of range, as compiled code does."""

    def checked(*arguments):
        if not 0 <= arguments[-1] < MOST_IDS:
            raise IndexError(f"{function.__name__} of {arguments[-1]}, which is out of range")
        return function(*arguments)

    return checked


MOST_IDS = 64
OF_IDS = {f: _of_an_id(f) for f in (sets.contains, sets.only, sets.with_member, sets.without_member, sets.everybody)}


def place_of(error: Exception) -> str:
    """The file and line of the specification in which an error was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    frame = next(f for f in reversed(frames) if f.filename not in (__file__, plain.__file__))
    return place_in(frame.filename, frame.lineno or 0)
