"""`replica` keeps the contract that groups suppose of the offsets log, for one move of the leader; not for two."""

from dataclasses import replace

import pytest

from kafkaproof.checker.refine.search import refine
from kafkaproof.spec.group.refinement import CONTRACT, REPLICATED, TO_CONTRACT, scope_of, to_replication
from kafkaproof.spec.group.sorts import NOWHERE
from kafkaproof.spec.group.storage import leads, may_succeed
from kafkaproof.spec.replica import broker
from kafkaproof.spec.replica.history import shrunk_isr
from kafkaproof.spec.replica.model import scope

ONE_MOVE, TWO_MOVES = scope(), scope(epochs=2)


def steps(found):
    """The behaviour that diverges, as text."""
    return [str(step) for step, _, _ in found.diverged.steps]


def of_leader_alone(s_storage, b, position):
    """An append is acknowledged by the leader alone."""
    return position != NOWHERE and leads(s_storage, b)


@pytest.mark.parametrize(
    "at, states",
    [(ONE_MOVE, 3_490), (scope(faults=1), 16_766), (scope(records=2), 5_858)],
    ids=["one record", "a crash", "two records"],
)
def test_every_behaviour_with_one_move_is_allowed(at, states):
    found = refine(REPLICATED, at, TO_CONTRACT)
    assert found.complete and not found.diverged
    assert found.states == states


def test_the_contract_allows_nothing_that_replication_does_not():
    found = refine(CONTRACT, scope_of(ONE_MOVE), to_replication(ONE_MOVE))
    assert found.complete and not found.diverged
    assert found.states == 38


def test_a_former_leader_may_still_acknowledge_what_its_successor_has():
    strict = replace(TO_CONTRACT, abstract=CONTRACT.rebound({may_succeed: of_leader_alone}))
    assert steps(refine(REPLICATED, ONE_MOVE, strict))[-1].startswith("leader.serve_fetch")


def test_a_log_that_loses_what_was_acknowledged_does_not_keep_it():
    shrunk = REPLICATED.rebound({broker.is_counted: shrunk_isr.is_proposed})
    assert steps(refine(shrunk, ONE_MOVE, TO_CONTRACT))[-1] == "leader.produce(b=0, acks=1) -> OK"


def test_what_a_former_leader_has_appended_may_come_back_with_it_which_the_contract_leaves_out():
    assert steps(refine(REPLICATED, TWO_MOVES, TO_CONTRACT)) == [
        "controller.elect_leader(leader=1)",
        "replica.leader_and_isr(b=1, epoch=1)",
        "leader.produce(b=0, acks=0) -> OK",
        "controller.elect_leader(leader=0)",
        "replica.leader_and_isr(b=0, epoch=2)",
    ]
