"""One mutant for each property, at the smallest scope that kills it; `make mutants` runs all of them."""

import pytest

from checker.local import explore_here
from checker.mutation import catalogue, judge
from checker.reference import explore
from spec.catalogue import MODELS, find
from spec.language.model import SAFETY
from spec.language.rules import check_rules
from spec.mutants import replication

FIRST = {}
OF_PARTS = {
    (model.system, prop.name)
    for model in MODELS for part in model.parts for prop in find(*part)[0].properties
}
"""Properties of a composed model that its parts have: their mutants are asked there."""
for model, mutant in catalogue():
    if mutant.kills and (model.system, mutant.kills) not in OF_PARTS:
        FIRST.setdefault((model.system, mutant.kills), (model, mutant))


def test_every_safety_property_has_a_mutant():
    asked = {(m.system, p.name) for m in MODELS for p in m.properties if p.kind != "sometimes"}
    assert asked - OF_PARTS == set(FIRST)


def test_every_mutant_can_be_compiled():
    for model, mutant in catalogue():
        for transition in mutant.mutate(model).transitions:
            if transition not in model.transitions:
                check_rules(transition.function)


FEW = 400
"""So many states are explored in plain Python sooner than a kernel is compiled."""


@pytest.mark.parametrize("system, name", FIRST)
def test_a_mutant_is_killed_by_its_property(system, name):
    model, mutant = FIRST[system, name]
    if not mutant.counts and next(p for p in model.properties if p.name == name).kind in SAFETY:
        if name in explore(mutant.mutate(model), mutant.scope, enough=FEW, until=name).violated:
            return
    assert judge(model, mutant)[0].noticed


@pytest.mark.parametrize("name", ["leaderless-taken", "newest-request-only"])
def test_a_mistake_that_breaks_no_property_is_told_by_its_counts(name):
    model = next(m for m in MODELS if m.variant == "kip320")
    mutant = next(m for m in replication.MUTANTS if m.name == name)
    at, row = next(iter(mutant.counts.items()))
    outcome = explore_here(mutant.mutate(model), dict(zip(model.scope, at))).outcome
    assert (outcome.distinct, outcome.depth) == row[:2]
    assert not outcome.violations
