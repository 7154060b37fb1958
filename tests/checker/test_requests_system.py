"""What broker epochs mend is found in `legacy`, and is gone after it."""

from collections import Counter

import pytest

from kafkaproof.checker.check.local import explore_here
from kafkaproof.checker.explore.reference import violations
from kafkaproof.checker.model.execution import Execution
from kafkaproof.spec.requests.model import CURRENT, MODELS, scope
from kafkaproof.spec.requests.properties.goals import left_behind
from kafkaproof.spec.requests.properties.safety import metadata_converges
from tests.checker.behaviours import behaviour

CALM = scope(faults=0)
ONE_FAULT = scope()
TWO_FAULTS = scope(faults=2)
FOUND = {"legacy": (391_840, 1_632_962, 28), "broker-epochs": (73_074, 310_764, 22), "current": (73_074, 310_764, 22)}
LEFT_BEHIND = """
    faults.fail_directory(b=1)
    failover.elect(b=0) -> OK
    broker.update_metadata(b=0, epoch=1, delivery=0) -> NONE
    broker.leader_and_isr(b=0, epoch=1, delivery=0) -> NONE
    broker.update_metadata(b=0, epoch=1, delivery=0) -> NONE
    broker.update_metadata(b=1, epoch=1, delivery=0) -> NONE
    broker.leader_and_isr(b=1, epoch=1, delivery=0) -> KAFKA_STORAGE_ERROR
    faults.crash(b=1)
    faults.restart(b=1)
    events.broker_change(b=0) -> OK
    events.broker_startup(b=0)
    events.handle_answer(b=0, r=1)
    broker.leader_and_isr(b=0, epoch=1, delivery=0) -> STALE_CONTROLLER_EPOCH
    broker.update_metadata(b=0, epoch=1, delivery=0) -> NONE
    broker.update_metadata(b=0, epoch=1, delivery=0) -> NONE
    broker.update_metadata(b=1, epoch=1, delivery=0) -> NONE
    broker.leader_and_isr(b=1, epoch=1, delivery=0) -> NONE
    events.handle_answer(b=0, r=1)
    broker.update_metadata(b=1, epoch=1, delivery=0) -> NONE
    broker.update_metadata(b=1, epoch=1, delivery=0) -> NONE
    broker.stop_replica(b=1, epoch=1, delivery=0) -> NONE
"""
NOBODY_TOLD = """
    faults.fail_directory(b=0)
    failover.elect(b=1)
    broker.update_metadata(b=0, epoch=1, delivery=0)
    broker.leader_and_isr(b=0, epoch=1, delivery=0)
    faults.crash(b=0)
    faults.restart(b=0)
    events.broker_change(b=1)
    events.change_leader(b=1, leader=1)
    broker.update_metadata(b=1, epoch=1, delivery=0)
    broker.leader_and_isr(b=1, epoch=1, delivery=0)
    broker.update_metadata(b=1, epoch=1, delivery=0)
    broker.leader_and_isr(b=1, epoch=1, delivery=0)
    broker.update_metadata(b=1, epoch=1, delivery=0)
    broker.update_metadata(b=2, epoch=1, delivery=0)
    broker.update_metadata(b=2, epoch=1, delivery=0)
    broker.update_metadata(b=2, epoch=1, delivery=0)
    events.broker_startup(b=1)
    broker.update_metadata(b=0, epoch=1, delivery=0)
    events.change_leader(b=1, leader=0)
    events.handle_answer(b=1, r=0)
    faults.crash(b=2)
    events.broker_change(b=1)
    broker.leader_and_isr(b=0, epoch=1, delivery=0)
    broker.update_metadata(b=0, epoch=1, delivery=0)
    broker.leader_and_isr(b=0, epoch=1, delivery=0)
    broker.update_metadata(b=0, epoch=1, delivery=0)
    broker.update_metadata(b=0, epoch=1, delivery=0)
    broker.update_metadata(b=1, epoch=1, delivery=0)
    broker.leader_and_isr(b=1, epoch=1, delivery=0)
    broker.update_metadata(b=1, epoch=1, delivery=0)
    broker.stop_replica(b=0, epoch=1, delivery=0)
    events.handle_answer(b=1, r=0)
"""


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.variant)
def test_two_brokers_and_one_fault_give_the_recorded_verdicts(model):
    found = explore_here(model, ONE_FAULT)
    outcome = found.outcome
    assert (outcome.distinct, outcome.generated, outcome.depth) == FOUND[model.variant]
    assert {name: trace.states for name, trace in found.traces.items()} == model.expectation(ONE_FAULT)
    assert {p.name for p in model.properties_at(ONE_FAULT) if p.kind == "sometimes"} == outcome.reached
    assert all(outcome.coverage.values())


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.variant)
def test_without_a_fault_the_reference_explorer_gives_the_recorded_verdicts(model):
    assert violations(model, CALM) == model.expectation(CALM)


def test_an_answer_of_the_former_process_leaves_a_working_replica_behind():
    trace = behaviour(CURRENT, TWO_FAULTS, LEFT_BEHIND)
    assert [str(step) for step, _, _ in trace.steps] == [line.strip() for line in LEFT_BEHIND.strip().split("\n")]
    run, state = Execution(CURRENT, TWO_FAULTS), trace.last
    assert left_behind(state)
    later = [(t.name, after) for t, _, after in run.successors(state, Counter())]
    assert all(left_behind(after) for name, after in later if name.startswith("broker."))


def test_a_death_while_the_leader_counts_as_offline_is_told_to_nobody():
    trace = behaviour(CURRENT, scope(brokers=3, epochs=1, leader_epochs=2, faults=3), NOBODY_TOLD)
    assert all(map(metadata_converges, [trace.initial, *(state for _, _, state in trace.steps[:-1])]))
    state = trace.last
    assert not metadata_converges(state) and state.zk.registered == 0b011
    assert [broker.alive for broker in state.brokers[:2]] == [0b111, 0b111]
