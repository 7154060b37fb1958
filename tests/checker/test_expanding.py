"""A controller that adds partitions to a topic, also while the topic is queued for deletion."""

from kafkaproof.checker.check.local import explore_here
from kafkaproof.spec.partition.expansion.model import EXPANDING


def test_the_recorded_verdicts():
    explored = explore_here(EXPANDING, EXPANDING.scope)
    outcome = explored.outcome
    assert (outcome.distinct, outcome.generated, outcome.depth) == (198_395, 703_076, 50)
    assert {name: trace.states for name, trace in explored.traces.items()} == EXPANDING.expectation(EXPANDING.scope)
    assert outcome.reached >= {"added_is_led", "added_to_queued"}
    assert [name for name, times in outcome.coverage.items() if not times] == [
        "failover.move_controller",
        "reassignment.stop_removed",
    ]
