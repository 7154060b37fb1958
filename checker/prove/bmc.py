"""Bounded model checking: the shortest violation in a scope, without exploring.

All numbers are bit vectors, and a behaviour of so many states is one question to a SAT solver. Of two steps
in a row that neither read nor write what the other writes, only one order is asked for: the other leads to
the same state. Every behaviour found is executed again in plain Python.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import z3

from checker.counterexample import Trace
from checker.errors import UserError
from checker.execution import Execution
from checker.prove.induction import Clock
from checker.prove.relation import Action, Relation, state_terms
from checker.prove.terms import value_of
from spec.language.domains import Scope, SetOf
from spec.language.model import SAFETY, Model, Property

SPARE_BITS = 3


@dataclass
class Found:
    """The answer for one property: a shortest trace, or None, and up to how many states none was found."""

    trace: Trace | None = None
    none_within: int = 0
    decided: bool = True


@dataclass
class Unrolling:
    """The behaviours of a model, one state after another."""

    relation: Relation
    frames: list[dict] = field(default_factory=list)
    constraints: list = field(default_factory=list)

    def __post_init__(self):
        actions = self.relation.actions
        self.bits = max(1, len(actions).bit_length())
        self.writers: dict[tuple, list[int]] = {}
        for i, action in enumerate(actions):
            for path in action.after:
                self.writers.setdefault(path, []).append(i)
        self.ordered = _ordered_pairs(self.relation)
        execution = Execution(self.relation.model, self.relation.scope)
        first = self._frame(0)
        states = [state_terms(self.relation.variables, s) for s in execution.initial_states()]
        self.constraints.append(z3.Or(*(z3.And(*(first[p] == t for p, t in s.items())) for s in states)))

    def _frame(self, number):
        terms = self.relation.variables.terms
        frame = {path: z3.Const(f"{term}@{number}", term.sort()) for path, term in terms.items()}
        self.frames.append(frame)
        for place in self.relation.variables.places:
            if not place.spare and not isinstance(place.domain, SetOf):
                low, high, _ = self.relation.variables.limits(place.domain)
                self.constraints += [frame[place.path] >= low, frame[place.path] <= high]
        return frame

    def at(self, formula: z3.ExprRef, number: int, action: Action | None = None) -> z3.ExprRef:
        """A formula over the variables as one about a state of the behaviour."""
        pairs = [(term, self.frames[number][path]) for path, term in self.relation.variables.terms.items()]
        if action:
            pairs += [(s, z3.Const(f"{s}@{number}", s.sort())) for s in action.symbols]
        return z3.substitute(formula, *pairs)

    def taken(self, number: int) -> z3.ExprRef:
        """Which action the step from a state is."""
        return z3.BitVec(f"action@{number}", self.bits)

    def extend(self) -> None:
        """One more state."""
        number = len(self.frames) - 1
        taken, actions = self.taken(number), self.relation.actions
        after = self._frame(number + 1)
        self.constraints.append(z3.ULT(taken, len(actions)))
        for i, action in enumerate(actions):
            self.constraints.append(z3.Implies(taken == i, self.at(action.guard, number, action)))
        for path, old in self.frames[number].items():
            new = old
            for i in self.writers.get(path, ()):
                new = z3.If(taken == i, self.at(actions[i].after[path], number, actions[i]), new)
            self.constraints.append(after[path] == new)

    def order(self, number: int) -> z3.BoolRef:
        """That the steps from a state and from the one before it are in the order that is asked for."""
        before, now = self.taken(number - 1), self.taken(number)
        return z3.And(*(z3.Implies(before == i, z3.And(*(now != j for j in js))) for i, js in self.ordered.items()))


def _ordered_pairs(relation):
    """For each action, the earlier ones in the list that it commutes with."""
    reads = [
        set().union(relation.reads(a.guard), *(relation.reads(t) for t in a.after.values())) for a in relation.actions
    ]
    writes = [set(action.after) for action in relation.actions]
    found = {}
    for i in range(len(relation.actions)):
        apart = [j for j in range(i) if not writes[i] & (reads[j] | writes[j]) and not writes[j] & reads[i]]
        if apart:
            found[i] = apart
    return found


def shortest(relation: Relation, prop: Property, depth: int, clock: Clock) -> Found:
    """The shortest violation of a property in at most `depth` states."""
    unrolling, found = Unrolling(relation), Found()
    for states in range(1, depth + 1):
        if states > 1:
            unrolling.extend()
        fails = _fails(unrolling, prop, states)
        if fails is None:
            found.none_within = states
            continue
        last = states - 1 if prop.kind == "always" else states - 2
        solver = z3.Then("simplify", "propagate-values", "solve-eqs", "bit-blast", "sat").solver()
        clock.limit(solver)
        solver.add(*unrolling.constraints, fails, *(unrolling.order(k) for k in range(1, last)))
        answer = solver.check() if clock.left() > 0 else z3.unknown
        if answer == z3.sat:
            found.trace = _executed(unrolling, solver.model(), prop, states)
            return found
        if answer == z3.unknown:
            found.decided = False
            return found
        found.none_within = states
    return found


def _fails(unrolling, prop, states):
    """Where the last state, or the last step, breaks a property; None when there is no step yet."""
    relation = unrolling.relation
    if prop.kind == "always":
        return z3.Not(unrolling.at(relation.always[prop.name], states - 1))
    if states == 1:
        return None
    taken, broken = unrolling.taken(states - 2), []
    for i, action in enumerate(relation.actions):
        if prop.concerns(action.transition):
            holds = unrolling.at(relation.step_predicate(prop, action), states - 2, action)
            broken.append(z3.And(taken == i, z3.Not(holds)))
    return z3.Or(*broken)


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


def violations_within(model: Model, scope: Scope, properties: tuple[Property, ...], depth: int, seconds: float) -> dict:
    """Bounded model checking of each property, in the form of ``prove --json``."""
    if depth < 1:
        raise UserError(f"--depth counts states, the initial one included: 1 or more, not {depth}")
    began, clock = time.monotonic(), Clock(seconds)
    asked = tuple(p for p in properties if p.kind in SAFETY)
    widest = max([*scope.values(), 32])
    relation = Relation(model, scope, frozenset(), widest.bit_length() + SPARE_BITS, asked)
    entries = []
    for prop in asked:
        found = shortest(relation, prop, depth, clock)
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
    }
