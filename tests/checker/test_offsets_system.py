"""The offsets system: recorded verdicts, and the accounts of its findings."""

import pytest

from kafkaproof.checker.check.local import explore_here
from kafkaproof.checker.explore.reference import explore
from kafkaproof.spec.offsets.history import paths
from kafkaproof.spec.offsets.model import MODELS, RETURN, scope
from kafkaproof.spec.offsets.stores import checkpoint_at
from tests.checker.exhibits import exhibits_of, require_exhibit

COUNTS = {
    ("dual-commit", scope()): (334, 672, 15),
    ("dual-commit", scope(crashes=1)): (865, 2_032, 17),
    ("dual-commit", scope(expirations=1)): (805, 1_628, 20),
    ("return", scope()): (279, 565, 21),
    ("direct", scope()): (348, 702, 14),
    ("misplaced", scope(crashes=1)): (98, 204, 7),
    ("repaired", scope(crashes=1)): (758, 1_796, 17),
}
BY_VARIANT = {model.variant: model for model in MODELS}
EXHIBITS = exhibits_of("offsets", scope().keys())


@pytest.mark.parametrize("variant, sizes", COUNTS, ids=str)
def test_scopes_give_the_recorded_verdicts(variant, sizes):
    found = explore(BY_VARIANT[variant], sizes)
    assert (found.distinct, found.generated, found.depth) == COUNTS[variant, sizes]
    assert found.violated == BY_VARIANT[variant].expectation(sizes)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.variant)
def test_every_goal_is_reached_and_every_transition_taken_at_a_recorded_scope(model):
    found = [explore_here(model, sizes).outcome for sizes in model.expected]
    assert set().union(*(each.reached for each in found)) == {p.name for p in model.properties if p.kind == "sometimes"}
    assert {name for each in found for name, count in each.coverage.items() if count} == {
        t.name for t in model.transitions
    }


def test_the_same_repair_lets_a_group_go_back():
    repaired = RETURN.rebound({checkpoint_at: paths.checkpoint_in_zookeeper})
    assert not explore_here(repaired, scope(members=3, records=3, crashes=1)).traces


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=lambda each: f"{each.variant}-{each.name}")
def test_an_exhibit_of_the_findings_is_one(exhibit):
    require_exhibit(BY_VARIANT[exhibit.variant], exhibit)


def test_the_findings_have_their_exhibits():
    assert [(each.variant, each.states) for each in EXHIBITS] == [
        ("return", 8),
        ("dual-commit", 10),
        ("dual-commit", 9),
    ]
