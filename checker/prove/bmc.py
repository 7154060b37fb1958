"""Bounded model checking: the shortest violation in a scope, without exploring.

What one step is, is made clauses once; each state more adds them under other numbers to one SAT solver, which is asked
whether the last state breaks a property. Up to symmetry, ids are named in order (see `naming`). Every behaviour found
is executed again in plain Python.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Callable

from checker.counterexample import Trace
from checker.errors import UserError
from checker.execution import Execution
from checker.progress import silent
from checker.prove.encoding import Encoding
from checker.prove.interchangeable import require_symmetry
from checker.prove.naming import naming_of
from checker.prove.relation import Relation
from checker.prove.unrolling import Unrolling
from spec.language.domains import Scope
from spec.language.model import SAFETY, Model, Property

SPARE_BITS = 3


@dataclass
class Found:
    """The answer for one property: a shortest trace, or None, and up to how many states none was found."""

    trace: Trace | None = None
    none_within: int = 0
    decided: bool = True


def shortest(unrolling: Unrolling, depth: int) -> dict[str, Found]:
    """The shortest violation of each property in at most `depth` states, by the property's name."""
    properties = unrolling.encoding.relation.properties
    open_, found = list(properties), {prop.name: Found() for prop in properties}
    for states in range(1, depth + 1):
        if states > 1:
            unrolling.extend()
        for prop in list(open_):
            truths = unrolling.breaking(prop)
            if truths is False:
                found[prop.name].none_within = states
                continue
            open_.remove(prop)
            if truths is None:
                found[prop.name].decided = False
            else:
                found[prop.name].trace = _executed(unrolling, truths, prop)
    return found


def _executed(unrolling, truths, prop):
    """A behaviour that the solver found, executed in plain Python; it must break the property there too."""
    relation = unrolling.encoding.relation
    execution = Execution(relation.model, relation.scope)
    initial = next(s for s in execution.initial_states() if unrolling.begins_in(truths, s))
    trace, before, state = Trace(relation.model, relation.scope, initial, []), None, initial
    for number in range(unrolling.states - 1):
        transition, arguments = unrolling.step(truths, number)
        before, state = state, execution.after(state, transition, arguments)
        if state is None:
            raise UserError(f"a defect of the prover: {transition.name}{arguments} is not enabled")
        trace.steps.append((execution.step(transition, arguments), transition, state))
    if prop.kind == "always":
        broken = not prop.predicate(state)
    else:
        broken = not prop.predicate(before, state, *(arguments if prop.of else ()))
    if not broken:
        raise UserError(f"a defect of the prover: {prop.name} holds after {[str(step) for step, _, _ in trace.steps]}")
    return trace


def violations_within(model: Model, scope: Scope, properties: tuple[Property, ...], depth: int, most: float,
                      symmetric: bool = False, note: Callable[[str], object] = silent) -> dict:
    """Bounded model checking of each property with so many millions of propagations, in the form of ``prove --json``.

    With `symmetric`, raises AsymmetryError where it is not proved that nothing tells ids apart.
    `note` is told what is done now.
    """
    if depth < 1:
        raise UserError(f"--depth counts states, the initial one included: 1 or more, not {depth}")
    began = time.monotonic()
    asked = tuple(p for p in properties if p.kind in SAFETY)
    if symmetric:
        require_symmetry(model, scope, asked)
    widest = max([*scope.values(), 32])
    relation = Relation(model, scope, frozenset(), widest.bit_length() + SPARE_BITS, asked)
    unrolling = Unrolling(Encoding(relation, naming_of(relation) if symmetric else None), most, note)
    answers, entries = shortest(unrolling, depth), []
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
        "work": round(unrolling.done(), 1),
    }
