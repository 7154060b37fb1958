"""Bounded model checking: the shortest violation in a scope, without exploring.

The step relation is turned into clauses once. Each further state adds them, renumbered, to one SAT solver, which is
asked whether the last state breaks a property. Up to symmetry, ids are named in order (see `naming`). Every behaviour
found is re-executed in plain Python.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.basics.words import counted
from kafkaproof.checker.explore.progress import silent
from kafkaproof.checker.model.execution import Execution, ExecutionError
from kafkaproof.checker.prove.encoding import Encoding
from kafkaproof.checker.prove.formulas import StyleError
from kafkaproof.checker.prove.interchangeable import require_symmetry
from kafkaproof.checker.prove.intervals import interval
from kafkaproof.checker.prove.naming import naming_of
from kafkaproof.checker.prove.relation import Relation
from kafkaproof.checker.prove.terms import is_known
from kafkaproof.checker.prove.unrolling import Unrolling
from kafkaproof.checker.runs.counterexample import Trace
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.model import SAFETY, Model, Property

MOST_BITS = 128


@dataclass
class Found:
    """The answer for one property: a shortest trace or None, and the number of states within which there is none.

    If it is not `decided` because of an error in the specification, `error` has the message.
    """

    trace: Trace | None = None
    none_within: int = 0
    decided: bool = True
    error: str | None = None

    @property
    def where(self) -> str:
        """The length of the trace, or how far there is none, in words."""
        if self.trace:
            return f"in {counted(self.trace.states, 'state')}"
        within = f"within {counted(self.none_within, 'state')}"
        return f"{within}; then {self.error}" if self.error else within


def shortest(unrolling: Unrolling, depth: int) -> dict[str, Found]:
    """The shortest violation of each property in at most `depth` states, by the property's name.

    If a step or a property puts a value or an index out of its range, the properties still open are not decided. Raises
    ExecutionError if no violation was found before.
    """
    properties = unrolling.encoding.relation.properties
    open_, found = list(properties), {prop.name: Found() for prop in properties}
    for states in range(1, depth + 1):
        if states > 1:
            unrolling.extend()
        truths = unrolling.going_wrong()
        if truths is not False:
            _stop(
                [found[prop.name] for prop in open_],
                truths is not None and _error(unrolling, truths),
                all(answer.trace is None for answer in found.values()),
            )
            break
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


def _stop(open_, error, is_all):
    """Leave the open properties undecided, because of an error or because the work is used up."""
    if error and is_all:
        raise error
    for found in open_:
        found.decided, found.error = False, str(error) if error else None


def _replayed(unrolling, truths):
    """Re-execute a behaviour that the solver found: the execution, the trace, and the last step."""
    relation = unrolling.encoding.relation
    execution = Execution(replace(relation.model, properties=relation.properties), relation.scope)
    initial = next(s for s in execution.initial_states() if unrolling.begins_in(truths, s))
    trace, before, state, arguments = Trace(relation.model, relation.scope, initial, []), None, initial, ()
    for number in range(unrolling.states - 1):
        transition, arguments = unrolling.step(truths, number)
        after = execution.after(state, transition, arguments)
        if after is None:
            raise UserError(f"a defect of the prover: {transition.name}{arguments} is not enabled")
        before, state = state, after
        trace.steps.append((execution.step(transition, arguments), transition, state))
    return execution, trace, (before, arguments, state)


def _executed(unrolling, truths, prop):
    """The trace of a behaviour that the solver found; it must violate the property in plain Python too."""
    _, trace, (before, arguments, state) = _replayed(unrolling, truths)
    if prop.kind == "always":
        broken = not prop.predicate(state)
    else:
        broken = not prop.predicate(before, state, *(arguments if prop.of else ()))
    if not broken:
        raise UserError(f"a defect of the prover: {prop.name} holds {_told(trace)}")
    return trace


def _error(unrolling, truths):
    """The error that plain Python raises in the last state of a behaviour that the solver found."""
    execution, trace, (_, _, state) = _replayed(unrolling, truths)
    try:
        for _ in execution.state_verdicts(state):
            pass
        for transition, arguments, after, bound in execution.steps(state):
            if bound is None:
                execution.broken_by_step(state, transition, arguments, after)
    except ExecutionError as error:
        return ExecutionError(f"{error}; in state {trace.states}, {_told(trace)}")
    return UserError(f"a defect of the prover: nothing goes wrong {_told(trace)}")


def _told(trace):
    steps = ", ".join(str(step) for step, _, _ in trace.steps)
    return f"after {steps}" if steps else "an initial one"


def bits_needed(model: Model, scope: Scope, properties: tuple[Property, ...]) -> int:
    """How many bits hold every number, intermediate ones included, in the steps and properties of a model; raises
    StyleError.
    """
    relation = Relation(model, scope, frozenset(), None, properties)
    variables, known = relation.variables, {}
    symbols = [*variables.terms.values(), *(symbol for symbol, _ in variables.arguments.values())]
    ends = [variables.declared(symbol) for symbol in symbols]
    for number in variables.numbers.used.values():
        ends.append((number, number) if is_known(number) else interval(number, variables.declared, known))
        if ends[-1] is None:
            raise StyleError(f"{model.system}: a number is made of more than choice, sum, difference and product")
    bits = 1 + max(int(max(-low - 1, high)).bit_length() for low, high in filter(None, [*ends, (0, 1)]))
    if bits > MOST_BITS:
        raise StyleError(f"{model.system}: a number grows beyond {MOST_BITS} bits")
    return bits


def violations_within(
    model: Model,
    scope: Scope,
    properties: tuple[Property, ...],
    depth: int,
    most: float,
    symmetric: bool = False,
    note: Callable[[str], object] = silent,
) -> dict:
    """Bounded model checking of each property with `most` million propagations; returns the form of ``prove --json``.

    With `symmetric`, raises AsymmetryError if the model is not proved to be symmetric.
    `note` is called with what is being done.
    """
    if depth < 1:
        raise UserError(f"--depth counts states, the initial one included: 1 or more, not {depth}")
    began = time.monotonic()
    asked = tuple(p for p in properties if p.kind in SAFETY)
    if symmetric:
        require_symmetry(model, scope, asked)
    relation = Relation(model, scope, frozenset(), bits_needed(model, scope, asked), asked)
    unrolling = Unrolling(Encoding(relation, naming_of(relation) if symmetric else None), most, note)
    answers, entries = shortest(unrolling, depth), []
    for prop in asked:
        found = answers[prop.name]
        entries.append(
            {
                "property": prop.name,
                "kind": prop.kind,
                "instances": 1,
                "lemmas": [],
                "counterexample": None,
                "verdict": "violated" if found.trace else "holds" if found.decided else "not decided",
                "trace_length": found.trace.states if found.trace else None,
                "trace": [str(step) for step, _, _ in found.trace.steps] if found.trace else None,
                "where": found.where,
            }
        )
    return {
        "system": model.system,
        "variant": model.variant,
        "mode": "bounded",
        "scope": dict(scope),
        "endless": [],
        "depth": depth,
        "actions": len(relation.actions),
        "properties": entries,
        "lemmas": [],
        "found": {},
        "never_enabled": [],
        "seconds": round(time.monotonic() - began, 2),
        "search_seconds": 0.0,
        "work": round(unrolling.done(), 1),
    }
