"""What becomes of a topic under controllers that fail over: recorded verdicts, and that coarse steps are those of `partition`."""

from dataclasses import replace

import pytest

from kafkaproof.checker.check.local import explore_here
from kafkaproof.checker.model.execution import Execution
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.language.plain import values_of
from kafkaproof.spec.partition.reassignment.properties import isr_assigned
from kafkaproof.spec.topics.model import scope
from kafkaproof.spec.topics.properties.safety import force_elects
from kafkaproof.spec.topics.steps import JOINED, LOADING
from tests.checker.behaviours import behaviour

MODELS = tuple(find("topics"))
KIP455 = find("topics", "kip455")[0]
OLDER = (5_808, 39)
FOUND = dict.fromkeys(("two-phase", "restoring", "checked", "kip380", "removal-at-start"), OLDER) | {
    "kip455-zk": (2_487, 33),
    **dict.fromkeys(("kip497", "kip516", "marked-refused", "kip455"), (1_712, 29)),
}
CANCELLED = """
    failover.elect(b=0) -> OK
    steps.load_context(b=0) -> NONODE
    machines.create_first_state(b=0, p=0, delivery=0) -> OK
    replica.leader_and_isr(b=0, epoch=1, p=0)
    faults.ask_for_alteration(p=0, first=1, others=4)
    admin_requests.alter_reassignment(b=0)
    reassignment.write_assignment(b=0, p=0, delivery=0) -> OK
    steps.check(b=0, p=0, delivery=0) -> OK
    replica.leader_and_isr(b=0, epoch=1, p=0)
    isr.alter_partition(b=0, p=0, sender=0, isr=5, delivery=0) -> OK
    faults.ask_for_cancellation(p=0)
    admin_requests.alter_reassignment(b=0)
    reassignment.write_assignment(b=0, p=0, delivery=0) -> OK
    steps.crash(b=0)
    failover.elect(b=1) -> OK
    steps.load_context(b=1) -> OK
    steps.remove_replica(b=1, p=0, r=0, delivery=0) -> OK
    steps.elect_leader(b=1, p=0, delivery=0) -> OK
"""


def smallest(model):
    """The smallest recorded scope without a fault."""
    return next(at for at in (scope(requests=1), scope()) if at in model.expected)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.variant)
def test_the_smallest_scope_gives_the_recorded_verdicts(model):
    at = smallest(model)
    found = explore_here(model, at)
    assert (found.outcome.distinct, found.outcome.depth) == FOUND[model.variant]
    assert {name: trace.states for name, trace in found.traces.items()} == model.expectation(at)
    assert {p.name for p in model.properties_at(at) if p.kind == "sometimes"} == found.outcome.reached


def fine_steps(name):
    """The transitions of `partition` that one step joins, in order."""
    return {"load_context": LOADING, **JOINED}.get(name, (name,))


def test_a_coarse_step_is_a_way_of_steps_of_partition():
    """From states of the coarse model: each of its steps is one of the steps that it joins, taken one after the other."""
    at, checked = scope(epochs=2, leader_epochs=2, faults=1, requests=1), 0
    coarse = Execution(replace(KIP455, properties=()), at)
    seen, frontier = set(), coarse.initial_states()
    for _ in range(5):
        further = []
        for state in frontier:
            for transition, arguments, after in coarse.successors(state, dict.fromkeys(at, 0)):
                checked += is_way(transition, arguments, state, after)
                if coarse.key(after) not in seen:
                    seen.add(coarse.key(after))
                    further.append(after)
        frontier = further
    assert checked > 100


def is_way(transition, arguments, before, after):
    """Whether the parts of a step, each where it can be taken, lead from one state to the other."""
    state, given = before.copy(), dict(zip(transition.arguments, arguments))
    run_parts(transition.function, state, given)
    assert list(values_of(state)) == list(values_of(after)), transition.name
    return True


def run_parts(function, state, given):
    """Take the steps that a step joins, one by one: the first must be taken, others where they can be."""
    parts = [function.__globals__[name] for name in getattr(function, "__joins__", ())]
    if not parts:
        names = function.__code__.co_varnames[1 : function.__code__.co_argcount]
        return function(state, *(given[name] for name in names))
    if parts[0].__code__.co_argcount > function.__code__.co_argcount:
        return [parts[0](state, given["b"], p) for p in range(len(state.zk.partitions))]
    return [run_parts(part, state, given) for part in parts]


def test_after_a_cancellation_and_a_crash_not_even_an_unclean_election_finds_a_leader():
    state = behaviour(KIP455, scope(brokers=3, replicas=2, epochs=2, faults=1), CANCELLED).last
    assert not isr_assigned(state) and not force_elects(state)
    assert state.zk.partitions[0].isr == 0b100 and set(state.zk.assignments[0].slots[:2]) == {0, 1}


def test_a_reassignment_whose_target_is_in_the_isr_when_that_is_written_cannot_be_cancelled():
    moved = CANCELLED[: CANCELLED.index("    faults.ask_for_alteration")].replace("b=0) -> NONODE", "b=0) -> NONODE")
    text = (
        moved
        + """    faults.ask_for_alteration(p=0, first=1, others=0)
    admin_requests.alter_reassignment(b=0)
    reassignment.write_assignment(b=0, p=0, delivery=0) -> OK
    steps.check(b=0, p=0, delivery=0) -> OK
    replica.leader_and_isr(b=0, epoch=1, p=0)
    isr.alter_partition(b=0, p=0, sender=0, isr=3, delivery=0) -> OK
"""
    )
    at = scope(epochs=2, leader_epochs=5, faults=1)
    state = behaviour(KIP455, at, text).last
    assert state.brokers[0].controller.moving == 1
    assert "caught_up" not in {t.function.__name__ for t in KIP455.transitions}
