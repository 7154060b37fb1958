"""Each release's controller breaks what is recorded for it, and no more; all its transitions are taken."""

import pytest

from kafkaproof.checker.check.local import explore_here
from kafkaproof.checker.model.execution import Execution
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.partition.model import FENCED, scope

SCOPE = scope()
FOUND = {
    "zkclient": (62_258, 441_123, 30),
    "one-thread": (62_218, 424_833, 30),
    "kip112": (66_654, 444_883, 30),
    "legacy": (24_822, 130_799, 28),
    "checked": (23_614, 123_043, 28),
    "kip380": (19_638, 101_037, 27),
    "removal-at-start": (22_986, 120_585, 31),
    "kip460": (23_182, 121_627, 31),
    "rebalance-by-isr": (22_336, 117_651, 32),
    "kip497": (8_127, 30_957, 29),
    "fenced": (7_167, 27_241, 28),
}


@pytest.mark.parametrize("variant", FOUND)
def test_two_brokers_and_one_fault_give_the_recorded_verdicts(variant):
    (model,) = find("partition", variant)
    found = explore_here(model, SCOPE)
    outcome = found.outcome
    assert (outcome.distinct, outcome.generated, outcome.depth) == FOUND[variant]
    assert {name: trace.states for name, trace in found.traces.items()} == model.expectation(SCOPE)
    assert all(outcome.coverage.values())
    goals = {prop.name for prop in model.properties_at(SCOPE) if prop.kind == "sometimes"}
    assert outcome.reached >= goals


def test_partitions_0_and_1_prefer_broker_0_and_those_that_follow_broker_1():
    scope = SCOPE | {"partitions": 3, "brokers": 3}
    state = next(iter(Execution(FENCED, scope).initial_states()))
    assignments = [list(sequence.slots[: sequence.length]) for sequence in state.zk.assignments]
    assert assignments == [[0, 1], [0, 1], [1, 2]]
