"""The merged relation of every model agrees with plain Python, on sampled reachable states."""

import pytest
import z3

from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.prove.formulas import StyleError, universals
from kafkaproof.checker.prove.relation import Relation
from kafkaproof.checker.prove.terms import value_of
from kafkaproof.checker.prove.variables import EVERY, bounds_of, sorts_of
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.language.plain import get
from tests import toys
from tests.checker.samples import sample, small_scope, state_terms

TOYS = [toys.clock(), toys.graph([(0, 1), (1, 2), (2, 0), (3, 3)], [0, 3]), toys.counter(4), toys.queue()]

SMALL = [*find("election"), *find("replication"), *find("async-isr")]
NEWEST = [
    find(*name)[0]
    for name in (
        ("partition", "fenced"),
        ("requests", "current"),
        ("replica", "current"),
        ("group", "current"),
        ("consumer", "orderly"),
    )
]


def argument_values(action, scope):
    """All values of an action's arguments, each with what its symbols stand for."""
    for values in action.transition.choices(scope):
        pairs = list(zip(action.arguments, values))
        if all(v == a for a, v in pairs if isinstance(a, int)):
            yield values, [(a, number(a, v)) for a, v in pairs if not isinstance(a, int)]


def number(term, value):
    return z3.BitVecVal(value, term.sort()) if z3.is_bv(term) else z3.IntVal(value)


def compared(relation, execution, states):
    """How many (state, step) pairs were compared; asserts that each agrees."""
    count = 0
    for state in states:
        terms = state_terms(relation.variables, state)
        at = [(relation.variables.terms[path], term) for path, term in terms.items()]
        for action in relation.actions:
            for arguments, meant in argument_values(action, execution.scope):
                after, known = execution.after(state, action.transition, arguments), at + meant
                guard = z3.simplify(z3.substitute(action.guard, *known))
                if after is None or any(overflows(relation, p, after) for p in relation.variables.places):
                    assert z3.is_false(guard), f"{action.name}{arguments}"
                    continue
                assert z3.is_true(guard), f"{action.name}{arguments}"
                wanted = state_terms(relation.variables, after)
                for place in relation.variables.places:
                    path = place.path
                    if not place.spare:
                        found = z3.simplify(z3.substitute(action.after.get(path, terms[path]), *known))
                        assert same_array(found, wanted[path], ends(relation, place, after)), f"{action.name} {path}"
                count += 1
    return count


def overflows(relation, place, state):
    """Whether a leaf lies beyond a bound that the relation keeps."""
    _, high, bound = relation.variables.limits(place.domain)
    if not place.spare and (bound is None or high is None):
        return False
    return any(value != 0 if place.spare else value > high for value in leaves(place, state))


def leaves(place, state):
    """The value of a leaf, or those of all elements of an array without end."""
    if not place.starred:
        return [get(state, place.path)]
    cut = place.path.index(EVERY)
    return [get(element, place.path[cut + 1 :]) for element in get(state, place.path[:cut])]


def ends(relation, place, state):
    """Where the arrays of a leaf end: that in which it is, without a spare slot, and a set of any size."""
    largest = max(relation.scope.values(), default=0)
    if not place.starred:
        return [largest]
    elements = len(get(state, place.path[: place.path.index(EVERY)]))
    return [elements if place.path in relation.variables.over_ids else elements - 1, largest]


def same_array(found, wanted, ends):
    if not z3.is_array_sort(wanted):
        return value_of(z3.simplify(found)) == value_of(z3.simplify(wanted))
    return all(same_array(found[i], wanted[i], ends[1:]) for i in range(ends[0]))


DIVIDING = [*find("consumer", "roundrobin"), *find("consumer", "range-ceil")]
ENDLESS = [
    pytest.param(m, True, id=f"{m.system}-{m.variant}, without bounds") for m in [*TOYS, *SMALL, *NEWEST, *DIVIDING]
]
SCOPED = [pytest.param(m, False, id=f"{m.system}-{m.variant}, in a scope") for m in [*TOYS, *SMALL]]


@pytest.mark.parametrize("model, endless", ENDLESS + SCOPED)
def test_merged_steps_are_those_of_python(model, endless):
    scope = small_scope(model)
    bits = None if endless else 6
    relation = Relation(model, scope, None if endless else frozenset(), bits)
    execution = Execution(model, scope)
    assert compared(relation, execution, sample(execution, 3 if model in [*NEWEST, *DIVIDING] else 10)) > 0


@pytest.mark.parametrize("model", [*TOYS, *SMALL, *NEWEST], ids=lambda model: f"{model.system}-{model.variant}")
def test_merged_properties_judge_as_python_does(model):
    relation, execution = Relation(model, small_scope(model)), Execution(model, small_scope(model))
    for state in sample(execution, 10 if model in NEWEST else 40):
        terms = state_terms(relation.variables, state)
        at = [(relation.variables.terms[path], term) for path, term in terms.items()]
        for prop, holds in execution.state_verdicts(state):
            if prop.kind == "always":
                solver = z3.Solver()
                solver.add(z3.Not(z3.substitute(relation.always[prop.name], *at)))
                assert solver.check() == (z3.unsat if holds else z3.sat), prop.name


@pytest.mark.parametrize("model", [*find("election", "legacy"), *find("election", "fenced")], ids=lambda m: m.variant)
def test_merged_steps_for_any_number_of_brokers_are_those_of_python(model):
    scope = small_scope(model)
    relation = Relation(model, scope, bounds_of(model) | sorts_of(model))
    assert "brokers" in relation.variables.array_bounds
    assert compared(relation, Execution(model, scope), sample(Execution(model, scope), 5)) > 0


@pytest.mark.parametrize("system, variant", [("replica", "current"), ("partition", "fenced")])
def test_a_model_that_counts_brokers_is_refused_for_any_number_of_them(system, variant):
    (model,) = find(system, variant)
    with pytest.raises(StyleError):
        Relation(model, small_scope(model), bounds_of(model) | sorts_of(model))


def test_a_fact_that_some_index_has_something_is_refused_in_words():
    x = z3.Int("x")
    with pytest.raises(StyleError, match="not that there is one"):
        universals(z3.Exists([x], x > 0))
