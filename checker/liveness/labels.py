"""The questions of liveness about every state and step, as bits: conditions of states, and fair actions.

A property whose predicate has arguments besides the state is one question for each choice of their values. An
assumption `for each` value of some arguments is one action for each. A step belongs to the actions that name its
transition and arguments; the `when` of an assumption is evaluated in the state before the step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.spec.language.domains import Scope, values
from kafkaproof.spec.language.fairness import AT_LAST, FINITELY, STRONG, WEAK, Assumption
from kafkaproof.spec.language.model import Model, Property, Transition
from kafkaproof.spec.language.plain import Plain

MOST_BITS = 62


@dataclass(frozen=True)
class Action:
    """The steps that an assumption is about: of its transitions, with these values of arguments."""

    assumption: Assumption
    fixed: tuple[tuple[str, int], ...]

    @property
    def text(self) -> str:
        """The action in words: ``join, sync (b=0, m=1) where is_alive``."""
        fixed = ", ".join(f"{name}={value}" for name, value in self.fixed)
        where = f" where {self.assumption.when.__name__}" if self.assumption.when else ""
        return ", ".join(self.assumption.of) + (f" ({fixed})" if fixed else "") + where

    def of_transition(self, transition: Transition) -> bool:
        """Whether the action may have steps of a transition."""
        return named(self.assumption, transition)

    def has(self, transition: Transition, arguments: tuple[int, ...]) -> bool:
        """Whether a step is of this action, as far as names and arguments tell."""
        if not self.of_transition(transition):
            return False
        given = dict(zip(transition.arguments, arguments))
        return all(given[name] == value for name, value in self.fixed)


@dataclass(frozen=True)
class Condition:
    """A predicate of states, with the values of its other arguments."""

    predicate: Callable
    arguments: tuple[int, ...] = ()

    def holds(self, state: Plain) -> bool:
        """Whether a plain state satisfies it."""
        return bool(self.predicate(state, *self.arguments))


@dataclass(frozen=True)
class Question:
    """A question to the graph, in bits.

    `goal`, `after` and `lasting` are bits of conditions, 0 for none; `weak`, `strong` and `finite` are bits of actions.
    `settles` says that the goal must hold for ever from some moment on.
    """

    goal: int
    after: int
    lasting: int
    weak: int
    strong: int
    finite: int
    settles: bool


@dataclass(frozen=True)
class Instance:
    """A liveness property with values of its arguments, as a question."""

    prop: Property
    fixed: tuple[tuple[str, int], ...]
    question: Question

    @property
    def text(self) -> str:
        """The property's name, with the values of its arguments: ``answered (m=0)``."""
        fixed = ", ".join(f"{name}={value}" for name, value in self.fixed)
        return self.prop.name + (f" ({fixed})" if fixed else "")


def named(assumption: Assumption, transition: Transition) -> bool:
    """Whether an assumption names a transition (with or without its module)."""
    return transition.name in assumption.of or transition.function.__name__ in assumption.of


class Labels:
    """The conditions and actions of some liveness properties of a model at a scope.

    `classes` holds the actions of each step number (shape (steps,), uint64); `conditional` pairs a `when` with
    the bits of the actions that it restricts. Raises UserError for assumptions that name something unknown.
    """

    def __init__(self, model: Model, scope: Scope, properties: tuple[Property, ...]):
        self.model, self.scope = model, scope
        self.conditions: list[Condition] = []
        self.actions: list[Action] = []
        self.instances = [
            Instance(prop, fixed, self._question(prop, fixed))
            for prop in properties
            for fixed in choices_of(prop, scope)
        ]
        if max(len(self.conditions), len(self.actions)) > MOST_BITS:
            raise UserError(
                f"{model.name}: more than {MOST_BITS} fair actions or conditions at "
                "this scope; ask for fewer properties with --property, or take a smaller scope"
            )
        steps = [(t, arguments) for t in model.transitions for arguments in t.choices(scope)]
        bits = [sum(1 << i for i, action in enumerate(self.actions) if action.has(*step)) for step in steps]
        self.classes = np.array(bits, np.uint64)
        self.conditional: dict[Callable, int] = {}
        for i, action in enumerate(self.actions):
            when = action.assumption.when
            if when:
                self.conditional[when] = self.conditional.get(when, 0) | 1 << i

    def _question(self, prop, fixed):
        masks = {WEAK: 0, STRONG: 0, FINITELY: 0}
        lasting = 0
        for assumption in prop.given:
            if assumption.kind == AT_LAST:
                lasting |= self._condition(assumption.when, fixed)
            else:
                masks[assumption.kind] |= self._actions(prop, assumption)
        after = self._condition(prop.after, fixed) if prop.after else 0
        settles = prop.kind == "eventually always"
        goal = self._condition(prop.predicate, fixed)
        return Question(goal, after, lasting, masks[WEAK], masks[STRONG], masks[FINITELY], settles)

    def _condition(self, predicate, fixed):
        condition = condition_of(predicate, fixed)
        if condition not in self.conditions:
            self.conditions.append(condition)
        return 1 << self.conditions.index(condition)

    def _actions(self, prop, assumption):
        transitions = [t for t in self.model.transitions if named(assumption, t)]
        where = f"{prop.name} of {self.model.name}"
        known = {name for t in transitions for name in (t.name, t.function.__name__)}
        missing = [name for name in assumption.of if name not in known]
        if missing:
            raise UserError(f"{where} makes an assumption about {missing[0]}, which is not one of its transitions")
        for transition in transitions:
            asked = (*assumption.each, *(parameters(assumption.when) if assumption.when else ()))
            lacking = [name for name in asked if name not in transition.arguments]
            if lacking:
                raise UserError(f"{where} names the argument {lacking[0]}, which {transition.name} does not have")
        domains = [
            sorted({value for t in transitions for value in values(t.arguments[name], self.scope)})
            for name in assumption.each
        ]
        found = [Action(assumption, tuple(zip(assumption.each, fixed))) for fixed in product(*domains)]
        self.actions += [action for action in found if action not in self.actions]
        return sum(1 << self.actions.index(action) for action in found)

    def idle(self, possible: int) -> set[Assumption]:
        """The assumptions about steps that concern none of the `possible` actions (bits)."""
        found = {action.assumption for action in self.actions}
        return found - {action.assumption for i, action in enumerate(self.actions) if possible >> i & 1}


def belongs(action: Action, state: Plain, transition: Transition, arguments: tuple[int, ...]) -> bool:
    """Whether a step from a plain state belongs to an action."""
    if not action.has(transition, arguments):
        return False
    given, when = dict(zip(transition.arguments, arguments)), action.assumption.when
    return when is None or bool(when(state, *(given[name] for name in parameters(when))))


def condition_of(predicate: Callable, fixed: tuple[tuple[str, int], ...]) -> Condition:
    """A predicate with the values of its arguments besides the state."""
    return Condition(predicate, tuple(dict(fixed)[name] for name in parameters(predicate)))


def parameters(predicate: Callable) -> tuple[str, ...]:
    """The names of a predicate's arguments besides the state."""
    return predicate.__code__.co_varnames[1 : predicate.__code__.co_argcount]


def choices_of(prop: Property, scope: Scope) -> list[tuple[tuple[str, int], ...]]:
    """The values that the arguments of a property may have, as pairs of name and value."""
    names = parameters(prop.predicate)
    domains = [values(prop.predicate.__annotations__[name], scope) for name in names]
    return [tuple(zip(names, chosen)) for chosen in product(*domains)]
