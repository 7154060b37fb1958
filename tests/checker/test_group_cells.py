"""Every cell of the decision tables is reached by exploration, and who is asked there answers as the table says.

`tests/spec/test_group_decision_tables.py` asks every cell of a state that is made up.
"""

from dataclasses import replace
from functools import cache

import pytest

from kafkaproof.spec.group import decision_tables, verdicts
from kafkaproof.spec.group.codes import CODES
from kafkaproof.spec.group.decision_tables import LOCKED_GATE, NEW_GATE, STATES, UNLOCKED_GATE, loads_again
from kafkaproof.spec.group.history import answers as former
from kafkaproof.spec.group.model import CURRENT, FORGETFUL, GATED, LIMITED, LOCKED, STATIC, TRANSACTIONAL, UNLOCKED
from kafkaproof.spec.group.scopes import ONE_MOVE, QUICK, scope
from tests.checker.group_cells import Cells

PROTOCOLS, TWICE = scope(clients=2, ids=2, log=1, protocols=2), scope(brokers=2, epochs=3)
TOPICS, SUPERSEDED = scope(faults=1, topics=2), scope(brokers=2, generations=2, epochs=2, faults=1)
GIVEN_UP, PREPARED = scope(clients=2, ids=2, generations=2, faults=1), {"prepared": 1}
CLIENTS = ("member", "join", "sync", "membership", "loading")


def of_clients(model):
    """A variant with what its clients do, a leader that moves, and requests that are given up; nothing is asked of it."""
    kept = [t for t in model.transitions if t.name.split(".")[0] in CLIENTS]
    others = (model.transition(name) for name in ("offsets.commit", "fail_over", "give_up"))
    return replace(model, transitions=(*kept, *others), properties=())


EXPLORED = {
    "current": (
        decision_tables.NEW,
        NEW_GATE,
        (
            (CURRENT, QUICK),
            (TRANSACTIONAL, ONE_MOVE),
            (TRANSACTIONAL, TOPICS),
            (CURRENT, PROTOCOLS),
            (of_clients(CURRENT), SUPERSEDED),
            (of_clients(CURRENT), GIVEN_UP),
            (of_clients(FORGETFUL), scope(clients=2, ids=2, generations=2, log=1)),
        ),
    ),
    "locked": (
        decision_tables.LOCKED,
        LOCKED_GATE,
        (
            (LOCKED, {**QUICK, "periods": 1}),
            (LOCKED, TWICE),
            (LOCKED, PROTOCOLS),
            (of_clients(LOCKED), SUPERSEDED),
            (of_clients(LOCKED), GIVEN_UP),
        ),
    ),
    "gated": (
        {"delete": decision_tables.LOCKED["delete"]},
        loads_again(decision_tables.LOCKED),
        ((GATED, TWICE), (GATED, QUICK)),
    ),
    "unlocked": ({}, UNLOCKED_GATE, ((UNLOCKED, TWICE | PREPARED), (UNLOCKED, QUICK | PREPARED))),
    "static": (decision_tables.STATIC, {}, ((STATIC, QUICK), (STATIC, scope(clients=2, ids=2, protocols=2)))),
    "forgetful": (decision_tables.FORGETFUL, {}, ((FORGETFUL, scope(ids=2, faults=1)),)),
    "limited": (decision_tables.LIMITED, {}, ((LIMITED, QUICK), (LIMITED, scope(clients=2, ids=2, log=1, faults=1)))),
}
STAYS = {"loading": "Absent", "not owned": "Absent", "unloaded": "Dead"}


def said(table, gates):
    """What the tables say of each cell: (answer, state afterwards); no state where the gate is passed by several."""
    cells = {
        (row, state): (table[row][state][0], table[row][state][1] or state)
        for row in table
        for state in STATES
        if table[row][state] != (None, None) or row in decision_tables.TIMERS
    }
    return cells | {(row, gate): (answer, STAYS.get(gate)) for gate in gates for row, answer in gates[gate].items()}


def explored(explorations):
    """What was answered in each cell that some exploration comes to."""
    reached = {}
    for model, at in explorations:
        for cell, answers in Cells(model, at).found.items():
            reached.setdefault(cell, set()).update(answers)
    return reached


@cache
def reached_of(variant):
    """What was answered in each cell that the explorations of a variant come to."""
    return explored(EXPLORED[variant][2])


def wrong(says, reached):
    """The cells that are reached, and not answered as is said."""
    return {
        cell
        for cell in says.keys() & reached.keys()
        if {(answer, says[cell][1] and end) for answer, end in reached[cell]} != {says[cell]}
    }


def is_asked(cell, says):
    """Whether something happens in a cell: of a timer that is not armed nothing is to be seen."""
    return says[cell] != (None, cell[1])


@pytest.mark.parametrize("variant", EXPLORED)
def test_every_cell_is_reached_and_answered_so(variant):
    table, gates, _ = EXPLORED[variant]
    says, reached = said(table, gates), reached_of(variant)
    assert wrong(says, reached) == set()
    assert {cell for cell in says.keys() - reached.keys() if is_asked(cell, says)} == set()


@pytest.mark.parametrize("variant", EXPLORED)
def test_each_cell_that_is_altered_is_found(variant):
    table, gates, _ = EXPLORED[variant]
    says, reached = said(table, gates), reached_of(variant)
    for cell in says.keys() & reached.keys():
        answer, after = says[cell]
        assert wrong(says | {cell: ("REQUEST_TIMED_OUT", after)}, reached) == {cell}
        if after:
            assert wrong(says | {cell: (answer, STATES[STATES.index(after) - 1])}, reached) == {cell}


def test_a_coordinator_that_answers_as_another_version_is_found():
    model = CURRENT.rebound({verdicts.heartbeat_verdict: former.heartbeat_of_state})
    model = model.rebound({verdicts.dead: former.dead_is_unknown})
    heartbeats = {"member", "other generation", "not a member"}
    differs = {(f"heartbeat, {who}", "Dead") for who in heartbeats} | {("heartbeat, member", "CompletingRebalance")}
    assert differs <= wrong(said(decision_tables.NEW, NEW_GATE), explored([(model, QUICK)]))


def test_every_error_code_is_answered_in_some_cell_or_for_an_append_that_fails():
    """That the latter come is a goal of every variant: `kafkaproof.spec.group.properties.codes`."""
    answers = {answer for table, gates, _ in EXPLORED.values() for answer, _ in said(table, gates).values()}
    failures = set(decision_tables.GROUP_ERRORS.values()) | set(decision_tables.OFFSET_ERRORS.values())
    assert answers | failures == set(CODES) | {"PARKED", "STORED", None}
