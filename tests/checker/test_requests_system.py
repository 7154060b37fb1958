"""What broker epochs mend is found in `legacy`, and is gone after it."""

from collections import Counter

import pytest

from kafkaproof.checker.check.local import explore_here
from kafkaproof.checker.explore.reference import violations
from kafkaproof.checker.model.execution import Execution
from kafkaproof.spec.proofs import PROOFS
from kafkaproof.spec.requests.model import CURRENT, MODELS, SAME_EPOCH, scope
from kafkaproof.spec.requests.properties.goals import left_behind
from kafkaproof.spec.requests.properties.safety import is_answered, metadata_converges
from tests.checker.behaviours import behaviour

CALM = scope(faults=0)
ONE_FAULT = scope()
TWO_FAULTS = scope(faults=2)
FOUND = {
    **dict.fromkeys(("unchecked", "legacy"), (25_671, 87_875, 29)),
    "kip380": (10_208, 35_870, 24),
    **dict.fromkeys(("broker-epochs", "kip570", "failures-untold"), (11_945, 42_846, 25)),
    "same-epoch": (11_930, 42_775, 25),
    "current": (11_930, 42_775, 25),
}
STOPPED = """
    controller.elect(b=0) -> OK
    broker.update_metadata(b=0, epoch=1, delivery=0) -> NONE
    broker.leader_and_isr(b=0, epoch=1, delivery=0) -> NONE
    broker.update_metadata(b=0, epoch=1, delivery=0) -> NONE
    broker.update_metadata(b=1, epoch=1, delivery=0) -> NONE
    broker.leader_and_isr(b=1, epoch=1, delivery=0) -> NONE
    broker.update_metadata(b=1, epoch=1, delivery=0) -> NONE
    faults.shut_down(b=1)
    controller.controlled_shutdown(b=0, leaver=1)
"""
LEFT_BEHIND = """
    controller.elect(b=0) -> OK
    broker.update_metadata(b=0, epoch=1, delivery=0) -> NONE
    broker.leader_and_isr(b=0, epoch=1, delivery=0) -> NONE
    broker.update_metadata(b=0, epoch=1, delivery=0) -> NONE
    broker.update_metadata(b=1, epoch=1, delivery=0) -> NONE
    faults.fail_directory(b=1, p=0)
    controller.log_dir_event(b=0, delivery=0) -> OK
    broker.leader_and_isr(b=1, epoch=1, delivery=0) -> KAFKA_STORAGE_ERROR
    broker.update_metadata(b=0, epoch=1, delivery=0) -> NONE
    faults.crash(b=1)
    faults.restart(b=1)
    controller.broker_change(b=0) -> OK
    controller.broker_failure(b=0)
    controller.remove_replica(b=0, p=0, r=1, delivery=0) -> OK
    controller.broker_startup(b=0)
    controller.handle_answer(b=0, p=0, r=1)
    broker.leader_and_isr(b=0, epoch=1, delivery=0) -> NONE
    broker.update_metadata(b=0, epoch=1, delivery=0) -> NONE
    controller.remove_replica(b=0, p=0, r=1, delivery=0) -> OK
    broker.update_metadata(b=0, epoch=1, delivery=0) -> NONE
    broker.update_metadata(b=0, epoch=1, delivery=0) -> NONE
    broker.leader_and_isr(b=0, epoch=1, delivery=0) -> STALE_CONTROLLER_EPOCH
    broker.update_metadata(b=0, epoch=1, delivery=0) -> NONE
    broker.update_metadata(b=1, epoch=1, delivery=0) -> NONE
    broker.leader_and_isr(b=1, epoch=1, delivery=0) -> NONE
    broker.update_metadata(b=1, epoch=1, delivery=0) -> NONE
    broker.update_metadata(b=1, epoch=1, delivery=0) -> NONE
    broker.stop_replica(b=1, epoch=1, delivery=0) -> NONE
"""
UNTOLD = """
    controller.elect(b=0) -> OK
    faults.crash(b=1)
    controller.broker_change(b=0) -> OK
    controller.broker_failure(b=0)
    faults.delete_controller()
    faults.restart(b=1)
    controller.elect(b=1) -> OK
    controller.remove_replica(b=0, p=0, r=1, delivery=0) -> FENCED
    faults.delete_controller()
    controller.elect(b=0) -> OK
    broker.update_metadata(b=0, epoch=3, delivery=0) -> NONE
    broker.update_metadata(b=1, epoch=3, delivery=0) -> NONE
"""
UNTOLD_WHILE_UNLED = """
    controller.elect(b=0) -> OK
    broker.update_metadata(b=0, epoch=1, delivery=0) -> NONE
    broker.leader_and_isr(b=0, epoch=1, delivery=0) -> NONE
    broker.update_metadata(b=0, epoch=1, delivery=0) -> NONE
    faults.fail_directory(b=0, p=1)
    controller.log_dir_event(b=0, delivery=0) -> OK
    broker.leader_and_isr(b=0, epoch=1, delivery=0) -> KAFKA_STORAGE_ERROR
    controller.handle_answer(b=0, p=1, r=0)
    controller.elect_leader(b=0, p=1, delivery=0) -> OK
    broker.update_metadata(b=1, epoch=1, delivery=0) -> NONE
    broker.update_metadata(b=2, epoch=1, delivery=0) -> NONE
    faults.expire_session(b=1)
    controller.remove_replica(b=0, p=1, r=0, delivery=0) -> OK
    controller.broker_change(b=0) -> OK
    broker.update_metadata(b=0, epoch=1, delivery=0) -> NONE
    broker.update_metadata(b=2, epoch=1, delivery=0) -> NONE
    broker.update_metadata(b=2, epoch=1, delivery=0) -> NONE
    controller.broker_failure(b=0)
    controller.elect_leader(b=0, p=1, delivery=0) -> OK
    broker.update_metadata(b=2, epoch=1, delivery=0) -> NONE
    broker.update_metadata(b=0, epoch=1, delivery=0) -> NONE
    broker.stop_replica(b=0, epoch=1, delivery=0) -> KAFKA_STORAGE_ERROR
"""
"""A log directory fails, which leaves its partition without a leader; then a broker that hosts nothing is gone."""
COME_AGAIN = """
    faults.crash(b=1)
    faults.restart(b=1)
    controller.broker_change(b=0) -> OK
    controller.broker_failure(b=0)
    controller.broker_startup(b=0)
"""


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.variant)
def test_two_brokers_and_one_fault_give_the_recorded_verdicts(model):
    found = explore_here(model, ONE_FAULT)
    outcome = found.outcome
    assert (outcome.distinct, outcome.generated, outcome.depth) == FOUND[model.variant]
    assert {name: trace.states for name, trace in found.traces.items()} == model.expectation(ONE_FAULT)
    assert {p.name for p in model.properties_at(ONE_FAULT) if p.kind == "sometimes"} == outcome.reached
    assert all(outcome.coverage.values())


@pytest.mark.parametrize("model", [m for m in MODELS if CALM in m.expected], ids=lambda model: model.variant)
def test_without_a_fault_the_reference_explorer_gives_the_recorded_verdicts(model):
    assert violations(model, CALM) == model.expectation(CALM)


def test_stop_replica_of_the_leader_epoch_of_a_follower_stops_it_from_3_4_on():
    stop = "broker.stop_replica(b=1, epoch=1, delivery=0)"
    stopped = behaviour(CURRENT, ONE_FAULT, f"{STOPPED}{stop} -> NONE").last.brokers[1].replicas[0]
    refused = behaviour(SAME_EPOCH, ONE_FAULT, f"{STOPPED}{stop} -> FENCED_LEADER_EPOCH").last.brokers[1].replicas[0]
    assert (stopped.stopped, refused.stopped) == (1, 0)
    assert stopped.leader_epoch == refused.leader_epoch == 0


def test_an_answer_of_the_former_process_leaves_a_working_replica_behind():
    trace = behaviour(CURRENT, TWO_FAULTS, LEFT_BEHIND)
    assert [str(step) for step, _, _ in trace.steps] == [line.strip() for line in LEFT_BEHIND.strip().split("\n")]
    run, state = Execution(CURRENT, TWO_FAULTS), trace.last
    assert left_behind(state)
    later = [(t.name, after) for t, _, after in run.successors(state, Counter())]
    assert all(left_behind(after) for name, after in later if name.startswith("broker."))


def test_up_to_3_0_nobody_is_told_of_a_dead_broker_while_a_partition_lacks_a_leader():
    at = scope(brokers=3, replicas=1, partitions=2, epochs=1, leader_epochs=1, faults=2)
    told = {m.variant for m in MODELS if metadata_converges(behaviour(m, at, UNTOLD_WHILE_UNLED).last)}
    assert told == {"same-epoch", "current"}
    assert not is_answered(behaviour(SAME_EPOCH, at, UNTOLD_WHILE_UNLED).last, 0, 2)


def test_a_controller_whose_replica_machine_is_dead_tells_nobody_who_leads():
    trace = behaviour(CURRENT, scope(epochs=3, faults=4), f"{UNTOLD.rstrip()}{COME_AGAIN}")
    run, broken, before = Execution(CURRENT, trace.scope), set(), trace.initial
    for step, transition, after in trace.steps:
        broken |= {*run.broken_by_step(before, transition, tuple(step.arguments.values()), after)}
        broken |= {p.name for p in CURRENT.properties if p.kind == "always" and not p.predicate(after)}
        before = after
    assert broken == set(PROOFS["requests", "current"].false_beyond)
