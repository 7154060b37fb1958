"""The composed cluster keeps what its parts keep, and does to each part only what the part alone could do."""

import random
from collections import Counter

import pytest

from kafkaproof.checker.check.local import explore_here
from kafkaproof.checker.explore.reference import explore
from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.runs.counterexample import executed
from kafkaproof.spec.cluster.model import CREATING, DELETING, FENCED, REASSIGNING
from kafkaproof.spec.language import sets
from kafkaproof.spec.language.plain import Plain
from kafkaproof.spec.partition.model import FENCED as PARTITION

QUICK = FENCED.scopes["quick"]
CALM = QUICK | {"leader_epochs": 0, "faults": 0}
FOUND = (112_548, 484_704, 37)
ZOMBIE_TELLS_AN_OLD_ISR = """
failover.elect(b=1) -> OK
failover.load_brokers(b=1) -> OK
faults.delete_controller()
failover.elect(b=0) -> OK
failover.load_brokers(b=0) -> OK
failover.load_state(b=0, p=0) -> NONODE
control.create_first_state(b=0, p=0, delivery=0) -> OK
control.leader_and_isr(b=0, epoch=2, p=0)
data_plane.shrink_isr(b=0, p=0, follower=1)
control.alter_partition(b=0, p=0, sender=0, isr=1, delivery=0) -> OK
failover.load_state(b=1, p=0) -> OK
control.leader_and_isr(b=1, epoch=1, p=0)
data_plane.serve_fetch(b=0, p=0, follower=1) -> OK
data_plane.learn_isr(b=0, p=0)
data_plane.expand_isr(b=0, p=0, follower=1)
data_plane.produce(b=0, p=0, acks=1) -> OK
faults.shut_down(b=0)
control.alter_partition(b=0, p=0, sender=0, isr=3, delivery=0) -> OK
faults.stop(b=0)
faults.restart(b=0, hw=0)
brokers.broker_change(b=1) -> OK
brokers.broker_failure(b=1)
machines.read_for_election(b=1, p=0)
machines.read_for_removal(b=1, p=0, r=0)
brokers.broker_startup(b=1)
control.leader_and_isr(b=0, epoch=1, p=0)
"""
LOSS = """
failover.elect(b=1) -> OK
failover.load_brokers(b=1) -> OK
failover.load_state(b=1, p=0) -> NONODE
control.create_first_state(b=1, p=0, delivery=0) -> OK
control.leader_and_isr(b=0, epoch=1, p=0)
faults.shut_down(b=0)
faults.delete_controller()
data_plane.shrink_isr(b=0, p=0, follower=1)
control.alter_partition(b=1, p=0, sender=0, isr=1, delivery=0) -> OK
failover.elect(b=0) -> OK
data_plane.learn_isr(b=0, p=0)
failover.load_brokers(b=0) -> OK
failover.load_state(b=0, p=0) -> OK
control.leader_and_isr(b=1, epoch=2, p=0)
data_plane.serve_fetch(b=0, p=0, follower=1) -> OK
data_plane.expand_isr(b=0, p=0, follower=1)
control.alter_partition(b=0, p=0, sender=0, isr=3, delivery=0) -> OK
brokers.controlled_shutdown(b=0, leaver=0)
machines.read_for_election(b=0, p=0) -> OK
control.write_leader(b=0, p=0, delivery=0) -> OK
faults.stop(b=0)
faults.restart(b=0, hw=0)
brokers.broker_change(b=1) -> OK
brokers.broker_failure(b=1)
machines.read_for_election(b=1, p=0)
machines.read_for_removal(b=1, p=0, r=0)
control.leader_and_isr(b=1, epoch=2, p=0)
brokers.broker_startup(b=1)
control.leader_and_isr(b=0, epoch=1, p=0)
data_plane.produce(b=0, p=0, acks=1) -> OK
"""
"""The shortest way in which a record is lost that was acknowledged with acks=all."""
DATA_PLANE = {"confirm_isr", "refuse_isr"}
"""Answers to a leader: nothing that `partition` knows of changes."""


def test_a_fault_loses_nothing_that_was_acknowledged_and_may_leave_a_leader_waiting_for_ever():
    """The leader is alone in the ISR, and its controller, whose answer was lost, refuses what it has written itself."""
    found = explore_here(FENCED, QUICK)
    outcome, (lasso,) = found.outcome, found.traces.values()
    assert (outcome.distinct, outcome.generated, outcome.depth) == FOUND
    assert {name: trace.states for name, trace in found.traces.items()} == FENCED.expectation(QUICK)
    assert [str(step) for step, _, _ in lasso.steps[-3:]] == [
        "data_plane.shrink_isr(b=0, p=0, follower=1)",
        "control.alter_partition(b=0, p=0, sender=0, isr=1, delivery=1) -> LOST",
        "control.alter_partition(b=0, p=0, sender=0, isr=1, delivery=0) -> BADVERSION",
    ]
    assert {name for name, count in outcome.coverage.items() if not count} == {
        "control.confirm_isr",
        "failover.move_controller",
    }
    goals = {prop.name for prop in FENCED.properties_at(QUICK) if prop.kind == "sometimes"}
    assert outcome.reached >= goals


def test_the_readable_explorer_finds_the_same():
    found, outcome = explore(FENCED, CALM), explore_here(FENCED, CALM).outcome
    assert (found.distinct, found.generated, found.depth) == (outcome.distinct, outcome.generated, outcome.depth)
    assert not found.violated and not outcome.violations


def projected(state, onto):
    """The fields of a composed state that `onto`, a state of `partition`, has."""
    for name in onto.__slots__:
        setattr(onto, name, _projected(getattr(state, name), getattr(onto, name)))
    return onto


def _projected(value, onto):
    if isinstance(onto, Plain):
        return projected(value, onto)
    if isinstance(onto, list):
        return [_projected(element, at) for element, at in zip(value, onto)]
    return value


def walk(execution, seed, steps):
    """Steps from the start on, each chosen at random: (before, transition, arguments, after)."""
    chosen, state = random.Random(seed), execution.initial_states()[0]
    for _ in range(steps):
        possible = list(execution.successors(state, Counter()))
        if not possible:
            return
        transition, arguments, after = chosen.choice(possible)
        yield state, transition, arguments, after
        state = after


def test_a_zombie_has_a_new_process_lead_with_an_isr_of_the_past():
    scope = FENCED.scopes["deep"]
    trace = executed(FENCED, scope, ZOMBIE_TELLS_AN_OLD_ISR.split("\n")[1:-1])
    assert trace.states == FENCED.expectation(scope)["isr_complete"]
    state = trace.steps[-1][2]
    assert state.brokers[0].seen_epoch == 1 < state.zk.epoch
    assert sets.contains(state.zk.partitions[0].isr, 1) and not sets.contains(state.planes[0].brokers[0].isr, 1)
    assert not dict((p.name, holds) for p, holds in Execution(FENCED, scope).state_verdicts(state))["isr_complete"]


@pytest.mark.parametrize("model", [CREATING, DELETING, REASSIGNING], ids=lambda model: model.variant)
def test_what_runs_loses_a_record_by_the_same_steps(model):
    """The transitions that deletions and reassignments bring along tell leaders their ISR as those of `fenced` do."""
    scope, own = FENCED.scopes["deep"], {t.function.__name__: t.name for t in model.transitions}
    steps = [f"{own[step.split('(')[0].split('.')[1]]}({step.split('(')[1]}" for step in LOSS.split("\n")[1:-1]]
    state = executed(model, scope, steps).steps[-1][2]
    broken = {prop.name for prop, holds in Execution(model, scope).state_verdicts(state) if not holds}
    assert {"isr_complete", "committed"} <= broken


@pytest.mark.parametrize("seed", range(12))
def test_what_partition_sees_of_a_step_is_a_step_of_partition_or_none(seed):
    scope = FENCED.scope | {"faults": 3}
    execution = Execution(FENCED, scope)
    alone = Execution(PARTITION, {name: scope[name] for name in PARTITION.scope})
    own = {t.function.__name__: t for t in PARTITION.transitions}
    for before, transition, arguments, after in walk(execution, seed, 60):
        old, new = (projected(state, alone.initial_states()[0]) for state in (before, after))
        name = transition.function.__name__
        if name in own:
            part = own[name]
            assert alone.after(old, part, arguments[: len(part.arguments)]) == new, f"{name}{arguments}"
        else:
            assert name in DATA_PLANE or transition.function.__module__ == "kafkaproof.spec.cluster.data_plane"
            assert old == new, f"{name}{arguments}"
