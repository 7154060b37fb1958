"""A controller that deletes topics keeps what it promises, but for an answer that comes late."""

import pytest

from kafkaproof.checker.check.local import explore_here
from kafkaproof.spec.partition.deletion.model import DELETING

ONE_TOPIC = DELETING.scopes["quick"]
TWO_TOPICS = ONE_TOPIC | {"replicas": 1, "partitions": 2, "leader_epochs": 2}


@pytest.mark.parametrize(
    "scope, found",
    ((ONE_TOPIC, (43_986, 137_680, 39)), (TWO_TOPICS, (131_636, 409_469, 49))),
    ids=("one topic", "two topics"),
)
def test_one_failure_gives_the_recorded_verdicts(scope, found):
    explored = explore_here(DELETING, scope)
    outcome = explored.outcome
    assert (outcome.distinct, outcome.generated, outcome.depth) == found
    assert {name: trace.states for name, trace in explored.traces.items()} == DELETING.expectation(scope)
    if scope is ONE_TOPIC:
        assert {name for name, times in outcome.coverage.items() if not times} <= {"failover.move_controller"}
        goals = {prop.name for prop in DELETING.properties_at(scope) if prop.kind == "sometimes"}
        assert outcome.reached >= goals
