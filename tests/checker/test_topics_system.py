"""What becomes of a topic under controllers that fail over: recorded verdicts, and the shortest ways to them."""

import pytest

from kafkaproof.checker.check.local import explore_here
from kafkaproof.checker.explore.reference import explore
from kafkaproof.checker.model.execution import Execution
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.partition.reassignment.state import CHECKING
from kafkaproof.spec.proofs import false_beyond
from kafkaproof.spec.topics.model import scope
from kafkaproof.spec.topics.properties.safety import deletion_goes_on, force_elects, isr_assigned
from tests.checker.behaviours import behaviour, broken_at_the_end

MODELS = tuple(find("topics"))
TWO_PHASE, KIP455 = find("topics", "two-phase")[0], find("topics", "kip455")[0]
QUICK = KIP455.scopes["quick"]
PAIR = scope(brokers=3, replicas=2, requests=1)
EXPANDED = scope(partitions=2, leader_epochs=3)
OLDER = (5_320, 13_773, 36)
FOUND = dict.fromkeys(("two-phase", "restoring", "checked", "kip380", "removal-at-start"), OLDER) | {
    "late-watch": (5_332, 13_795, 37),
    "kip455-zk": (11_970, 32_177, 35),
    "kip455": (1_182, 2_521, 26),
}
CANCELLED = """
    failover.elect(b=0) -> OK
    failover.load_context(b=0) -> OK
    machines.create_first_state(b=0, p=0) -> OK
    faults.ask_for_reassignment(p=0, old=0, new=2, first=1)
    reassignment.reassign(b=0)
    reassignment.write_assignment(b=0, p=0) -> OK
    reassignment.check(b=0, p=0) -> OK
    reassignment.tell_replicas(b=0, p=0) -> OK
    isr.alter_partition(b=0, p=0, isr=5) -> OK
    faults.ask_for_cancellation(p=0)
    reassignment.reassign(b=0)
    reassignment.write_assignment(b=0, p=0) -> OK
    faults.crash(b=0)
    failover.elect(b=1) -> OK
    failover.load_context(b=1) -> OK
    machines.remove_replica(b=1, p=0, r=0) -> OK
    machines.elect_leader(b=1, p=0)
"""
ADMITTED = """
    failover.elect(b=0)
    failover.load_context(b=0)
    machines.create_first_state(b=0, p=0)
    faults.delete_controller()
    faults.ask_for_reassignment(p=0, old=0, new=1, first=1)
    reassignment.reassign(b=0)
    reassignment.write_assignment(b=0, p=0)
    reassignment.check(b=0, p=0)
    reassignment.tell_replicas(b=0, p=0)
    faults.ask_for_reassignment(p=0, old=1, new=0, first=0)
    reassignment.reassign(b=0)
    reassignment.write_assignment(b=0, p=0)
    failover.elect(b=1)
    failover.load_context(b=1)
    isr.alter_partition(b=1, p=0, isr=3)
"""
STOPPED = """    faults.ask_for_reassignment(p=0, old=0, new=1, first=1)
    reassignment.reassign(b=1)
    reassignment.write_assignment(b=1, p=0)
    reassignment.check(b=1, p=0)
    reassignment.move_leader(b=1, p=0)
    machines.remove_replica(b=1, p=0, r=0)
    machines.stop_replicas(b=1)
    reassignment.write_target(b=1, p=0)
    faults.ask_for_deletion()
    deletion.topic_deletion(b=1)
    machines.stop_replicas(b=1)
    replica.stop_replica(b=0, epoch=2, p=0)
"""
STRAY_DELETED = """
    failover.elect(b=1)
    failover.load_context(b=1)
    machines.create_first_state(b=1, p=0)
    replica.leader_and_isr(b=0, epoch=1, p=0)
    faults.ask_for_reassignment(p=0, old=0, new=1, first=1)
    reassignment.reassign(b=1)
    reassignment.write_assignment(b=1, p=0)
    reassignment.check(b=1, p=0)
    reassignment.tell_replicas(b=1, p=0)
    isr.alter_partition(b=1, p=0, isr=3)
    reassignment.check(b=1, p=0)
    reassignment.move_leader(b=1, p=0)
    machines.remove_replica(b=1, p=0, r=0)
    machines.stop_replicas(b=1)
    reassignment.write_target(b=1, p=0)
    faults.crash(b=0)
    brokers.broker_change(b=1)
    brokers.broker_failure(b=1)
    faults.ask_for_deletion()
    deletion.topic_deletion(b=1)
    machines.remove_replica(b=1, p=0, r=1)
    machines.stop_replicas(b=1)
    replica.stop_replica(b=1, epoch=1, p=0)
    deletion.handle_answer(b=1, r=1, p=0)
    deletion.delete_states(b=1, p=0)
    deletion.delete_topic_node(b=1)
    deletion.delete_topic_config(b=1)
    deletion.delete_topic_marker(b=1)
    faults.create_again()
    creation.topic_change(b=1)
    machines.create_first_state(b=1, p=0)
    faults.ask_for_deletion()
    deletion.topic_deletion(b=1)
    machines.stop_replicas(b=1)
    faults.restart(b=0)
    brokers.broker_change(b=1)
    brokers.broker_startup(b=1)
    machines.stop_replicas(b=1)
    replica.stop_replica(b=0, epoch=1, p=0)
"""
MADE_AGAIN = """
    failover.elect(b=1)
    failover.load_context(b=1)
    machines.create_first_state(b=1, p=0)
    faults.crash(b=0)
    brokers.broker_change(b=1)
    brokers.broker_failure(b=1)
    machines.elect_leader(b=1, p=0)
    machines.remove_replica(b=1, p=0, r=0)
    faults.delete_controller()
    faults.restart(b=0)
    faults.ask_for_deletion()
    failover.elect(b=2)
    failover.load_context(b=2)
    machines.remove_replica(b=2, p=0, r=0)
    machines.stop_replicas(b=2)
    replica.stop_replica(b=0, epoch=2, p=0)
    faults.crash(b=0)
    faults.restart(b=0)
    brokers.broker_change(b=1)
    brokers.broker_startup(b=1)
    replica.leader_and_isr(b=0, epoch=1, p=0)
    deletion.handle_answer(b=2, r=0, p=0)
    deletion.delete_states(b=2, p=0)
    deletion.delete_topic_node(b=2)
"""
MADE_AGAIN_IN_ONE_TERM = """
    failover.elect(b=0)
    failover.load_context(b=0)
    machines.create_first_state(b=0, p=0)
    faults.ask_for_reassignment(p=0, old=0, new=1, first=1)
    reassignment.reassign(b=0)
    reassignment.write_assignment(b=0, p=0)
    reassignment.check(b=0, p=0)
    reassignment.tell_replicas(b=0, p=0)
    faults.ask_for_deletion()
    deletion.topic_deletion(b=0)
    faults.crash(b=1)
    faults.restart(b=1)
    brokers.broker_change(b=0)
    brokers.broker_failure(b=0)
    brokers.broker_startup(b=0)
    reassignment.check(b=0, p=0)
    reassignment.tell_replicas(b=0, p=0)
    machines.remove_replica(b=0, p=0, r=0)
    machines.remove_replica(b=0, p=0, r=1)
    machines.stop_replicas(b=0)
    replica.stop_replica(b=1, epoch=1, p=0)
    deletion.handle_answer(b=0, r=1, p=0)
    faults.crash(b=1)
    faults.restart(b=1)
    brokers.broker_change(b=0)
    brokers.broker_failure(b=0)
    brokers.broker_startup(b=0)
    reassignment.check(b=0, p=0)
    reassignment.tell_replicas(b=0, p=0)
    replica.leader_and_isr(b=1, epoch=1, p=0)
    replica.stop_replica(b=0, epoch=1, p=0)
    deletion.handle_answer(b=0, r=0, p=0)
    deletion.delete_states(b=0, p=0)
    deletion.delete_topic_node(b=0)
"""


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.variant)
def test_the_quick_scope_gives_the_recorded_verdicts(model):
    found = explore_here(model, QUICK)
    outcome = found.outcome
    assert (outcome.distinct, outcome.generated, outcome.depth) == FOUND[model.variant]
    assert {name: trace.states for name, trace in found.traces.items()} == model.expectation(QUICK)
    assert {p.name for p in model.properties_at(QUICK) if p.kind == "sometimes"} == outcome.reached


def test_the_readable_explorer_finds_the_same():
    found = explore(KIP455, QUICK)
    assert (found.distinct, found.generated, found.depth) == FOUND["kip455"]
    assert found.violated == KIP455.expectation(QUICK)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.variant)
def test_of_two_replicas_one_is_moved_and_the_order_that_was_asked_for_is_kept(model):
    found = explore_here(model, PAIR)
    assert {name: trace.states for name, trace in found.traces.items()} == model.expectation(PAIR)
    goals = {p.name for p in model.properties_at(PAIR) if p.kind == "sometimes"}
    assert goals == found.outcome.reached and goals > {"moved_partly", "moved_in_place"}


def test_whoever_asks_for_a_target_gets_it_in_that_order():
    """The requests of one replica for another, at two replicas on three brokers: every target but the present one."""
    run = Execution(KIP455, PAIR)
    state = run.initial_states()[0]
    transition = KIP455.transition("ask_for_reassignment")
    asked = []
    for arguments in transition.choices(PAIR):
        after = run.after(state, transition, arguments)
        if after is not None:
            target = after.network.asked.target
            asked.append(tuple(target.slots[: target.length]))
    assert sorted(asked) == [(0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]


def test_an_expansion_is_missed_by_the_old_failover_and_undone_by_a_reassignment_in_every_version():
    for model in (TWO_PHASE, KIP455):
        found = explore_here(model, EXPANDED)
        assert {name: trace.states for name, trace in found.traces.items()} == model.expectation(EXPANDED)


def test_after_a_cancellation_a_successor_admits_who_is_not_assigned():
    deep = KIP455.scopes["deep"]
    state = behaviour(KIP455, deep, ADMITTED).last
    assert not isr_assigned(state) and ADMITTED.count("\n") == KIP455.expectation(deep)["isr_assigned"]
    assert state.zk.partitions[0].isr == 0b11 and state.zk.assignments[0].length == 1


def test_after_a_cancellation_and_a_crash_not_even_an_unclean_election_finds_a_leader():
    state = behaviour(KIP455, scope(brokers=3, replicas=2, epochs=2, faults=1), CANCELLED).last
    assert not isr_assigned(state) and not force_elects(state)
    assert state.zk.partitions[0].isr == 0b100 and set(state.zk.assignments[0].slots[:2]) == {0, 1}


def test_a_reassignment_whose_target_is_in_the_isr_when_that_is_written_cannot_be_cancelled():
    moved = ADMITTED[: ADMITTED.index("    faults.ask_for_reassignment(p=0, old=1")]
    text = moved.replace("    faults.delete_controller()\n", "") + "    isr.alter_partition(b=0, p=0, isr=3)\n"
    state = behaviour(KIP455, KIP455.scopes["deep"], text).last
    assert state.brokers[0].controller.doing == CHECKING
    assert "caught_up" not in {t.name.split(".")[1] for t in KIP455.transitions}


def test_the_deletion_of_a_topic_that_was_moved_to_who_was_left_in_its_isr_stops():
    state = behaviour(KIP455, scope(epochs=2, leader_epochs=7, faults=1, requests=4), ADMITTED + STOPPED).last
    assert not deletion_goes_on(state) and false_beyond(KIP455, "deletion_goes_on")


@pytest.mark.parametrize(
    "text, sizes, broken, states",
    [
        (STRAY_DELETED, scope(topics=2, faults=1, requests=4), "own_logs_deleted", 40),
        (MADE_AGAIN, scope(brokers=3, epochs=2, leader_epochs=2, faults=3, requests=1), "removed_when_deleted", 25),
        (MADE_AGAIN_IN_ONE_TERM, scope(faults=2), "removed_when_deleted", 35),
    ],
)
def test_what_is_false_beyond_the_recorded_scopes_is_violated(text, sizes, broken, states):
    assert broken_at_the_end(behaviour(KIP455, sizes, text)) == [broken]
    assert text.count("\n") == states and false_beyond(KIP455, broken)
