"""Every cell of the decision tables: a broker in that state, asked that, answers so and is then in that state."""

import pytest

from checker.execution import Execution
from spec.group import decisions
from spec.group.coordinator import MEMBER, PENDING
from spec.group.network import COMMIT, JOIN, LEAVE, SYNC, WORK, Verdict
from spec.group.states import ENTERED_FROM, GroupState, move_is_legal
from spec.museum.group import CLASSIC, CURRENT

SCOPE = {"brokers": 1, "clients": 3, "ids": 4, "generations": 3, "epochs": 1, "log": 3, "appends": 2, "protocols": 2,
         "faults": 2}
LEADER, FOLLOWER, STRANGER, GENERATION = 0, 1, 2, 2
TABLES = {"current": (CURRENT, decisions.NEW, decisions.NEW_GATE),
          "classic": (CLASSIC, decisions.OLD, decisions.OLD_GATE)}
CELLS = [(variant, request, state) for variant, (_, table, _) in TABLES.items()
         for request in table for state in decisions.STATES]
GATES = [(variant, gate, request) for variant, (_, _, gates) in TABLES.items()
         for gate in gates for request in gates[gate]]
WITHOUT_MEMBERS = ("Absent", "Empty", "Dead")
ASKING = {"join": JOIN, "sync": SYNC, "heartbeat": WORK, "commit": WORK}


def fill(state, name):
    """Put the group of broker 0 into a state: a leader and a follower, where there are members at all."""
    group = state.brokers[0].group
    group.state = GroupState.names.index(name)
    if name in WITHOUT_MEMBERS:
        return
    group.generation, group.leader, group.protocol = GENERATION, LEADER, 0
    for id in (LEADER, FOLLOWER):
        group.members[id].status = MEMBER


def credentials(request):
    """Member id, and generation, that a request of the table has."""
    who, _, detail = request.partition(", ")
    if detail in ("id not in group", "not a member", "no id", "nothing in common", "pending"):
        return STRANGER, GENERATION
    generation = 1 if detail == "other generation" else GENERATION
    return (LEADER if detail.startswith("leader") else FOLLOWER), generation


def put(state, request):
    """Put the request into the network, from client 0."""
    kind = request.partition(", ")[0]
    id, generation = credentials(request)
    asked = state.network.late[0] if kind == "leave" else state.network.requests[0]
    asked.kind = LEAVE if kind == "leave" else ASKING.get(kind, 0)
    asked.id, asked.generation = id, generation
    asked.known = request != "join, no id"
    asked.leading = kind == "sync" and "leader" in request
    if request == "join, pending" and state.brokers[0].group.state not in (0, 5):
        state.brokers[0].group.members[STRANGER].status = PENDING
    if request == "join, nothing in common":
        for member in state.brokers[0].group.members[:-1]:
            member.first = member.second = int(member.status == MEMBER)


def choices(request, state):
    """The transition that handles a request, and its arguments; those of a lost leader's heir are all tried."""
    kind, _, detail = request.partition(", ")
    members = state.brokers[0].group.leader != -1
    match kind:
        case "join" if detail == "no id":
            return "first_join", [(0, 0, 0, 0, 0)]
        case "join":
            return "join", [(0, 0, 0, 0, 0, int(detail == "member, changed"))]
        case "sync":
            return "sync", [(0, 0, 0, LEADER if detail == "leader" and members else -1)]
        case "heartbeat":
            return "heartbeat", [(0, 0)]
        case "leave":
            return "membership.leave", [(0, 0, heir) for heir in range(-1, 4)]
        case "commit" if detail == "no group":
            return "reset_offset", [(0,)]
        case "commit":
            return "commit", [(0, 0, 0)]
        case "fetch":
            return "fetch", [(0,)]
        case "delete":
            return "delete_group", [(0,)]
    return "expire", [(0, FOLLOWER, heir) for heir in range(-1, 4)]


def asked(model, request, state):
    """Answer and state of the group after a request; the answer of a timer is None, and both if it does nothing."""
    run = Execution(model, SCOPE)
    name, arguments = choices(request, state)
    transition = model.transition(name)
    found = set()
    for chosen in arguments:
        after = run.after(state, transition, chosen)
        if after is not None:
            found.add((run.step(transition, chosen).answer, GroupState.names[after.brokers[0].group.state]))
    assert len(found) <= 1
    return found.pop() if found else (None, None)


def expected(cell, state):
    """What a cell says, with the state spelt out."""
    return None if cell[0] == "no such timer" else (cell[0], cell[1] or state)


@pytest.mark.parametrize("variant, request_, name", CELLS)
def test_a_cell_of_the_table(variant, request_, name):
    model, table, _ = TABLES[variant]
    state = Execution(model, SCOPE).initial_states()[0]
    fill(state, name)
    put(state, request_)
    if request_ == "join, nothing in common" and name in WITHOUT_MEMBERS[:2]:
        pytest.skip("everything is in common with nobody")
    if request_ in ("sync, leader", "sync, member") and name in WITHOUT_MEMBERS:
        state.network.requests[0].leading = 0
    cell = table[request_][name]
    if request_ == "session ends":
        gone = name in WITHOUT_MEMBERS
        assert asked(model, request_, state) == ((None, None) if gone else (None, cell[1] or name))
    else:
        assert asked(model, request_, state) == (cell[0], cell[1] or name)


@pytest.mark.parametrize("variant, gate, request_", GATES)
def test_the_gate(variant, gate, request_):
    model, _, gates = TABLES[variant]
    answer = gates[gate][request_]
    state = Execution(model, SCOPE).initial_states()[0]
    put(state, request_)
    state.network.requests[0].leading = 0
    state.brokers[0].owned = 0
    state.brokers[0].loading = int(gate == "loading")
    if answer is not None:
        assert asked(model, request_, state) == (answer, "Absent")


def test_every_answer_of_the_tables_is_an_error_code():
    cells = [cell for table in (decisions.NEW, decisions.OLD) for row in table.values() for cell in row.values()]
    assert {answer for answer, _ in cells if answer} <= set(Verdict.names)


def test_the_function_of_moves_says_what_the_table_says():
    for after in GroupState:
        legal = [before for before in GroupState if move_is_legal(before, after)]
        assert legal == sorted(ENTERED_FROM.get(after, ()))


def test_the_table_of_moves_is_kafka_s():
    named = {GroupState.names[after]: {GroupState.names[before] for before in befores}
             for after, befores in ENTERED_FROM.items()}
    assert named == {
        "Empty": {"PreparingRebalance"},
        "PreparingRebalance": {"Stable", "CompletingRebalance", "Empty"},
        "CompletingRebalance": {"PreparingRebalance"},
        "Stable": {"CompletingRebalance"},
        "Dead": {"Stable", "PreparingRebalance", "CompletingRebalance", "Empty", "Dead"},
    }


def test_late_commits_are_asked_as_others_are():
    state = Execution(CURRENT, SCOPE).initial_states()[0]
    fill(state, "Stable")
    late = state.network.late[0]
    late.kind, late.id, late.known, late.generation = COMMIT, FOLLOWER, 1, 1
    run = Execution(CURRENT, SCOPE)
    after = run.after(state, CURRENT.transition("commit"), (0, 0, 1))
    assert run.step(CURRENT.transition("commit"), (0, 0, 1)).answer == "ILLEGAL_GENERATION"
    assert after.network.answers[0].verdict == 0
