"""Every cell of the decision tables: a broker in that state, asked that, answers so and is then in that state."""

from functools import cache

import pytest

from kafkaproof.checker.model.execution import Execution
from kafkaproof.spec.group import decision_tables, model, offsets, storage, sync
from kafkaproof.spec.group.coordinator import JOIN_PARKED, MEMBER, PENDING
from kafkaproof.spec.group.decision_tables import (
    KIP345,
    KIP394,
    KIP496,
    LIMITED,
    LOCKED,
    LOCKED_GATE,
    NEW,
    NEW_GATE,
    RELOADING,
    STATES,
    STATIC,
    TIMERS,
    UNLOCKED,
    UNLOCKED_GATE,
    loads_again,
)
from kafkaproof.spec.group.find_coordinator import find_verdict
from kafkaproof.spec.group.group_states import ENTERED_FROM, GroupState, move_is_legal
from kafkaproof.spec.group.network import COMMIT, JOIN, LEAVE, SYNC, WORK, Verdict
from kafkaproof.spec.group.scopes import scope

SCOPE = scope(clients=3, ids=4, generations=3, log=4, appends=2, protocols=2, faults=2, topics=2, periods=1, prepared=1)
LEADER, FOLLOWER, STRANGER, GENERATION = 0, 1, 2, 2
TABLES = {
    "current": (model.CURRENT, NEW, NEW_GATE),
    "transactional": (model.TRANSACTIONAL, NEW, NEW_GATE),
    "reloading": (model.RELOADING, RELOADING, loads_again(RELOADING)),
    "kip496": (model.KIP496, KIP496, loads_again(KIP496)),
    "kip345": (model.KIP345, KIP345, loads_again(KIP345)),
    "kip394": (model.KIP394, KIP394, loads_again(KIP394)),
    "kip211": (model.KIP211, LOCKED, loads_again(LOCKED)),
    "gated": (model.GATED, LOCKED, loads_again(LOCKED)),
    "locked": (model.LOCKED, LOCKED, LOCKED_GATE),
    "unlocked": (model.UNLOCKED, UNLOCKED, UNLOCKED_GATE),
    "never-empty": (
        model.NEVER_EMPTY,
        decision_tables.NEVER_EMPTY,
        decision_tables.owned_first(decision_tables.NEVER_EMPTY),
    ),
    "static": (model.STATIC, STATIC, {}),
    "limited": (model.LIMITED, LIMITED, {}),
    "forgetful": (model.FORGETFUL, decision_tables.FORGETFUL, {}),
}
IN_TRANSACTION = "commit, in a transaction"
CELLS = [
    (variant, request, state)
    for variant, (_, table, _) in TABLES.items()
    for request in table
    for state in STATES
    if (request == IN_TRANSACTION) == (variant == "transactional")
]
GATES = [
    (variant, gate, request)
    for variant, (_, _, gates) in TABLES.items()
    for gate in gates
    for request in gates[gate]
    if (request == IN_TRANSACTION) == (variant == "transactional")
]
WITHOUT_MEMBERS = ("Absent", "Empty", "Dead")
ASKING = {"join": JOIN, "sync": SYNC, "heartbeat": WORK, "commit": WORK}
STRANGE = (
    "id not in group",
    "not a member",
    "no id",
    "nothing in common",
    "pending",
    "no id, one has joined",
    "in place of a member",
    "in place of a member, changed",
    "replaced",
)


@cache
def execution(variant):
    return Execution(TABLES[variant][0], SCOPE)


def fill(state, name):
    """Put the group of broker 0 into a state: a leader and a follower, where there are members at all."""
    group = state.brokers[0].group
    group.state = GroupState.names.index(name)
    if name in WITHOUT_MEMBERS:
        return
    group.generation, group.leader, group.protocol, group.topic = GENERATION, LEADER, 0, 0
    for id in (LEADER, FOLLOWER):
        group.members[id].status = MEMBER


def credentials(request):
    """Member id, and generation, that a request of the table has."""
    who, _, detail = request.partition(", ")
    if detail in STRANGE:
        return STRANGER, GENERATION
    generation = 1 if detail == "other generation" else GENERATION
    return (LEADER if detail.startswith("leader") else FOLLOWER), generation


def put(state, request):
    """Put the request into the network, from client 0, and what it supposes into the group."""
    group = state.brokers[0].group
    kind, _, detail = request.partition(", ")
    id, generation = credentials(request)
    asked = state.network.late[0] if kind == "leave" else state.network.requests[0]
    asked.kind = LEAVE if kind == "leave" else ASKING.get(kind, 0)
    asked.id, asked.generation = id, generation
    asked.known = not (detail.startswith("no id") or detail.startswith("in place"))
    asked.leading = kind == "sync" and "leader" in request
    with_members = group.leader != -1
    if detail == "pending" and group.state not in (0, 5):
        group.members[STRANGER].status = PENDING
    if detail == "nothing in common":
        for member in group.members[:-1]:
            member.first = member.second = int(member.status == MEMBER)
    if detail.endswith("one has joined"):
        group.members[LEADER].parked = JOIN_PARKED
    if kind == "delete offset" and detail and with_members:
        group.topic = 1
    if detail.endswith("one is pending") and group.state not in (0, 5):
        group.pending = 0
    if detail == "in place of a member, changed" and with_members:
        group.members[LEADER].second = group.members[FOLLOWER].second = 1
    if (detail in ("replaced",) or detail.startswith("in place") or request == "remove static") and with_members:
        group.members[FOLLOWER].instance = 1


def choices(request, state):
    """The transition that handles a request, and its arguments; all are tried where they are choices of the group."""
    kind, _, detail = request.partition(", ")
    members = state.brokers[0].group.leader != -1
    heirs = range(-1, 4)
    found = {
        "sync": ("sync.sync", [(0, 0, 0, LEADER if detail == "leader" and members else -1)]),
        "heartbeat": ("heartbeat", [(0, 0)]),
        "leave": ("membership.leave", [(0, 0, heir) for heir in heirs]),
        "commit": ("offsets.commit", [(0, 0, 0)]),
        "fetch": ("fetch", [(0, int(detail.startswith("stable")))]),
        "delete": ("delete_group", [(0,)]),
        "delete offset": ("delete_offset", [(0,)]),
        "syncs are due": ("sync_timeout", [(0, heir) for heir in heirs]),
        "remove static": ("remove_static", [(0, 0, heir) for heir in heirs]),
        "session ends": ("expire", [(0, FOLLOWER, heir) for heir in heirs]),
        "without permission": ("refuse", [(0, 0)]),
        "without a group id": ("refuse", [(0, 1)]),
    }
    if detail in ("another type", "no such topic"):
        return "refuse_type" if kind == "join" else "refuse_topic", [(0,)]
    if detail.endswith("too long"):
        return "refuse", [(0, 2 if kind == "join" else 3)]
    if kind == "commit" and detail in ("no group", "in a transaction"):
        return "reset_offset" if detail == "no group" else "commit_in_transaction", [(0,)]
    if kind == "join" and detail.startswith("no id"):
        return "first_join", [(0, 0, 0, 0, 0)]
    if kind == "join" and detail.startswith("in place"):
        return "static_join", [(0, 0, 0, int(detail.endswith("changed")), int(detail.endswith("changed")))]
    if kind == "join":
        return "join.join", [(0, 0, 0, 0, 0, int(detail == "member, changed"))]
    return found[kind]


def asked(model, request, state):
    """Answer and state of the group after a request; the answer of a timer is None, and both if it does nothing."""
    run = execution(model.variant)
    name, arguments = choices(request, state)
    transition = model.transition(name)
    found = set()
    for chosen in arguments:
        after = run.after(state, transition, chosen)
        if after is not None:
            found.add((run.step(transition, chosen).answer, GroupState.names[after.brokers[0].group.state]))
    assert len(found) <= 1
    return found.pop() if found else (None, None)


def applies(variant, request, name):
    """Whether a table's cell is a question: everything is in common with nobody, and a table may leave a cell out."""
    if request == "join, nothing in common" and name in WITHOUT_MEMBERS[:2]:
        return False
    return request in TIMERS or TABLES[variant][1][request][name] != (None, None)


@pytest.mark.parametrize("variant, request_, name", [cell for cell in CELLS if applies(*cell)])
def test_a_cell_of_the_table(variant, request_, name):
    model, table, _ = TABLES[variant]
    state = execution(variant).initial_states()[0]
    fill(state, name)
    put(state, request_)
    if request_ == "sync, leader" and name in WITHOUT_MEMBERS:
        state.network.requests[0].leading = 0
    answer, after = table[request_][name]
    nothing = request_ in TIMERS and after is None and not (request_ == "session ends" and name == "PreparingRebalance")
    assert asked(model, request_, state) == ((None, None) if nothing else (answer, after or name))


@pytest.mark.parametrize("variant, gate, request_", GATES)
def test_the_gate(variant, gate, request_):
    model, _, gates = TABLES[variant]
    answer = gates[gate][request_]
    state = execution(variant).initial_states()[0]
    if gate == "unloaded":
        fill(state, "Dead")
    put(state, request_)
    state.network.requests[0].leading = 0
    state.brokers[0].owned = int(gate == "loading again")
    state.brokers[0].loading = int(gate.startswith("loading"))
    assert asked(model, request_, state) == (answer, "Dead" if gate == "unloaded" else "Absent")


def test_metadata_without_a_leader_find_no_coordinator():
    assert [Verdict.names[find_verdict(known)] for known in (0, 1, 2)] == ["COORDINATOR_NOT_AVAILABLE", "NONE", "NONE"]


@pytest.mark.parametrize(
    "table, meaning",
    [(decision_tables.GROUP_ERRORS, sync.meaning), (decision_tables.OFFSET_ERRORS, offsets.meaning)],
    ids=["group", "offset"],
)
def test_what_an_append_s_error_means(table, meaning):
    for error, answer in table.items():
        code = storage.AppendError.names.index(decision_tables.CLASS_OF.get(error, error))
        assert Verdict.names[meaning(code)] == answer
    assert {decision_tables.CLASS_OF.get(error, error) for error in table} == set(storage.AppendError.names)


def test_every_answer_of_the_tables_is_an_error_code():
    cells = [cell for _, table, _ in TABLES.values() for row in table.values() for cell in row.values()]
    assert {answer for answer, _ in cells if answer} <= set(Verdict.names)


def test_the_function_of_moves_says_what_the_table_says():
    for after in GroupState:
        legal = [before for before in GroupState if move_is_legal(before, after)]
        assert legal == sorted(ENTERED_FROM.get(after, ()))


def test_the_table_of_moves_is_kafka_s():
    named = {
        GroupState.names[after]: {GroupState.names[before] for before in befores}
        for after, befores in ENTERED_FROM.items()
    }
    assert named == {
        "Empty": {"PreparingRebalance"},
        "PreparingRebalance": {"Stable", "CompletingRebalance", "Empty"},
        "CompletingRebalance": {"PreparingRebalance"},
        "Stable": {"CompletingRebalance"},
        "Dead": {"Stable", "PreparingRebalance", "CompletingRebalance", "Empty", "Dead"},
    }


def test_late_commits_are_asked_as_others_are():
    state = Execution(model.CURRENT, SCOPE).initial_states()[0]
    fill(state, "Stable")
    late = state.network.late[0]
    late.kind, late.id, late.known, late.generation = COMMIT, FOLLOWER, 1, 1
    run = Execution(model.CURRENT, SCOPE)
    commit = model.CURRENT.transition("offsets.commit")
    after = run.after(state, commit, (0, 0, 1))
    assert run.step(commit, (0, 0, 1)).answer == "ILLEGAL_GENERATION"
    assert after.network.answers[0].verdict == 0
