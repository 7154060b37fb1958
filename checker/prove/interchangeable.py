"""Proving that ids are interchangeable: renaming commutes with every step.

For a few permutations that generate all others, z3 is asked about each action: is its image enabled in the renamed
state whenever the action is enabled, and does it lead to the renamed state after? And about each property: is its
answer the same? The question is about every state within the declared ranges whose free slots hold zeros. The states of
an exploration, and their renamings, are such states: ranges are checked at each step, and that free slots stay zero is
proved here. A model may be refused because of a state that is not reachable.

Initial states may distinguish ids: the behaviours from a renamed initial state are the renamed behaviours.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import z3

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.prove.cti import arguments_of
from kafkaproof.checker.prove.facts import ranges_of
from kafkaproof.checker.prove.formulas import StyleError, elements_read
from kafkaproof.checker.prove.question import new_solver
from kafkaproof.checker.prove.relation import Action, Relation
from kafkaproof.checker.prove.symmetry import Renamed, action_key, generators
from kafkaproof.checker.prove.terms import value_of
from kafkaproof.checker.prove.work import Work
from kafkaproof.spec.language.domains import Scope, named
from kafkaproof.spec.language.model import LIVENESS, Model, Property
from kafkaproof.spec.language.renaming import Symmetry

WORK = 2000.0
"""The work for one proof, in millions of z3's steps: many times what any model of the catalogue needs."""
LITTLE = 0.1
"""The work, in millions of steps, to find a state closer to the initial one."""
SHOWN = 6
"""How many leaves of a state are printed."""


class AsymmetryError(UserError):
    """A model distinguishes interchangeable ids, or may do so; the message names the step or the property."""


def require_symmetry(model: Model, scope: Scope, properties: tuple[Property, ...], most: float = WORK) -> None:
    """Prove that no step of a model, and none of these safety properties, distinguishes interchangeable ids.

    z3 may make `most` million steps. Raises AsymmetryError if that is false or not decided, and UserError if no ids
    are declared interchangeable.
    """
    if not model.interchangeable:
        raise UserError(f"{model.system}: no ids are declared interchangeable; check it without --symmetry")
    symmetry = Symmetry(model, scope, model.interchangeable)
    if symmetry.count == 1:
        return
    sorts = " and ".join(symmetry.blocks)
    told = f"{model.name} {{}} in its {sorts}: {{}}; check it without --symmetry"
    asked = tuple(p for p in properties if p.kind not in LIVENESS)
    try:
        _Decision(Relation(model, scope, frozenset(), properties=asked), symmetry, Work(most)).require()
    except _Apart as apart:
        raise AsymmetryError(told.format("is not symmetric", apart)) from None
    except (_Undecided, StyleError) as error:
        raise AsymmetryError(told.format("is not known to be symmetric", error)) from None


class _Apart(Exception):
    """Something distinguishes ids; the message says what, and where."""


class _Undecided(Exception):
    """z3 needs more work; the message says for which question."""


class _Decision:
    """Questions about all states within the declared ranges whose free slots hold zeros."""

    def __init__(self, relation: Relation, symmetry: Symmetry, work: Work):
        self.relation, self.symmetry, self.work = relation, symmetry, work
        self.execution = Execution(relation.model, relation.scope)
        self.initial = [self.execution.key(state) for state in self.execution.initial_states()]
        self.actions = {action_key(a, a.arguments): a for a in [*relation.actions, *relation.always_cut]}
        self.free = z3.And(*self._free_slots())
        self.solver = new_solver()
        self.solver.add(self.free, *(family.plain for family in ranges_of(relation)))

    def _free_slots(self):
        """The formula that free slots of sequences hold zeros, where they could name ids that are renamed."""
        terms = self.relation.variables.terms
        for place in self.symmetry.leaves:
            domain = place.leaf.domain
            if place.slots and not place.leaf.spare and self.symmetry.sort_of(getattr(domain, "sort", "")):
                free = (terms[length] <= slot for length, slot in place.slots)
                zero = terms[place.leaf.path] == self.relation.variables.constant(domain, 0)
                yield z3.Implies(z3.Or(*free), zero)

    def require(self) -> None:
        """Raise _Apart or _Undecided unless nothing distinguishes ids."""
        self._keep_free_slots()
        for images in generators(self.symmetry):
            renamed = Renamed(self.relation, self.symmetry.renaming(images))
            for action in self.actions.values():
                self._compare(renamed, action)
            for prop in self.relation.properties:
                if prop.kind != "step":
                    formula = self.relation.predicate(prop.predicate)
                    self._ask(renamed.formula(formula) == formula, _answers(prop.name, renamed))

    def _keep_free_slots(self):
        """Prove that free slots hold zeros in initial states, and that every step preserves that."""
        terms, constant = self.relation.variables.terms, self.relation.variables.constant
        for values in self.initial:
            known = [
                (terms[leaf.path], constant(leaf.domain, value))
                for leaf, value in zip(self.execution.leaves, values)
                if not leaf.spare
            ]
            self._ask(z3.substitute(self.free, *known), "at the start, a free slot of a sequence names somebody")
        for action in self.relation.actions:
            kept = self.relation.moved(self.free, action.after)
            told = f"after {action.name}, a free slot of a sequence may name somebody"
            self._ask(z3.Implies(action.guard, kept), told)

    def _compare(self, renamed, action):
        """Prove that renaming commutes with a step, and with the step properties about it."""
        false = z3.BoolVal(False)
        never = Action(action.transition, renamed.arguments(action), false, {}, (), false)
        image = self.actions.get(action_key(action, never.arguments), never)
        one, other = (z3.And(*(condition for condition, _ in a.obligations)) for a in (action, image))
        self._ask(
            renamed.formula(other) == one,
            f"{action.name} may use indices out of range where {image.name}, with {renamed.renaming}, does not",
        )
        steps = partial(self._difference, renamed.renaming, action)
        same = z3.And(renamed.formula(image.enabled) == action.enabled, *renamed.same(action, image))
        self._ask(same, f"{action.name}, with {renamed.renaming}", steps)
        for prop in self.relation.properties:
            if prop.kind == "step" and prop.concerns(action.transition):
                one, other = (self.relation.step_predicate(prop, a) for a in (action, image))
                kept = z3.Implies(action.guard, renamed.formula(other) == one)
                self._ask(kept, _answers(f"{prop.name} of {action.name}", renamed))

    def _ask(self, condition: z3.BoolRef, about: str, tell: Callable[[list[int], z3.ModelRef], str] | None = None):
        """Raise _Apart if a condition does not hold in all states; `about` names it, and `tell` describes the failure."""
        condition = elements_read(condition)
        if z3.is_true(condition):
            return
        self.solver.push()
        self.solver.add(z3.Not(condition))
        answer = self._check(self.work.left())
        if answer == z3.unknown:
            raise _Undecided(f"z3 has not decided in {self.work.done():,.0f} million steps: {about}")
        if answer == z3.sat:
            model = self._nearest()
            values = [0 if leaf.spare else self._value(model, leaf.path) for leaf in self.execution.leaves]
            raise _Apart((tell(values, model) if tell else about) + self._state(values))
        self.solver.pop()

    def _check(self, most):
        if self.work.left() <= 0:
            return z3.unknown
        self.work.limit(self.solver, most)
        return self.solver.check()

    def _nearest(self):
        """A model in which many leaves have their initial values, as many as z3 soon finds."""
        terms, constant = self.relation.variables.terms, self.relation.variables.constant
        model = self.solver.model()
        wanted = [
            [
                terms[leaf.path] == constant(leaf.domain, value)
                for leaf, value in zip(self.execution.leaves, self.initial[0])
                if not leaf.spare
            ]
        ]
        while wanted:
            several = wanted.pop()
            self.solver.push()
            self.solver.add(*several)
            if self._check(LITTLE) == z3.sat:
                model = self.solver.model()
            else:
                self.solver.pop()
                half = len(several) // 2
                wanted += [several[half:], several[:half]] if half else []
        return model

    def _value(self, model, path):
        return value_of(model.eval(self.relation.variables.terms[path], model_completion=True))

    def _state(self, values):
        """A state in words: its differences from the initial one."""
        several = [
            f"{leaf.expression} is {named(leaf.domain, value)}"
            for leaf, value, first in zip(self.execution.leaves, values, self.initial[0])
            if value != first
        ]
        more = [f"{len(several) - SHOWN} more leaves differ from the initial state"] if len(several) > SHOWN else []
        return f", where {', '.join(several[:SHOWN] + more)}" if several else ", where all is as at first"

    def _difference(self, renaming, action, values, model):
        """The difference between a step and its renaming, found in plain Python."""
        transition = action.transition
        arguments = tuple(arguments_of(action, model).values())
        pairs = (tuple(values), arguments), (renaming.values(tuple(values)), renaming.arguments(transition, arguments))
        (one, end), (other, image) = (self._end(state, transition, given) for state, given in pairs)
        if not isinstance(end, tuple) or not isinstance(image, tuple):
            became = ["is enabled" if isinstance(found, tuple) else found for found in (end, image)]
            return f"{one} {became[0]}, but with {renaming} {other} {became[1]}"
        for leaf, there, here in zip(self.execution.leaves, renaming.values(end), image):
            if there != here:
                there, here = named(leaf.domain, there), named(leaf.domain, here)
                return f"{one}, with {renaming}, would set {leaf.expression} to {there}, but {other} sets it to {here}"
        raise UserError(f"a defect of the prover: {one} does not differ from {other} in plain Python")

    def _end(self, values, transition, arguments):
        """A step, and the values of the state that it leads to, or why there is none."""
        found = self._after(self.execution.from_values(values), transition, arguments)
        return self.execution.step(transition, arguments), found

    def _after(self, state, transition, arguments):
        if arguments not in transition.choices(self.relation.scope):
            return "is never"
        try:
            after = self.execution.after(state, transition, arguments)
        except (IndexError, ValueError):
            return "fails"
        if after is None:
            return "is not"
        found = self.execution.key(after)
        cut = (leaf.bound for leaf, value in zip(self.execution.leaves, found) if leaf.bound and value > leaf.high)
        return next((f"is cut by the bound {bound}" for bound in cut), found)


def _answers(name, renamed):
    return f"property {name} answers otherwise with {renamed.renaming}"
