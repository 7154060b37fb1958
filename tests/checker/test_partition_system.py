"""KAFKA-6082 is found up to 2.0, an empty ISR up to 1.0, and neither after it."""

import pytest

from kafkaproof.checker.check.local import explore_here
from kafkaproof.checker.model.execution import Execution
from kafkaproof.spec.partition.model import MODELS, scope

FENCED = MODELS[-1]
SCOPE = scope()
FOUND = {
    "zkclient": (52_128, 362_357, 31),
    "legacy": (23_702, 125_312, 29),
    "fenced": (7_167, 27_241, 28),
    "creating": (20_430, 106_782, 31),
}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.variant)
def test_two_brokers_and_one_fault_give_the_recorded_verdicts(model):
    found = explore_here(model, SCOPE)
    outcome = found.outcome
    assert (outcome.distinct, outcome.generated, outcome.depth) == FOUND[model.variant]
    assert {name: trace.states for name, trace in found.traces.items()} == model.expectation(SCOPE)
    assert all(outcome.coverage.values())
    goals = {prop.name for prop in model.properties_at(SCOPE) if prop.kind == "sometimes"}
    assert outcome.reached >= goals


def test_partitions_0_and_1_prefer_broker_0_and_those_that_follow_broker_1():
    scope = SCOPE | {"partitions": 3, "brokers": 3}
    state = next(iter(Execution(FENCED, scope).initial_states()))
    assignments = [list(sequence.slots[: sequence.length]) for sequence in state.zk.assignments]
    assert assignments == [[0, 1], [0, 1], [1, 2]]
