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
    "zkclient": (63_332, 447_157, 30),
    "one-thread": (63_292, 430_831, 30),
    "kip112": (67_728, 450_881, 30),
    "legacy": (25_104, 132_027, 28),
    "checked": (23_820, 123_901, 28),
    "kip380": (19_812, 101_775, 27),
    "removal-at-start": (23_152, 121_341, 31),
    "kip460": (23_348, 122_383, 31),
    "rebalance-by-isr": (22_502, 118_407, 32),
    "kip497": (8_205, 31_225, 29),
    "fenced": (7_245, 27_509, 28),
}


@pytest.mark.parametrize("variant", FOUND)
def test_two_brokers_and_one_fault_give_the_recorded_verdicts(variant):
    (model,) = find("partition", variant)
    found = explore_here(model, SCOPE)
    outcome = found.outcome
    assert (outcome.distinct, outcome.generated, outcome.depth) == FOUND[variant]
    assert {name: trace.states for name, trace in found.traces.items()} == model.expectation(SCOPE)
    assert [name for name, taken in outcome.coverage.items() if not taken] == ["failover.move_controller"]
    goals = {prop.name for prop in model.properties_at(SCOPE) if prop.kind == "sometimes"}
    assert outcome.reached >= goals


def test_partitions_0_and_1_prefer_broker_0_and_those_that_follow_broker_1():
    scope = SCOPE | {"partitions": 3, "brokers": 3}
    state = next(iter(Execution(FENCED, scope).initial_states()))
    assignments = [list(sequence.slots[: sequence.length]) for sequence in state.zk.assignments]
    assert assignments == [[0, 1], [0, 1], [1, 2]]
