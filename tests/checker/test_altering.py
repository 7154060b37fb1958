"""A controller that an administrator asks for reassignments: what it promises, and what a cancellation breaks."""

import pytest

from kafkaproof.checker.check.local import explore_here
from kafkaproof.spec.partition.reassignment.model import ALTERING

GOALS = {"is_cancelled", "supersedes"}


@pytest.mark.parametrize(
    "scope, found, goals",
    (
        (ALTERING.scopes["quick"], (10_756, 29_607, 39), set()),
        (ALTERING.scope, (531_878, 1_781_949, 52), GOALS),
        (ALTERING.scopes["deep"], (1_779_832, 6_023_835, 52), GOALS | {"is_replaced"}),
    ),
    ids=("one request", "two requests", "three brokers"),
)
def test_the_recorded_verdicts(scope, found, goals):
    explored = explore_here(ALTERING, scope)
    outcome = explored.outcome
    assert (outcome.distinct, outcome.generated, outcome.depth) == found
    assert {name: trace.states for name, trace in explored.traces.items()} == ALTERING.expectation(scope)
    assert goals <= outcome.reached
    assert {name for name, times in outcome.coverage.items() if not times} <= {"failover.move_controller"}
