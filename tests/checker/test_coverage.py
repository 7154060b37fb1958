"""Every transition of a variant is taken at one of its recorded scopes, or it is listed with the reason."""

from dataclasses import replace
from itertools import product
from math import prod

import pytest

from kafkaproof.checker.check.local import explore_here
from kafkaproof.checker.explore.explorer import Limits
from kafkaproof.spec.catalogue import all_models
from kafkaproof.spec.unnoticed import never_taken, systems

FEW, MOST = 100_000, 350_000
"""A larger scope is explored in part, level by level: so far at first, and then so far."""


def in_turn(scopes):
    """The scopes, each larger in some size than all before it, as long as there is one; then the others, small ones first."""
    left = sorted(scopes, key=lambda at: prod(1 + size for size in at.values()))
    largest = {}
    while left:
        news = [sum(size > largest.get(name, -1) for name, size in at.items()) for at in left]
        at = left.pop(max(i for i, new in enumerate(news) if new == max(news)) if any(news) else 0)
        largest = {name: max(size, largest.get(name, size)) for name, size in at.items()}
        yield at


def test_only_transitions_of_variants_that_exist_are_listed():
    listed = {(system, variant) for system in systems() for variant in never_taken(system)}
    assert listed <= {(model.system, model.variant) for model in all_models()}


@pytest.mark.parametrize("model", all_models(), ids=lambda model: f"{model.system}-{model.variant}")
def test_a_transition_is_taken_at_a_recorded_scope_or_it_is_listed(model):
    """Scopes are explored until only those are left that are listed."""
    reasons = never_taken(model.system).get(model.variant, {})
    assert all(reasons.values())
    listed, left = set(reasons), {transition.name for transition in model.transitions}
    for states, at in product((FEW, MOST), [*in_turn(model.expected)]):
        if left > listed:
            outcome = explore_here(replace(model, properties=()), at, limits=Limits(states=states)).outcome
            left -= {name for name, count in outcome.coverage.items() if count}
    assert left == listed
