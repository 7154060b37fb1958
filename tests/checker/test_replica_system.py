"""The replica system: the verdicts of its variants, and their counterexamples."""

import pytest

from kafkaproof.checker.check.local import explore_here
from kafkaproof.checker.explore.reference import explore
from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.runs.counterexample import TraceError, executed
from kafkaproof.spec.replica.model import CURRENT, MODELS, scope
from kafkaproof.spec.replica.mutants.steps import MUTANTS


def variant(name):
    """A variant by its name."""
    return next(model for model in MODELS if model.variant == name)


EXHIBITS = {
    "KIP-101 a": (
        "hw",
        scope(faults=1),
        "committed",
        """
        leader.produce(b=0, acks=0) -> OK
        leader.serve_fetch(b=0, follower=1) -> OK
        follower.receive_answer(b=1)
        leader.serve_fetch(b=0, follower=1) -> OK
        faults.bounce(b=1, hw=0)
        controller.elect_leader(leader=1)
        replica.leader_and_isr(b=1, epoch=0)
        replica.leader_and_isr(b=1, epoch=1)
    """,
    ),
    "KIP-101 b": (
        "hw",
        scope(records=2, epochs=2, faults=1),
        "visible_match",
        """
        leader.produce(b=0, acks=0) -> OK
        leader.serve_fetch(b=0, follower=1) -> OK
        follower.receive_answer(b=1)
        leader.serve_fetch(b=0, follower=1) -> OK
        faults.bounce(b=1, hw=0)
        controller.elect_leader(leader=1)
        controller.remove_replica(replica=0)
        replica.leader_and_isr(b=1, epoch=0)
        replica.leader_and_isr(b=1, epoch=2)
        leader.produce(b=1, acks=0) -> OK
    """,
    ),
    "KIP-279": (
        "epoch101",
        scope(records=2, epochs=2),
        "visible_match",
        """
        controller.elect_leader(leader=1)
        controller.elect_leader(leader=0)
        replica.leader_and_isr(b=1, epoch=1)
        leader.produce(b=0, acks=0) -> OK
        replica.leader_and_isr(b=0, epoch=2)
        leader.produce(b=1, acks=0) -> OK
        replica.leader_and_isr(b=1, epoch=2)
        follower.send_request(b=1)
        leader_writes_isr.shrink_isr(b=0, follower=1) -> OK
        follower_truncation.serve_epochs(b=0, follower=1) -> OK
        follower.receive_answer(b=1)
        leader.serve_fetch(b=0, follower=1) -> OK
        follower.receive_answer(b=1)
    """,
    ),
    "KIP-320": (
        "epoch279",
        scope(brokers=3, records=2, epochs=2),
        "isr_complete",
        """
        controller.elect_leader(leader=1)
        controller.elect_leader(leader=0)
        replica.leader_and_isr(b=0, epoch=2)
        replica.leader_and_isr(b=1, epoch=1)
        leader.produce(b=0, acks=0) -> OK
        leader.serve_fetch(b=0, follower=2) -> OK
        follower.receive_answer(b=2)
        replica.leader_and_isr(b=2, epoch=1)
        leader.serve_fetch(b=0, follower=2) -> OK
        follower.send_request(b=2)
        leader_writes_isr.shrink_isr(b=0, follower=1) -> OK
        follower_truncation.serve_epochs(b=1, follower=2) -> OK
        follower.receive_answer(b=2)
    """,
    ),
    "KAFKA-7128": (
        "join-at-hw",
        scope(brokers=3),
        "isr_complete",
        """
        leader.serve_fetch(b=0, follower=1) -> OK
        leader.produce(b=0, acks=0) -> OK
        leader.serve_fetch(b=0, follower=2) -> OK
        follower.receive_answer(b=2)
        leader.serve_fetch(b=0, follower=2) -> OK
        leader_writes_isr.shrink_isr(b=0, follower=1) -> OK
        controller.elect_leader(leader=2)
        replica.leader_and_isr(b=1, epoch=1)
        replica.leader_and_isr(b=2, epoch=1)
        leader.serve_fetch(b=2, follower=1) -> OK
        leader_writes_isr.expand_isr(b=2, follower=1) -> OK
    """,
    ),
    "HW and pending ISR": (
        "shrunk-isr",
        scope(),
        "committed",
        """
        leader.shrink_isr(b=0, follower=1)
        leader.produce(b=0, acks=0) -> OK
        controller.elect_leader(leader=1)
        replica.leader_and_isr(b=1, epoch=1)
    """,
    ),
    "KAFKA-18991": (
        "late-answer",
        scope(epochs=3),
        "truncated_above_hw",
        """
        controller.elect_leader(leader=1)
        controller.elect_leader(leader=0)
        controller.elect_leader(leader=1)
        replica.leader_and_isr(b=1, epoch=1)
        leader.produce(b=0, acks=0) -> OK
        leader.serve_fetch(b=0, follower=1) -> OK
        replica.leader_and_isr(b=0, epoch=1)
        replica.leader_and_isr(b=0, epoch=2)
        leader.serve_fetch(b=1, follower=0) -> OK
        replica.leader_and_isr(b=1, epoch=2)
        follower.receive_answer(b=1)
        leader.serve_fetch(b=0, follower=1) -> OK
        replica.leader_and_isr(b=0, epoch=3)
        follower.receive_answer(b=0)
    """,
    ),
    "KAFKA-2729": (
        "hw",
        scope(faults=1),
        "version_is_mended",
        """
        controller.remove_replica(replica=1)
        faults.lose_request(b=0, epoch=1)
    """,
    ),
}
FOUND = (12_191, 45_232, 22)
TINY, ONE_FAULT = scope(), scope(faults=1)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.variant)
def test_the_smallest_scope_gives_the_recorded_verdicts(model):
    found = explore(model, TINY)
    assert found.violated == model.expectation(TINY)
    assert found.reached == {p.name for p in model.properties_at(TINY) if p.kind == "sometimes"}


def test_two_brokers_and_a_fault_leave_a_leader_waiting_in_current_and_break_nothing_else():
    found = explore_here(CURRENT, ONE_FAULT)
    outcome = found.outcome
    assert (outcome.distinct, outcome.generated, outcome.depth) == FOUND
    assert {name: trace.states for name, trace in found.traces.items()} == CURRENT.expectation(ONE_FAULT)
    assert {name for name, count in outcome.coverage.items() if not count} == {"controller.elect_unclean"}


@pytest.mark.parametrize(
    "name, steps",
    [
        (
            "hw",
            (
                "controller.remove_replica(replica=1)",
                "replica.leader_and_isr(b=1, epoch=1)",
                "faults.lose_request(b=0, epoch=1)",
            ),
        ),
        ("fenced", None),
        ("current", ("leader.shrink_isr(b=0, follower=1)", "faults.lose_answer(sender=0) -> BADVERSION")),
    ],
)
def test_a_leader_alone_in_the_isr_waits_for_ever_up_to_2_0_and_again_since_2_7(name, steps):
    """Without LeaderAndIsr (KAFKA-2729); where ZooKeeper's answer to the controller is lost."""
    found = explore_here(variant(name), ONE_FAULT, only="alone_acknowledges").traces.get("alone_acknowledges")
    assert (found and tuple(str(step) for step, _, _ in found.steps)) == steps
    assert not found or found.loop == len(found.steps)


def test_a_leader_that_asked_again_would_not_wait_for_ever():
    """Without the rule what it breaks is kept: that is how the rule's mutant differs."""
    (mutant,) = [m for m in MUTANTS if m.name == "refused-asks-again"]
    assert not explore_here(mutant.mutate(CURRENT), ONE_FAULT, only="alone_acknowledges").traces


COUNTED_ANEW = """
    controller.elect_leader(leader=1)
    replica.leader_and_isr(b=1, epoch=1)
    leader.produce(b=0, acks=1) -> OK
    leader.serve_fetch(b=0, follower=2) -> OK
    follower.receive_answer(b=2)
    leader.serve_fetch(b=0, follower=2) -> OK
    replica.leader_and_isr(b=2, epoch=1)
    leader.serve_fetch(b=1, follower=2) -> OK
    follower.receive_answer(b=2)
    controller.remove_replica(replica=1)
    controller.elect_leader(leader=0)
    replica.leader_and_isr(b=0, epoch=3)
    controller.remove_replica(replica=0)
    controller.elect_leader(leader=2)
    replica.leader_and_isr(b=2, epoch=5)
"""
"""Broker 0 hears neither that broker 1 leads nor that it is dead, and leads again; broker 2 has truncated meanwhile."""


def test_a_leader_that_leads_again_counts_a_follower_that_has_truncated():
    """With min.insync.replicas=2 a record that was acknowledged to acks=all is lost."""
    at, steps = scope(brokers=3, epochs=5, min_isr=2), COUNTED_ANEW.strip().splitlines()
    assert {"isr_complete", "committed"} <= broken(CURRENT, at, steps)


def test_a_leader_that_forgot_the_ends_of_its_followers_would_count_none_that_has_truncated():
    (mutant,) = [m for m in MUTANTS if m.name == "ends-forgotten"]
    at, steps = scope(brokers=3, epochs=5, min_isr=2), COUNTED_ANEW.strip().splitlines()
    assert broken(mutant.mutate(CURRENT), at, steps) == {"keeps_known_ends"}


def broken(model, at, steps):
    """The properties that a behaviour, given as steps, breaks."""
    trace = executed(model, at, steps)
    run, before, names = Execution(model, at), trace.initial, set()
    for step, transition, after in trace.steps:
        names |= {p.name for p, holds in run.state_verdicts(after) if p.kind == "always" and not holds}
        names |= set(run.broken_by_step(before, transition, tuple(step.arguments.values()), after))
        before = after
    return names


@pytest.mark.parametrize("name", EXHIBITS)
def test_an_exhibit_breaks_what_it_is_known_for_and_current_refuses_it(name):
    model, at, breaks, text = EXHIBITS[name]
    steps = text.strip().splitlines()
    assert breaks in broken(variant(model), at, steps)
    try:
        assert breaks not in broken(CURRENT, at, steps)
    except TraceError:
        pass
