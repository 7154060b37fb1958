"""Each release's controller breaks what is recorded for it, and no more; all its transitions are taken, but for one that
takes two faults: a request for a partition whose first state was written, and whose answer was lost.
"""

import pytest

from kafkaproof.checker.check.local import explore_here
from kafkaproof.checker.model.execution import Execution
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.partition.model import FENCED, scope

SCOPE = scope()
FOUND = {
    "zkclient": (62_118, 439_692, 30),
    "one-thread": (62_090, 423_554, 30),
    "kip112": (66_478, 443_492, 30),
    "legacy": (25_232, 132_496, 28),
    "checked": (23_992, 124_548, 28),
    "kip380": (19_984, 102_422, 27),
    "removal-at-start": (23_750, 123_971, 31),
    "kip460": (23_946, 125_013, 31),
    "rebalance-by-isr": (23_126, 121_142, 32),
    "kip497": (8_537, 32_284, 29),
    "fenced": (7_567, 28_558, 28),
}


@pytest.mark.parametrize("variant", FOUND)
def test_two_brokers_and_one_fault_give_the_recorded_verdicts(variant):
    (model,) = find("partition", variant)
    found = explore_here(model, SCOPE)
    outcome = found.outcome
    assert (outcome.distinct, outcome.generated, outcome.depth) == FOUND[variant]
    assert {name: trace.states for name, trace in found.traces.items()} == model.expectation(SCOPE)
    never = "pending_first.pending_election" if variant == "zkclient" else "failover.move_controller"
    assert [name for name, taken in outcome.coverage.items() if not taken] == [never]
    goals = {prop.name for prop in model.properties_at(SCOPE) if prop.kind == "sometimes"}
    assert outcome.reached >= goals


def test_partitions_0_and_1_prefer_broker_0_and_those_that_follow_broker_1():
    scope = SCOPE | {"partitions": 3, "brokers": 3}
    state = next(iter(Execution(FENCED, scope).initial_states()))
    assignments = [list(sequence.slots[: sequence.length]) for sequence in state.zk.assignments]
    assert assignments == [[0, 1], [0, 1], [1, 2]]
