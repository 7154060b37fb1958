"""The partition system keeps the writing rules; KAFKA-6082 is found in `legacy`, and is gone in `fenced`."""

import pytest

from checker.local import explore_here
from spec.language.rules import check_model
from spec.museum.partition import MODELS

SCOPE = {"brokers": 2, "replicas": 2, "partitions": 1, "epochs": 2, "leader_epochs": 3, "faults": 1}
FOUND = {"legacy": (23_172, 113_443, 33), "fenced": (5_139, 17_474, 28)}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.variant)
def test_a_variant_keeps_the_writing_rules(model):
    check_model(model)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.variant)
def test_two_brokers_and_one_fault_give_the_recorded_verdicts(model):
    found = explore_here(model, SCOPE)
    outcome = found.outcome
    assert (outcome.distinct, outcome.generated, outcome.depth) == FOUND[model.variant]
    assert {name: trace.states for name, trace in found.traces.items()} == model.expectation(SCOPE)
    assert all(outcome.coverage.values())
