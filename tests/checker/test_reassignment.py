"""A controller that reassigns partitions keeps what it promises, but for what is a finding (docs/findings/partition.md)."""

import pytest

from kafkaproof.checker.check.local import explore_here
from kafkaproof.spec.partition.reassignment.model import REASSIGNING

QUICK = REASSIGNING.scopes["quick"]
TWO_FAULTS = QUICK | {"replicas": 1, "faults": 2}


@pytest.mark.parametrize(
    "scope, found",
    ((QUICK, (51_910, 161_903, 44)), (TWO_FAULTS, (259_633, 870_670, 44))),
    ids=("one fault", "two faults"),
)
def test_the_recorded_verdicts(scope, found):
    explored = explore_here(REASSIGNING, scope)
    outcome = explored.outcome
    assert (outcome.distinct, outcome.generated, outcome.depth) == found
    assert {name: trace.states for name, trace in explored.traces.items()} == REASSIGNING.expectation(scope)
    assert {name for name, times in outcome.coverage.items() if not times} <= {"failover.move_controller"}
    if scope is QUICK:
        goals = {prop.name for prop in REASSIGNING.properties_at(scope) if prop.kind == "sometimes"}
        assert outcome.reached >= goals
