"""One mutant for each property, at the smallest scope that kills it; `make mutants` runs all of them."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from kafkaproof.checker.check.local import explore_here
from kafkaproof.checker.explore.reference import explore
from kafkaproof.checker.mutation.by_hand import catalogue, judge
from kafkaproof.spec.catalogue import all_models, find
from kafkaproof.spec.language.accepted import check_text
from kafkaproof.spec.language.model import SAFETY
from kafkaproof.spec.replication.mutants import replication

OF_PARTS = {
    (model.system, prop.name) for model in all_models() for part in model.parts for prop in find(*part)[0].properties
}
"""Properties of a composed model that its parts have: their mutants are asked there."""
TABLE = (Path(__file__).parents[2] / "docs" / "mutants.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in row.split("|")[1:-1]] for row in TABLE.splitlines() if row.startswith("| ")][2:]
STATES = {}
"""How many states each mutant has by what breaks, as `make mutants` has counted them, by its model, its text and scope."""
for row in ROWS:
    STATES.setdefault(tuple(row[:3]), []).append((row[3], int(row[5].replace(",", ""))))
KILLERS = {}
for model, mutant in catalogue():
    if mutant.kills and (model.system, mutant.kills) not in OF_PARTS:
        KILLERS.setdefault((model.system, mutant.kills), []).append((model, mutant))


def keys_of(model, mutant):
    """The model, text and scope of a mutant's rows in the table."""
    scopes = mutant.counts or [mutant.scope]
    return [(model.name, mutant.text, ", ".join(f"{size} {n}" for size, n in scope.items())) for scope in scopes]


def states_of(model, mutant):
    """How many states the table has for a mutant."""
    rows = STATES[keys_of(model, mutant)[0]]
    return dict(rows).get(mutant.kills, rows[0][1])


def test_every_safety_property_has_a_mutant():
    asked = {(m.system, p.name) for m in all_models() for p in m.properties if p.kind != "sometimes"}
    assert asked - OF_PARTS == set(KILLERS)


def test_every_mutant_has_a_row_in_the_table_and_each_row_is_one():
    rows = Counter(key for model, mutant in catalogue() for key in keys_of(model, mutant))
    assert rows == {key: len(found) for key, found in STATES.items()}


def test_every_mutant_can_be_compiled():
    for model, mutant in catalogue():
        for transition in mutant.mutate(model).transitions:
            if transition not in model.transitions:
                check_text(transition.function)


FEW = 600
"""So many states are explored in plain Python sooner than a kernel is compiled."""


@pytest.mark.parametrize("system, name", KILLERS)
def test_a_mutant_is_killed_by_its_property(system, name):
    model, mutant = min(KILLERS[system, name], key=lambda killer: states_of(*killer))
    mistaken = mutant.mutate(model)
    asked = tuple(p for p in mistaken.properties if p.name == name)
    if asked[0].kind in SAFETY and not mutant.counts and states_of(model, mutant) < FEW:
        assert name in explore(replace(mistaken, properties=asked), mutant.scope, until=name).violated
    else:
        assert judge(model, mutant)[0].noticed


@pytest.mark.parametrize("name", ["leaderless-taken", "newest-request-only"])
def test_a_mistake_that_leaves_the_isr_safe_is_told_by_its_counts(name):
    model = next(m for m in all_models() if m.variant == "kip320")
    mutant = next(m for m in replication.MUTANTS if m.name == name)
    at, row = next(iter(mutant.counts.items()))
    outcome = explore_here(mutant.mutate(model), at).outcome
    assert (outcome.distinct, outcome.depth) == row[:2]
    assert not {"weak_isr", "strong_isr"} & {found.name for found in outcome.violations}
