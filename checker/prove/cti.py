"""Counterexamples to induction: a state where the facts hold, and a step after which one does not.

Such a state need not be reachable. It is shown with values as close to the initial state as z3 finds, and with
only the leaves without which the step would not fail.
"""

from __future__ import annotations

from dataclasses import dataclass

import z3

from kafkaproof.checker.prove.facts import Family, instances
from kafkaproof.checker.prove.induction import Failure
from kafkaproof.checker.prove.parts import distinct
from kafkaproof.checker.prove.question import numbers_of
from kafkaproof.checker.prove.relation import Action, Relation
from kafkaproof.checker.prove.terms import value_of
from kafkaproof.checker.prove.variables import EVERY
from kafkaproof.checker.prove.work import Work
from kafkaproof.spec.language.domains import named

INITIAL = "initial state"


@dataclass(frozen=True)
class Leaf:
    """One leaf of a counterexample: its term, how it reads, and its value before and after the step."""

    term: z3.ExprRef
    text: str
    path: tuple
    before: object
    after: object


@dataclass(frozen=True)
class Cti:
    """A counterexample to induction of a family: the step (None at the start), and the leaves that matter."""

    family: str
    action: Action | None
    step: str
    leaves: tuple[Leaf, ...]
    model: z3.ModelRef

    @property
    def paths(self) -> set[tuple]:
        """The leaves that matter."""
        return {leaf.path for leaf in self.leaves}


def smallest(relation: Relation, failure: Failure, families: list[Family], work: Work) -> Cti | None:
    """The counterexample with small values and only the leaves that matter; None when z3 does not find it again."""
    if failure.action is None:
        return Cti(failure.family.name, None, INITIAL, _at_first(relation, failure), failure.model)
    solver, indices = _solver(relation, failure, families)
    work.limit(solver)
    if solver.check() != z3.sat:
        return None
    for term, wanted in _preferred(relation):
        solver.push()
        solver.add(term == wanted)
        work.limit(solver)
        if solver.check() != z3.sat:
            solver.pop()
    for term in list(numbers_of(relation)) + failure.action.symbols:
        _lower(solver, term, work)
    if solver.check() != z3.sat:
        return None
    model = solver.model()
    at = _values(relation, model, indices)
    before = relation.variables.terms
    after = {**before, **failure.action.after}
    leaves = [_leaf(relation, before, after, model, path, index, at) for path, index in _cells(relation, at)]
    kept = _mattering(failure, leaves, model)
    return Cti(failure.family.name, failure.action, step_text(failure.action, model), kept, model)


def _at_first(relation, failure):
    """The leaves in a fact that an initial state breaks, with their values there."""
    goal, model = failure.goal, failure.model
    store = next(
        store
        for condition, store, _ in relation.initial
        if not z3.is_true(model.eval(z3.Implies(condition, relation.moved(goal, store)), model_completion=True))
    )
    at = _values(relation, model, relation.indices(goal), store)
    return tuple(
        _leaf(relation, store, store, model, path, index, at)
        for path, index in _cells(relation, at)
        if path in relation.reads(goal)
    )


def _solver(relation, failure, families):
    solver = z3.Solver()
    formulas = [failure.action.guard, z3.Not(failure.goal)]
    solver.add(*formulas)
    plain = [fact.formula for family in families for fact in family.facts if not fact.over]
    indices = [i for formula in formulas + plain for i in relation.indices(formula)]
    terms = distinct([*indices, *numbers_of(relation), *failure.action.symbols])
    for family in families:
        solver.add(*instances(relation, family, terms))
    return solver, [i for formula in formulas for i in relation.indices(formula)]


def _preferred(relation):
    """The formulas that a leaf has its initial value."""
    store = relation.initial[0].store
    for path, term in relation.variables.terms.items():
        if EVERY not in path and not relation.reads(store[path]):
            yield term, store[path]


def _lower(solver, term, work):
    """Make a number as small as possible, within reason."""
    for high in (1, 2, 3, 5):
        solver.push()
        solver.add(term <= high)
        work.limit(solver)
        if solver.check() == z3.sat:
            return
        solver.pop()


def _values(relation, model, indices, store=None):
    """The values of the ids (True) and the numbers (False) that index arrays, in the state of these leaves if given."""
    found = {True: set(), False: set()}
    for index in indices:
        term = index if store is None else relation.moved(index, store)
        found[relation.is_id(index)].add(model.eval(term, model_completion=True).as_long())
    return {is_id: sorted(i for i in values if i >= 0) for is_id, values in found.items()}


def _cells(relation, at):
    """The paths of all leaves; in unbounded arrays, at the indices that occur."""
    for path in relation.variables.terms:
        if EVERY not in path:
            yield path, None
        else:
            yield from ((path, i) for i in at[path in relation.variables.over_ids])


def _leaf(relation, before, after, model, path, index, at):
    old, new = (store[path] if index is None else store[path][index] for store in (before, after))
    domain = relation.variables.domains[path]
    shown = [named(domain, _value(model, term, at[True])) for term in (old, new)]
    place = next(p for p in relation.variables.places if p.path == path)
    text = place.expression.replace(f"[{EVERY}]", f"[{index}]")
    return Leaf(old, text, path, *shown)


def _value(model, term, ids):
    """The value of a term; for a set of any size, its members among the ids that occur."""
    if not z3.is_array_sort(term):
        return value_of(model.eval(term, model_completion=True))
    return sum(1 << i for i in ids if z3.is_true(model.eval(z3.Select(term, i), model_completion=True)))


def _mattering(failure, leaves, model):
    """The leaves without which the step would not fail, and those that it changes."""
    solver = z3.Solver()
    solver.set("core.minimize", True)
    fails = z3.And(failure.action.guard, z3.Not(failure.goal))
    for symbol in [*failure.action.symbols, *(i for fact in failure.family.facts for i in fact.over)]:
        solver.add(symbol == model.eval(symbol, model_completion=True))
    solver.add(z3.Not(fails))
    literals = {f"leaf {i}": leaf for i, leaf in enumerate(leaves)}
    for name, leaf in literals.items():
        solver.add(z3.Implies(z3.Bool(name), leaf.term == model.eval(leaf.term, model_completion=True)))
    if solver.check(*map(z3.Bool, literals)) != z3.unsat:
        return tuple(leaves)
    core = {str(c) for c in solver.unsat_core()}
    return tuple(leaf for name, leaf in literals.items() if name in core or leaf.before != leaf.after)


def step_text(action: Action, model: z3.ModelRef) -> str:
    """The step as text, with the values of its symbols in a model."""
    domains = action.transition.arguments
    shown = ", ".join(f"{name}={_shown(domains[name], value)}" for name, value in arguments_of(action, model).items())
    return f"{action.transition.name}({shown})"


def arguments_of(action: Action, model: z3.ModelRef) -> dict[str, int]:
    """The arguments of a step by name, with the values of its symbols in a model."""
    values = (value_of(a if isinstance(a, int) else model.eval(a, model_completion=True)) for a in action.arguments)
    return dict(zip(action.transition.arguments, values))


def _shown(domain, value):
    found = named(domain, value)
    return found if isinstance(found, str) else value
