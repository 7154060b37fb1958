"""The group system: verdicts, moves and counterexamples at scopes that plain Python explores."""

from collections import Counter

import pytest

from checker.counterexample import executed
from checker.execution import Execution
from checker.reference import explore
from spec.group.states import ABSENT, DEAD, ENTERED_FROM, GroupState
from spec.museum.group import CLASSIC, CURRENT, SIZES, STATIC

ONE_MOVE, ONE_FAULT, SHARED = (2, 1, 1, 1, 2, 2, 1, 1, 0), (1, 1, 2, 2, 1, 2, 1, 1, 1), (1, 2, 2, 1, 1, 3, 1, 1, 0)
FOUND = [
    (CURRENT, ONE_MOVE, (1_509, 12_687, 29)),
    (CURRENT, ONE_FAULT, (5_452, 30_009, 35)),
    (CLASSIC, ONE_MOVE, (722, 4_940, 20)),
    (CURRENT, (1, 1, 1, 1, 1, 2, 1, 1, 2), (2_251, 12_176, 23)),
    (CLASSIC, (1, 1, 1, 1, 1, 3, 2, 1, 1), (355, 1_426, 16)),
    (STATIC, SHARED, (584, 2_394, 18)),
]
IDS = [f"{model.variant} at {','.join(map(str, sizes))}" for model, sizes, _ in FOUND]
DELETED_WHILE_COMMITTING = [
    "offsets.reset_offset(b=0) -> STORED",
    "offsets.delete_group(b=0) -> NONE",
    "offsets.offset_stored(b=0, i=0)",
]
STABLE = [
    "join.first_join(b=0, m=0, late=0, first=0, second=0) -> MEMBER_ID_REQUIRED",
    "member.take_id(m=0)",
    "join.join(b=0, m=0, late=0, first=0, second=0, changed=0) -> PARKED",
    "join.join_timeout(b=0, leader=0, protocol=0)",
    "member.joined(m=0)",
    "sync.sync(b=0, m=0, late=0, owner=0) -> STORED",
    "sync.group_stored(b=0, i=0)",
    "member.synced(m=0)",
]
THERE_AND_BACK = STABLE + [
    "faults.fail_over(to=1, committed=1, kept=1)",
    "loading.take_over(b=1)",
    "loading.load(b=1, upto=1)",
    "membership.expire(b=1, id=0, heir=-1)",
    "join.complete_join(b=1, leader=-1, protocol=0)",
    "faults.fail_over(to=0, committed=1, kept=2)",
    "offsets.commit(b=0, m=0, late=0) -> STORED",
]
TWO_ASSIGNMENTS = [
    "join.first_join(b=0, m=0, late=0, first=0, second=0) -> MEMBER_ID_REQUIRED",
    "join.first_join(b=0, m=1, late=0, first=0, second=0) -> MEMBER_ID_REQUIRED",
    "member.take_id(m=0)",
    "join.join(b=0, m=0, late=0, first=0, second=0, changed=0) -> PARKED",
    "member.take_id(m=1)",
    "join.join(b=0, m=1, late=0, first=0, second=0, changed=0) -> PARKED",
    "join.join_timeout(b=0, leader=0, protocol=0)",
    "member.joined(m=0)",
    "member.joined(m=1)",
    "faults.give_up(m=0)",
    "join.join(b=0, m=0, late=0, first=0, second=0, changed=0) -> NONE",
    "member.joined(m=0)",
    "sync.sync(b=0, m=0, late=1, owner=0) -> STORED",
    "sync.sync(b=0, m=0, late=0, owner=1) -> STORED",
    "sync.group_stored(b=0, i=0)",
    "member.synced(m=0)",
    "faults.fail_over(to=1, committed=1, kept=2)",
    "loading.take_over(b=1)",
    "loading.load(b=1, upto=2)",
    "sync.sync(b=1, m=1, late=0, owner=-1) -> NONE",
    "member.synced(m=1)",
]


JOINED = [
    "join.first_join(b={b}, m={m}, late=0, first=0, second=0) -> MEMBER_ID_REQUIRED",
    "member.take_id(m={m})",
    "join.join(b={b}, m={m}, late=0, first=0, second=0, changed=0) -> PARKED",
]
COMPLETED = ["join.join_timeout(b={b}, leader={m}, protocol=0)", "member.joined(m={m})"]
MOVED = ["faults.fail_over(to=1, committed=0, kept=0)", "loading.take_over(b=1)", "loading.load(b=1, upto=0)"]
SYNCED = ["sync.sync(b={b}, m={m}, late=0, owner={m}) -> STORED", "sync.group_stored(b={b}, i=0)"]


def by(b, m, texts):
    """Steps of client `m` at broker `b`."""
    return [text.format(b=b, m=m) for text in texts]


REISSUED = by(0, 0, JOINED + COMPLETED) + MOVED + by(1, 1, JOINED + COMPLETED)
ZOMBIE = by(0, 0, JOINED) + MOVED + by(1, 1, JOINED + COMPLETED + SYNCED) + by(0, 0, COMPLETED)[:1]
CALLBACKS_IN_THE_WRONG_ORDER = [
    "offsets.reset_offset(b=0) -> STORED",
    "join.first_join(b=0, m=0, late=0, first=0, second=0) -> PARKED",
    "join.complete_join(b=0, leader=0, protocol=0)",
    "member.joined(m=0)",
    "sync.sync(b=0, m=0, late=0, owner=0) -> STORED",
    "sync.group_stored(b=0, i=1)",
    "member.synced(m=0)",
    "offsets.commit(b=0, m=0, late=0) -> STORED",
    "offsets.offset_stored(b=0, i=1)",
    "offsets.offset_stored(b=0, i=0)",
]

STORED_TWICE = [
    *TWO_ASSIGNMENTS[:2], TWO_ASSIGNMENTS[2], TWO_ASSIGNMENTS[4], TWO_ASSIGNMENTS[3], *TWO_ASSIGNMENTS[5:8],
    *TWO_ASSIGNMENTS[9:15], "sync.group_stored(b=0, i=0)",
]


def scope(*sizes):
    """A scope from its sizes, in the order of the model's."""
    return dict(zip(SIZES, sizes))


@pytest.mark.parametrize("model, sizes, counts", FOUND, ids=IDS)
def test_the_recorded_verdicts(model, sizes, counts):
    found = explore(model, scope(*sizes))
    assert (found.distinct, found.generated, found.depth) == counts
    assert found.violated == model.expectation(scope(*sizes))


def moves_seen(model, sizes):
    """The moves between states of a group that stays in a broker's cache."""
    run, seen = Execution(model, scope(*sizes)), set()
    states = {run.key(state): state for state in run.initial_states()}
    todo = list(states.values())
    while todo:
        state = todo.pop()
        for _, _, after in run.successors(state, Counter()):
            for old, new in zip(state.brokers, after.brokers):
                if old.owned and new.owned and old.group.state != new.group.state:
                    seen.add((old.group.state, new.group.state))
            if run.key(after) not in states:
                states[run.key(after)] = after
                todo.append(after)
    return {(before, after) for before, after in seen if before != ABSENT and after != ABSENT}


def test_the_moves_seen_are_those_of_the_table():
    table = {(before, after) for after, befores in ENTERED_FROM.items() for before in befores}
    unseen = table - moves_seen(CURRENT, ONE_FAULT)
    assert not moves_seen(CURRENT, ONE_FAULT) - table
    assert {(GroupState.names[before], GroupState.names[after]) for before, after in unseen} == {
        ("PreparingRebalance", "Dead"), ("CompletingRebalance", "Dead"), ("Stable", "Dead"), ("Dead", "Dead"),
    }, "an unloaded group is gone in the same step"


@pytest.mark.parametrize("model, sizes, broken, texts", [
    (CURRENT, (1, 1, 1, 1, 1, 2, 1, 1, 2), "durable", DELETED_WHILE_COMMITTING),
    (CURRENT, (2, 1, 1, 2, 3, 3, 1, 1, 0), "no_stale_commit", THERE_AND_BACK),
    (CURRENT, (1, 2, 3, 2, 1, 3, 2, 1, 1), "stable_is_stored", STORED_TWICE),
    (CURRENT, (2, 2, 2, 1, 2, 2, 2, 1, 1), "disjoint_by_number", TWO_ASSIGNMENTS),
], ids=["deleted while committing", "there and back", "stored twice", "two assignments"])
def test_a_counterexample_is_executed(model, sizes, broken, texts):
    trace = executed(model, scope(*sizes), texts)
    last = trace.steps[-1][2]
    (prop,) = [p for p in model.properties if p.name == broken]
    assert not prop.predicate(last)
    assert trace.states == len(texts) + 1


def test_the_callback_that_comes_last_takes_the_offset_back_in_classic_alone():
    sizes = scope(1, 1, 1, 1, 1, 3, 2, 1, 1)
    trace = executed(CLASSIC, sizes, CALLBACKS_IN_THE_WRONG_ORDER)
    before, after = trace.steps[-2][2], trace.steps[-1][2]
    (prop,) = [p for p in CLASSIC.properties if p.name == "offset_never_regresses"]
    assert not prop.predicate(before, after)
    assert (before.brokers[0].group.offset, after.brokers[0].group.offset) == (2, 0)


@pytest.mark.parametrize("name, texts", [("reissued_generation", REISSUED), ("zombie_answers", ZOMBIE)])
def test_a_goal_is_reached(name, texts):
    trace = executed(CURRENT, scope(2, 2, 2, 1, 2, 1, 1, 1, 0), texts)
    (goal,) = [p for p in CURRENT.properties if p.name == name]
    assert goal.predicate(trace.steps[-1][2])


def test_dead_is_a_state_of_the_cache():
    assert DEAD in ENTERED_FROM and ABSENT not in ENTERED_FROM
