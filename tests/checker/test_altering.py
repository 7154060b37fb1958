"""A controller that an administrator asks for reassignments: what it promises, and what a cancellation breaks."""

import pytest

from kafkaproof.checker.check.local import explore_here
from kafkaproof.spec.partition.reassignment.model import ALTERING

GOALS = {"is_cancelled", "supersedes"}


@pytest.mark.parametrize(
    "scope, found, goals",
    (
        (ALTERING.scopes["quick"], (10_562, 28_953, 39), set()),
        (ALTERING.scope, (530_083, 1_772_609, 52), GOALS),
        (ALTERING.scopes["deep"], (1_762_445, 5_940_125, 52), GOALS | {"is_replaced"}),
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
