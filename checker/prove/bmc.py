"""Bounded model checking: the shortest violation in a scope, without exploring.

All numbers are bit vectors, and a behaviour of so many states is one question to a SAT solver. Of two steps
in a row that neither read nor write what the other writes, only one order is asked for: the other leads to
the same state. Up to symmetry, ids are named in order (see `naming`). Every behaviour found is executed again in
plain Python.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import z3

from checker.counterexample import Trace
from checker.errors import UserError
from checker.execution import Execution
from checker.kernel import Kernel
from checker.mirror import require_symmetry
from checker.prove.naming import Naming, naming_of
from checker.prove.relation import Relation, state_terms
from checker.prove.terms import value_of
from checker.prove.work import Work
from spec.language.domains import Scope, SetOf
from spec.language.model import SAFETY, Model, Property

SPARE_BITS = 3


@dataclass
class Found:
    """The answer for one property: a shortest trace, or None, and up to how many states none was found."""

    trace: Trace | None = None
    none_within: int = 0
    decided: bool = True


class Unrolling:
    """The behaviours of a model, one state after another.

    What one step is, is one formula over a state, the next state and the number of the action taken; each step of the
    behaviour is that formula with other names. Ids are named in the order that `naming` asks for.
    """

    def __init__(self, relation: Relation, naming: Naming | None = None):
        self.relation, self.frames, self.constraints = relation, [], []
        self._naming = naming or Naming({}, {})
        self._known = dict.fromkeys(self._naming.named, z3.BoolVal(False))
        terms, actions = relation.variables.terms, relation.actions
        self.number = z3.BitVec("action", max(1, len(actions).bit_length()))
        self.symbols = list({s.get_id(): s for action in actions for s in action.symbols}.values())
        self._next = {path: z3.Const(f"{term}'", term.sort()) for path, term in terms.items()}
        self._within = z3.And(*_within(relation))
        self._step = z3.And(*_step(relation, self._next, self.number))
        self._apart = _apart(relation)
        self._frame()
        execution = Execution(relation.model, relation.scope)
        states = [state_terms(relation.variables, s) for s in execution.initial_states()]
        first = self.frames[0]
        self.constraints.append(z3.Or(*(z3.And(*(first[p] == t for p, t in s.items())) for s in states)))

    def _frame(self):
        terms = self.relation.variables.terms
        self.frames.append({p: z3.Const(f"{t}@{len(self.frames)}", t.sort()) for p, t in terms.items()})
        self.constraints.append(self.at(self._within, len(self.frames) - 1))

    def at(self, formula: z3.ExprRef, number: int) -> z3.ExprRef:
        """A formula over a state and the action taken in it, as one about a state of the behaviour."""
        terms = self.relation.variables.terms
        named = [self.number, *self.symbols]
        pairs = [(term, self.frames[number][path]) for path, term in terms.items()]
        pairs += [(term, z3.Const(f"{term}@{number}", term.sort())) for term in named]
        if number + 1 < len(self.frames):
            pairs += [(term, self.frames[number + 1][path]) for path, term in self._next.items()]
        return z3.substitute(formula, *pairs)

    def taken(self, number: int) -> z3.ExprRef:
        """Which action the step from a state is."""
        return z3.BitVec(f"{self.number}@{number}", self.number.size())

    def extend(self) -> None:
        """One more state."""
        self._frame()
        last = len(self.frames) - 2
        self.constraints += [self.at(self._step, last), *self._named_in_order(last)]

    def _named_in_order(self, number):
        """That the step from a state names no id before the one that it waits for."""
        taken = self.taken(number)
        for name, numbers in self._naming.named.items():
            for i in self._naming.needed[name]:
                yield z3.Implies(taken == i, self._known[name])
            known = z3.Bool(f"{name} is named@{number}")
            yield known == z3.Or(self._known[name], *(taken == i for i in numbers))
            self._known[name] = known

    def order(self, number: int) -> z3.BoolRef:
        """That the steps from a state and from the one before it are in the order that is asked for."""
        before, now = self.taken(number - 1), self.taken(number)
        return z3.And(*(z3.Implies(before == i, z3.And(*(now != j for j in js))) for i, js in self._apart.items()))


def _within(relation):
    """That each number is in its declared range."""
    for place in relation.variables.places:
        if not place.spare and not isinstance(place.domain, SetOf):
            low, high, _ = relation.variables.limits(place.domain)
            term = relation.variables.terms[place.path]
            yield from (term >= low, term <= high)


def _step(relation, following, number):
    """That an action is taken, and what it leaves."""
    yield z3.ULT(number, len(relation.actions))
    left = dict(relation.variables.terms)
    for i, action in enumerate(relation.actions):
        yield z3.Implies(number == i, action.guard)
        for path, term in action.after.items():
            left[path] = z3.If(number == i, term, left[path])
    for path, term in left.items():
        yield following[path] == term


def _apart(relation):
    """For each action, the earlier ones in the list that it commutes with."""
    reads = [set().union(*map(relation.reads, (a.guard, *a.after.values()))) for a in relation.actions]
    writes = [set(action.after) for action in relation.actions]
    found = {}
    for i in range(len(relation.actions)):
        apart = [j for j in range(i) if not writes[i] & (reads[j] | writes[j]) and not writes[j] & reads[i]]
        if apart:
            found[i] = apart
    return found


def shortest(relation: Relation, properties: tuple[Property, ...], depth: int, work: Work,
             naming: Naming | None = None) -> dict[str, Found]:
    """The shortest violation of each property in at most `depth` states, by the property's name."""
    unrolling, found = Unrolling(relation, naming), {prop.name: Found() for prop in properties}
    open_ = list(properties)
    for states in range(1, depth + 1):
        if states > 1:
            unrolling.extend()
        for prop in list(open_):
            answer = _asked(unrolling, prop, states, work)
            if answer is None or answer == z3.unsat:
                found[prop.name].none_within = states
                continue
            open_.remove(prop)
            if answer == z3.unknown:
                found[prop.name].decided = False
            else:
                found[prop.name].trace = _executed(unrolling, answer, prop, states)
    return found


def _asked(unrolling, prop, states, work):
    """Whether the last of so many states, or the last step, may break a property: a model, z3's answer, or None."""
    fails = _fails(unrolling, prop, states)
    if fails is None:
        return None
    last = states - 1 if prop.kind == "always" else states - 2
    solver = z3.Then("simplify", "propagate-values", "solve-eqs", "bit-blast", "sat").solver()
    work.limit(solver)
    solver.add(*unrolling.constraints, fails, *(unrolling.order(k) for k in range(1, last)))
    answer = solver.check() if work.left() > 0 else z3.unknown
    return solver.model() if answer == z3.sat else answer


def _fails(unrolling, prop, states):
    """Where the last state, or the last step, breaks a property; None when there is no step yet."""
    relation = unrolling.relation
    if prop.kind == "always":
        return z3.Not(unrolling.at(relation.always[prop.name], states - 1))
    if states == 1:
        return None
    broken = [
        z3.And(unrolling.number == i, z3.Not(relation.step_predicate(prop, action)))
        for i, action in enumerate(relation.actions) if prop.concerns(action.transition)
    ]
    return unrolling.at(z3.Or(*broken), states - 2)


def _executed(unrolling, model, prop, states):
    """The behaviour of a model of z3, executed in plain Python; it must break the property there too."""
    relation = unrolling.relation
    execution = Execution(relation.model, relation.scope)
    initial = next(s for s in execution.initial_states() if _is_first(unrolling, model, s))
    trace, before, state = Trace(relation.model, relation.scope, initial, []), None, initial
    for number in range(states - 1):
        action = relation.actions[model.eval(unrolling.taken(number), model_completion=True).as_long()]
        arguments = tuple(
            a if isinstance(a, int) else _value(model, z3.Const(f"{a}@{number}", a.sort())) for a in action.arguments
        )
        before, state = state, execution.after(state, action.transition, arguments)
        if state is None:
            raise UserError(f"a defect of the prover: {action.transition.name}{arguments} is not enabled")
        trace.steps.append((execution.step(action.transition, arguments), action.transition, state))
    if prop.kind == "always":
        broken = not prop.predicate(state)
    else:
        broken = not prop.predicate(before, state, *(arguments if prop.of else ()))
    if not broken:
        raise UserError(f"a defect of the prover: {prop.name} holds after {[str(step) for step, _, _ in trace.steps]}")
    return trace


def _is_first(unrolling, model, state):
    """Whether the behaviour of a model of z3 begins in a state."""
    terms = state_terms(unrolling.relation.variables, state)
    first = unrolling.frames[0]
    return all(z3.is_true(model.eval(first[path] == term, model_completion=True)) for path, term in terms.items())


def _value(model, term):
    value = model.eval(term, model_completion=True)
    return value.as_signed_long() if z3.is_bv(value) else value_of(value)


def violations_within(model: Model, scope: Scope, properties: tuple[Property, ...], depth: int, most: float,
                      symmetric: bool = False) -> dict:
    """Bounded model checking of each property with so many millions of steps, in the form of ``prove --json``.

    A model whose ids shall be `symmetric` is tested first: raises AsymmetryError where it tells them apart.
    """
    if depth < 1:
        raise UserError(f"--depth counts states, the initial one included: 1 or more, not {depth}")
    began, work = time.monotonic(), Work(most)
    asked = tuple(p for p in properties if p.kind in SAFETY)
    if symmetric:
        require_symmetry(Kernel(model, scope, asked, symmetric=True))
    widest = max([*scope.values(), 32])
    relation = Relation(model, scope, frozenset(), widest.bit_length() + SPARE_BITS, asked)
    answers, entries = shortest(relation, asked, depth, work, naming_of(relation) if symmetric else None), []
    for prop in asked:
        found = answers[prop.name]
        entries.append({
            "property": prop.name, "kind": prop.kind, "instances": 1, "lemmas": [], "counterexample": None,
            "verdict": "violated" if found.trace else "holds" if found.decided else "not decided",
            "trace_length": found.trace.states if found.trace else None,
            "trace": [str(step) for step, _, _ in found.trace.steps] if found.trace else None,
            "where": f"in {found.trace.states} states" if found.trace else f"within {found.none_within} states",
        })
    return {
        "system": model.system, "variant": model.variant, "mode": "bounded", "scope": dict(scope), "endless": [],
        "depth": depth, "actions": len(relation.actions), "properties": entries, "lemmas": [], "found": {},
        "never_enabled": [], "seconds": round(time.monotonic() - began, 2), "search_seconds": 0.0,
        "work": round(work.done(), 1),
    }
