"""`replica` refines `replication` with some steps added: its leaders know less, its followers act on old news."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.checker.check.local import explore_here
from kafkaproof.checker.refine.search import refine
from kafkaproof.spec.language.model import Transition
from kafkaproof.spec.language.mutants.mutant import everywhere
from kafkaproof.spec.language.refinement import Added, Refinement
from kafkaproof.spec.replica import leader
from kafkaproof.spec.replica.model import CURRENT, FENCED, SHRUNK_ISR, TO_HW, scope
from kafkaproof.spec.replica.mutants.replica import reached_with_answer
from kafkaproof.spec.replica.refinement import TO_REPLICATION
from tests.checker.readable_refinement import refined
from tests.toys import clock, graph

TINY, THREE, UNCLEAN = scope(), scope(brokers=3), scope(epochs=2, unclean=1)


def facts(model, at, refinement=TO_REPLICATION, **options):
    """What the readable check answers too."""
    found = refine(model, at, refinement, **options)
    return (None, None, found.diverged.states) if found.diverged else (found.states, found.pairs, None)


def steps(found):
    """The behaviour that diverges, as text."""
    return [str(step) for step, _, _ in found.diverged.steps]


@pytest.mark.parametrize("model", [TO_HW, FENCED, SHRUNK_ISR, CURRENT], ids=lambda model: model.variant)
def test_a_variant_is_judged_as_the_readable_check_does(model):
    assert facts(model, TINY) == refined(model, TINY, TO_REPLICATION)


@pytest.mark.parametrize("name, length", [("leader_shrink_isr_unseen", 6), ("follower_fetch_nothing", 8)])
def test_without_an_added_step_it_diverges(name, length):
    assert facts(CURRENT, TINY, without=(name,)) == refined(CURRENT, TINY, TO_REPLICATION, (name,))
    assert facts(CURRENT, TINY, without=(name,))[2] == length


@pytest.mark.parametrize(
    "at, states, pairs",
    [(scope(faults=1), 12_191, 15_183), (scope(faults=1, min_isr=2), 12_187, 15_177), (UNCLEAN, 21_956, 26_290)],
    ids=["a restart, with any checkpoint, or a lost answer", "min.insync.replicas", "an unclean election"],
)
def test_with_each_kind_of_fault_every_behaviour_is_an_abstract_one(at, states, pairs):
    assert facts(CURRENT, at) == (states, pairs, None)


def test_an_unclean_election_is_an_abstract_step_that_costs_strong_isr():
    assert refine(CURRENT, UNCLEAN, TO_REPLICATION).lost == {"strong_isr": 8}
    found = refine(CURRENT, UNCLEAN, TO_REPLICATION, without=("elect_unclean",))
    assert steps(found) == ["controller.remove_replica(replica=0)", "controller.elect_unclean(leader=0)"]
    assert not found.lost and "zk.leader" in found.reason


@pytest.mark.parametrize(
    "name, length, last",
    [
        ("leader_inc_high_watermark_by_past", 10, "leader.serve_fetch(b=0, follower=2) -> OK"),
        ("leader_expand_isr_at_epoch_start", 11, "controller.alter_partition(sender=0) -> OK"),
    ],
)
def test_three_brokers_need_two_steps_more(name, length, last):
    found = refine(CURRENT, THREE, TO_REPLICATION, without=(name,))
    assert found.diverged.states == length and steps(found)[-1] == last


def test_three_brokers_so_far():
    found = refine(CURRENT, THREE, TO_REPLICATION, most=50_000)
    assert not found.complete and found.diverged is None and found.states == 70_418
    assert not found.lost and found.abstract_states == 7_096


@pytest.mark.parametrize("at", [scope(log=2, records=2, epochs=2), scope(brokers=3)], ids=str)
def test_the_added_steps_break_nothing_in_the_abstract_model(at):
    model = TO_REPLICATION.model_at({**at, "brokers": 3})
    assert not explore_here(model, TO_REPLICATION.abstract_scope(at)).traces


def test_a_follower_counted_before_it_has_the_record_is_no_refinement():
    found = refine(everywhere({leader.reached: reached_with_answer})(CURRENT), TINY, TO_REPLICATION)
    assert steps(found) == [
        "leader.produce(b=0, acks=0) -> OK",
        "leader.serve_fetch(b=0, follower=1) -> OK",
        "follower.send_request(b=1)",
    ]
    assert found.reason.startswith("Logs agree")


def is_odd(node):
    return node == 1 or node == 3 or node == 5


def same_parity(s, a):
    """Both nodes are odd, or none."""
    return is_odd(s.node) == is_odd(a.node)


def not_ahead(s, a):
    """Both nodes are odd, or none; the concrete one is not the higher."""
    return is_odd(s.node) == is_odd(a.node) and s.node <= a.node


NODES = st.integers(0, 5)
WALKS = st.builds(
    lambda edges, starts: graph([*edges, (5, 5)], starts),
    st.lists(st.tuples(NODES, NODES), max_size=12),
    st.lists(NODES, min_size=1, max_size=2),
)


@given(WALKS, WALKS)
def test_walks_are_judged_as_the_readable_check_does(concrete, abstract):
    by_parity = Refinement("graph", abstract, (), {}, same_parity, not_ahead)
    assert facts(concrete, concrete.scope, by_parity) == refined(concrete, concrete.scope, by_parity)


def never(s):
    """Nothing.

    Guards:  none is met.
    Effects: none.
    Kafka:   none.
    """
    return False


def same_time(s, a):
    """Both clocks show the same."""
    return s.time == a.time


def test_a_clock_is_followed_by_itself_and_not_by_one_that_stands():
    twin = Refinement("clock", clock(), (Added(Transition(never)),), {"time": "time"}, same_time, same_time)
    assert facts(clock(), {}, twin) == (2, 2, None)
    standing = replace(clock(), transitions=())
    found = refine(clock(), {}, replace(twin, abstract=standing))
    assert len(steps(found)) == 1 and "equal are time" in found.reason
