"""The placement system: recorded verdicts, and what the finding and its repair are about."""

import pytest

from kafkaproof.checker.check.local import explore_here
from kafkaproof.spec.kafka.replica_lists import assign_replicas
from kafkaproof.spec.placement.model import MODELS

COUNTS = {
    ("racks", "standard"): (61_109, 111_053, 9),
    ("racks", "quick"): (21_736, 42_295, 10),
    ("racks", "deep"): (202_498, 377_850, 10),
    ("repaired", "standard"): (51_824, 97_717, 8),
    ("repaired", "quick"): (18_198, 36_335, 10),
    ("repaired", "deep"): (159_989, 310_761, 9),
}
BY_VARIANT = {model.variant: model for model in MODELS}


@pytest.mark.parametrize("variant, name", COUNTS)
def test_scopes_give_the_recorded_verdicts(variant, name):
    model = BY_VARIANT[variant]
    at = model.scopes[name]
    explored = explore_here(model, at)
    outcome = explored.outcome
    assert (outcome.distinct, outcome.generated, outcome.depth) == COUNTS[variant, name]
    assert {found: trace.states for found, trace in explored.traces.items()} == model.expectation(at)
    assert outcome.reached == {p.name for p in model.properties_at(at) if p.kind == "sometimes"}
    assert {found for found, count in outcome.coverage.items() if not count} <= {"topic.leave"}


def test_the_second_partition_is_preferred_by_the_same_broker():
    """The story of the finding: broker 1 is first among the racks, and second by id."""
    racks = {0: "b", 1: "a"}
    assert assign_replicas([0, 1], 1, 1, 0, 0, racks=racks) == [[1]]
    assert assign_replicas([0, 1], 1, 1, 1, 1, 1, racks) == [[1]]
    assert assign_replicas([0, 1], 1, 1, 1, 1, 1) == [[0]]
