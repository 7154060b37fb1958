"""A controller that an administrator asks for reassignments: what it promises, and what a cancellation breaks."""

import pytest

from kafkaproof.checker.check.local import explore_here
from kafkaproof.spec.partition.reassignment.model import ALTERING

GOALS = {"is_cancelled", "supersedes"}


@pytest.mark.parametrize(
    "scope, found, goals",
    (
        (ALTERING.scopes["quick"], (7_886, 21_903, 33), set()),
        (ALTERING.scope, (307_277, 1_045_588, 41), GOALS),
        (ALTERING.scopes["deep"], (933_854, 3_214_203, 41), GOALS | {"is_replaced"}),
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
