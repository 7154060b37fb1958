"""What the symbolic readings of a program say, against the truth: merged, bounded and by induction."""

from __future__ import annotations

from collections.abc import Iterator

import z3

from kafkaproof.checker.model.execution import Execution, ExecutionError
from kafkaproof.checker.prove.bmc import violations_within
from kafkaproof.checker.prove.proof import PROVED, RANGES, prove
from kafkaproof.checker.prove.relation import Relation
from kafkaproof.checker.prove.terms import value_of
from kafkaproof.spec.language.plain import get
from tests.checker.fuzz.truth import OUTSIDE, REFUSED, WRONG, Left, Truth
from tests.checker.samples import state_terms

WORK = 20.0
DEPTH = 4


def merged(truth: Truth, states: list, endless: bool) -> Iterator[str]:
    """Differences of the merged relation at some states; its obligations fail exactly where Python fails."""
    relation = Relation(truth.model, truth.scope, None if endless else frozenset())
    name = "merged without bounds" if endless else "merged"
    for key in states:
        terms = state_terms(relation.variables, truth.states[key])
        at = [(relation.variables.terms[path], term) for path, term in terms.items()]
        at += [(z3.Int(f"end of {name}"), z3.IntVal(truth.scope[name])) for name in relation.variables.endless]
        for action in relation.actions:
            for arguments in action.transition.choices(truth.scope):
                meant = list(zip(action.arguments, arguments))
                if all(a == v for a, v in meant if isinstance(a, int)):
                    known = at + [(a, z3.IntVal(v)) for a, v in meant if not isinstance(a, int)]
                    where = f"{name} {action.transition.name}{arguments} of {key}"
                    yield from _action(truth, relation, action, arguments, key, terms, known, where)
        for prop in truth.model.properties:
            if prop.kind == "always" and truth.judged[key, prop.name] != WRONG:
                found = z3.is_true(_at(relation.always[prop.name], at))
                if found != truth.judged[key, prop.name]:
                    yield f"{name} {prop.name} of {key}: Python {truth.judged[key, prop.name]}, merged {found}"


def _at(term, known):
    return z3.simplify(z3.substitute(term, *known))


def _holds(condition):
    """Whether a condition holds, for every index of a loop without end that is left in it."""
    solver = z3.Solver()
    solver.add(z3.Not(condition))
    return z3.is_true(condition) or solver.check() == z3.unsat


def _action(truth, relation, action, arguments, key, terms, known, where):
    wanted = truth.steps[key, action.transition.name, arguments]
    kept = all(_holds(_at(condition, known)) for condition, _ in action.obligations)
    if kept == (wanted == WRONG) and (kept or wanted != OUTSIDE):
        yield f"{where}: Python {wanted}, obligations hold: {kept}"
    if wanted == WRONG or not kept:
        return
    taken = z3.is_true(_at(action.guard, known))
    enabled = wanted != REFUSED and not (isinstance(wanted, Left) and wanted.bound)
    if isinstance(wanted, Left) and wanted.bound and _bound_is_endless(relation, wanted.bound):
        return
    if taken != enabled:
        yield f"{where}: Python {wanted}, guard {taken}"
    if not taken or not isinstance(wanted, Left):
        return
    expected = relation_leaves(truth, relation, wanted.after)
    for place in relation.variables.places:
        if not place.spare and not place.starred:
            found = value_of(_at(action.after.get(place.path, terms[place.path]), known))
            if found != expected[place.path]:
                yield f"{where}: {place.expression} is {expected[place.path]} in Python, {found} merged"
    for prop in truth.model.properties:
        at = key, action.transition.name, arguments, prop.name
        if truth.broken.get(at, WRONG) != WRONG:
            found = z3.is_true(_at(relation.step_predicate(prop, action), known))
            if found != truth.broken[at]:
                yield f"{where}: {prop.name} is {truth.broken[at]} in Python, {found} merged"


def _bound_is_endless(relation, bound):
    return bound in relation.variables.endless


def relation_leaves(truth: Truth, relation: Relation, key) -> dict:
    """The values of a state by the paths of a relation that are single leaves."""
    state = Execution(truth.model, truth.scope).from_values(key)
    return {p.path: get(state, p.path) for p in relation.variables.places if not p.spare and not p.starred}


def bounded(truth: Truth) -> Iterator[str]:
    """Differences of bounded model checking: a violation as long as the shortest there is, an error, or neither."""
    depth = DEPTH if truth.complete else min(DEPTH, max(truth.depths.values()))
    wrong = truth.first_error()
    ends = depth if wrong is None else min(depth, wrong - 1)
    violated = {name: length for name, length in truth.violated().items() if length <= ends}
    try:
        result = violations_within(truth.model, truth.scope, truth.model.properties, depth, WORK)
    except ExecutionError as error:
        if ends == depth or violated:
            yield f"--depth {depth} says {error}; Python goes wrong in {wrong} states, and fails so: {violated}"
        return
    if ends < depth and not violated:
        yield f"Python goes wrong in {wrong} states, --depth {depth} does not"
    for entry in result["properties"]:
        length, is_open = violated.get(entry["property"]), entry["verdict"] == "not decided"
        if is_open and ends == depth:
            continue
        if entry["trace_length"] != length or is_open != (ends < depth and length is None):
            yield f"{entry['property']}: Python fails in {length} states, --depth {depth}: {entry}"


def proved(truth: Truth, any_size: bool = False) -> Iterator[str]:
    """What is proved, though it does not hold."""
    proof = prove(truth.model, truth.scope, truth.model.properties, (), WORK, any_size=any_size)
    name = "proved for any number" if any_size else "proved"
    verdicts = {v.name: v.verdict == PROVED for v in proof.verdicts}
    outside = OUTSIDE in (truth.beginning, *truth.steps.values())
    goals = {p.name for p in truth.model.properties if p.kind == "sometimes"}
    judged = (answer for (_, name), answer in truth.judged.items() if name not in goals)
    wrong = WRONG in (truth.beginning, *truth.steps.values(), *judged, *truth.broken.values())
    ranges, indices = verdicts.pop(RANGES), verdicts.pop("indices in range")
    if ranges and indices and outside:
        yield f"{name}: declared ranges and ids in sets, and a step leaves one"
    if indices and wrong:
        yield f"{name}: indices in range, and something runs into an error"
    for violated, length in truth.violated().items():
        if verdicts[violated]:
            yield f"{name}: {violated}, and it fails in {length} states"
    taken = {at[1] for at, step in truth.steps.items() if isinstance(step, Left) and not step.bound}
    for transition in taken & set(proof.never_enabled):
        yield f"{name}: {transition} is never enabled, and it is taken"
