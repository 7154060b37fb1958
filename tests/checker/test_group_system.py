"""The group system: verdicts and counterexamples at scopes that plain Python explores."""

import pytest

from checker.counterexample import executed
from checker.execution import Execution
from checker.prove.table import proved_scope
from checker.reference import explore
from spec.museum.group import CLASSIC, CURRENT, STATIC, TRANSACTIONAL, UNLOCKED
from spec.museum.group_scopes import ONE_MOVE, scope
from spec.properties.lemmas import FALSE_BEYOND

FOUND = [
    (CLASSIC, ONE_MOVE, (1_850, 42_165, 20)),
    (CLASSIC, scope(1, 1, 1, 1, 1, 3, appends=2, faults=1), (374, 4_120, 16)),
    (UNLOCKED, UNLOCKED.scopes["quick"], (86, 881, 19)),
    (STATIC, scope(1, 2, 2, 1, 1, 3), (585, 8_337, 18)),
    (TRANSACTIONAL, TRANSACTIONAL.scopes["quick"], (478, 6_114, 18)),
]
IDS = [f"{model.variant} at {','.join(map(str, sizes.values()))}" for model, sizes, _ in FOUND]
DELETED_WHILE_COMMITTING = [
    "offsets.reset_offset(b=0) -> STORED",
    "deletion.delete_group(b=0) -> NONE",
    "offsets.offset_stored(b=0, i=0)",
]
STABLE = [
    "join.first_join(b=0, m=0, late=0, first=0, second=0) -> MEMBER_ID_REQUIRED",
    "member.take_id(m=0)",
    "join.join(b=0, m=0, late=0, first=0, second=0, changed=0) -> PARKED",
    "join.join_timeout(b=0, leader=0, protocol=0, topic=0)",
    "member.joined(m=0)",
    "sync.sync(b=0, m=0, late=0, owner=0) -> STORED",
    "sync.group_stored(b=0, i=0)",
    "member.synced(m=0)",
]
THERE_AND_BACK = STABLE + [
    "faults.fail_over(to=1, committed=1, kept=1)",
    "loading.take_over(b=1)",
    "loading.read(b=1)",
    "loading.load(b=1)",
    "membership.expire(b=1, id=0, heir=-1)",
    "join.complete_join(b=1, leader=-1, protocol=0, topic=0)",
    "faults.fail_over(to=0, committed=1, kept=2)",
    "offsets.commit(b=0, m=0, late=0) -> STORED",
]
ASSIGNED_BY_THE_LOG = [
    "faults.fail_over(to=1, committed=1, kept=2)",
    "loading.take_over(b=1)",
    "loading.read(b=1)",
    "loading.read(b=1)",
    "loading.load(b=1)",
    "sync.sync(b=1, m=1, late=0, owner=-1) -> NONE",
    "member.synced(m=1)",
]
TWO_ASSIGNMENTS = [
    "join.first_join(b=0, m=0, late=0, first=0, second=0) -> MEMBER_ID_REQUIRED",
    "join.first_join(b=0, m=1, late=0, first=0, second=0) -> MEMBER_ID_REQUIRED",
    "member.take_id(m=0)",
    "join.join(b=0, m=0, late=0, first=0, second=0, changed=0) -> PARKED",
    "member.take_id(m=1)",
    "join.join(b=0, m=1, late=0, first=0, second=0, changed=0) -> PARKED",
    "join.join_timeout(b=0, leader=0, protocol=0, topic=0)",
    "member.joined(m=0)",
    "member.joined(m=1)",
    "faults.give_up(m=0)",
    "join.join(b=0, m=0, late=0, first=0, second=0, changed=0) -> NONE",
    "member.joined(m=0)",
    "sync.sync(b=0, m=0, late=1, owner=0) -> STORED",
    "sync.sync(b=0, m=0, late=0, owner=1) -> STORED",
    "sync.group_stored(b=0, i=0)",
    "member.synced(m=0)",
    *ASSIGNED_BY_THE_LOG,
]


JOINED = [
    "join.first_join(b={b}, m={m}, late=0, first=0, second=0) -> MEMBER_ID_REQUIRED",
    "member.take_id(m={m})",
    "join.join(b={b}, m={m}, late=0, first=0, second=0, changed=0) -> PARKED",
]
COMPLETED = ["join.join_timeout(b={b}, leader={m}, protocol=0, topic=0)", "member.joined(m={m})"]
MOVED = ["faults.fail_over(to=1, committed=0, kept=0)", "loading.take_over(b=1)", "loading.load(b=1)"]
SYNCED = ["sync.sync(b={b}, m={m}, late=0, owner={m}) -> STORED", "sync.group_stored(b={b}, i=0)"]


def by(b, m, texts):
    """Steps of client `m` at broker `b`."""
    return [text.format(b=b, m=m) for text in texts]


REISSUED = by(0, 0, JOINED + COMPLETED) + MOVED + by(1, 1, JOINED + COMPLETED)
ZOMBIE = by(0, 0, JOINED) + MOVED + by(1, 1, JOINED + COMPLETED + SYNCED) + by(0, 0, COMPLETED)[:1]
CALLBACKS_IN_THE_WRONG_ORDER = [
    "offsets.reset_offset(b=0) -> STORED",
    "join.first_join(b=0, m=0, late=0, first=0, second=0) -> PARKED",
    "join.complete_join(b=0, leader=0, protocol=0, topic=0)",
    "member.joined(m=0)",
    "sync.sync(b=0, m=0, late=0, owner=0) -> STORED",
    "sync.group_stored(b=0, i=1)",
    "member.synced(m=0)",
    "offsets.commit(b=0, m=0, late=0) -> STORED",
    "offsets.offset_stored(b=0, i=1)",
    "offsets.offset_stored(b=0, i=0)",
]

JOINED_BY_BOTH = [*TWO_ASSIGNMENTS[:3], TWO_ASSIGNMENTS[4], TWO_ASSIGNMENTS[3], *TWO_ASSIGNMENTS[5:9]]
LOADED_AND_LOST = [
    *JOINED_BY_BOTH,
    "sync.sync(b=0, m=0, late=0, owner=0) -> STORED",
    "faults.fail_over(to=1, committed=0, kept=1)",
    "loading.take_over(b=1)",
    "loading.read(b=1)",
    "loading.load(b=1)",
    "sync.sync(b=1, m=1, late=0, owner=-1) -> NONE",
    "member.synced(m=1)",
]
GENERATION_ONE_AGAIN = [
    "join.first_join(b=0, m=0, late=0, first=0, second=0) -> MEMBER_ID_REQUIRED",
    "join.first_join(b=0, m=1, late=0, first=0, second=0) -> MEMBER_ID_REQUIRED",
    "member.take_id(m=0)",
    "member.take_id(m=1)",
    "join.join(b=0, m=1, late=0, first=0, second=0, changed=0) -> PARKED",
    "join.join(b=0, m=0, late=0, first=0, second=0, changed=0) -> PARKED",
    "join.join_timeout(b=0, leader=1, protocol=0, topic=0)",
    "member.joined(m=0)",
    "member.joined(m=1)",
    "sync.sync(b=0, m=1, late=0, owner=0) -> STORED",
    "faults.fail_over(to=1, committed=0, kept=1)",
    "loading.take_over(b=1)",
    "loading.read(b=1)",
    "loading.load(b=1)",
    "sync.sync(b=1, m=0, late=0, owner=-1) -> NONE",
    "member.synced(m=0)",
    "membership.expire(b=1, id=1, heir=0)",
    "loading.unload(b=0)",
    "faults.fail_over(to=0, committed=0, kept=0)",
    "member.rejoin(m=1)",
    "join.join(b=1, m=1, late=0, first=0, second=0, changed=0) -> UNKNOWN_MEMBER_ID",
    "member.start_over(m=1)",
    "deletion.remove_dead(b=0)",
    "loading.take_over(b=0)",
    "loading.load(b=0)",
    *by(0, 1, JOINED + COMPLETED + SYNCED),
    "member.synced(m=1)",
]
LOST_AT_THE_THIRD = [*LOADED_AND_LOST, "faults.fail_over(to=2, committed=0, kept=0)"]
LOST_AT_THE_FIRST = [*LOADED_AND_LOST, "faults.fail_over(to=0, committed=0, kept=0)"]
GENERATION_TWO = [
    *STABLE,
    "join.first_join(b=0, m=1, late=0, first=0, second=0) -> MEMBER_ID_REQUIRED",
    "member.take_id(m=1)",
    "join.join(b=0, m=1, late=0, first=0, second=0, changed=0) -> PARKED",
    "membership.heartbeat(b=0, m=0) -> REBALANCE_IN_PROGRESS",
    "member.rejoin(m=0)",
    "join.join(b=0, m=0, late=0, first=0, second=0, changed=0) -> PARKED",
    "join.complete_join(b=0, leader=0, protocol=0, topic=0)",
    "member.joined(m=0)",
    "member.joined(m=1)",
]
TOLD_AGAIN = [
    "faults.give_up(m=0)",
    "sync.sync(b=0, m=0, late=1, owner=1) -> STORED",
    "faults.give_up(m=0)",
    "join.join(b=0, m=0, late=0, first=0, second=0, changed=0) -> NONE",
    "member.joined(m=0)",
]
GENERATION_TWO_AGAIN = [
    "loading.take_over(b={b})",
    "loading.read(b={b})",
    "loading.load(b={b})",
    "join.join(b={b}, m=0, late=1, first=0, second=0, changed=0) -> PARKED",
    "join.complete_join(b={b}, leader=0, protocol=0, topic=0)",
    "sync.sync(b={b}, m=0, late=0, owner=0) -> STORED",
    "sync.group_stored(b={b}, i=0)",
    "member.synced(m=0)",
]
TWICE_IN_GENERATION_TWO = [
    *GENERATION_TWO, *TOLD_AGAIN, *ASSIGNED_BY_THE_LOG, "faults.fail_over(to=0, committed=1, kept=1)",
    "loading.unload(b=0)", "deletion.remove_dead(b=0)", *by(0, 0, GENERATION_TWO_AGAIN),
]
EMPTY_IN_GENERATION_TWO = [
    *by(0, 0, JOINED + COMPLETED), "membership.expire(b=0, id=0, heir=-1)",
    "join.complete_join(b=0, leader=-1, protocol=0, topic=0)",
]
LOADED_NOTHING = [
    *by(0, 0, JOINED + COMPLETED + SYNCED), "faults.fail_over(to=1, committed=1, kept=1)", "loading.take_over(b=1)",
    "loading.load_fails(b=1)", *by(1, 1, JOINED + COMPLETED[:1]),
]
EXPIRED_AT_ONCE = [
    *EMPTY_IN_GENERATION_TWO, "faults.time_passes(retention=1)", "offsets.reset_offset(b=0) -> STORED",
    "offsets.offset_stored(b=0, i=0)", "deletion.clean_up(b=0)",
]
BORN_AGAIN = [
    *EMPTY_IN_GENERATION_TWO, "faults.time_passes(retention=0)", "deletion.clean_up(b=0)", "deletion.remove_dead(b=0)",
    "sync.sync(b=0, m=0, late=0, owner=-1) -> UNKNOWN_MEMBER_ID", "member.start_over(m=0)",
    *by(0, 0, JOINED + COMPLETED + SYNCED), "deletion.bury(b=0)",
]
FALSE_AT_THE_SIZES_OF_THE_PROOF = {
    "above_stored": LOADED_NOTHING, "stable_is_stored": BORN_AGAIN, "no_stale_commit": THERE_AND_BACK,
    "durable": DELETED_WHILE_COMMITTING, "assignment_is_stored": LOST_AT_THE_FIRST, "disjoint": TWICE_IN_GENERATION_TWO,
    "disjoint_by_number": GENERATION_ONE_AGAIN, "young_offset_stays": EXPIRED_AT_ONCE,
}
STORED_TWICE = [
    *JOINED_BY_BOTH[:-1], *TWO_ASSIGNMENTS[9:15], "sync.group_stored(b=0, i=0)",
]


@pytest.mark.parametrize("model, sizes, counts", FOUND, ids=IDS)
def test_the_recorded_verdicts(model, sizes, counts):
    found = explore(model, sizes)
    assert (found.distinct, found.generated, found.depth) == counts
    assert found.violated == model.expectation(sizes)


@pytest.mark.parametrize("model, sizes, broken, texts", [
    (CURRENT, scope(1, 1, 1, 1, 1, 2, faults=2), "durable", DELETED_WHILE_COMMITTING),
    (CURRENT, scope(2, 1, 1, 2, 3, 3), "no_stale_commit", THERE_AND_BACK),
    (CURRENT, scope(1, 2, 3, 2, 1, 3, appends=2, faults=1), "stable_is_stored", STORED_TWICE),
    (CURRENT, scope(2, 2, 2, 1, 2, 2, appends=2, faults=1), "disjoint_by_number", TWO_ASSIGNMENTS),
    (CURRENT, scope(2, 2, 2, 1, 2, 2, appends=2, faults=1), "disjoint", TWO_ASSIGNMENTS),
    (CURRENT, scope(2, 2, 2, 1, 3, 1), "assignment_is_stored", LOST_AT_THE_FIRST),
    (CURRENT, scope(3, 2, 2, 1, 3, 1), "assignment_is_stored", LOST_AT_THE_THIRD),
    (CURRENT, scope(2, 2, 2, 1, 3, 1), "disjoint_by_number", GENERATION_ONE_AGAIN),
    (CURRENT, scope(2, 2, 2, 2, 3, 2, faults=2), "disjoint", TWICE_IN_GENERATION_TWO),
], ids=["deleted while committing", "there and back", "stored twice", "two assignments", "of one coordinator",
        "loaded and lost", "by a third broker", "generation one again", "twice in generation two"])
def test_a_counterexample_is_executed(model, sizes, broken, texts):
    trace = executed(model, sizes, texts)
    last = trace.steps[-1][2]
    (prop,) = [p for p in model.properties if p.name == broken]
    assert not prop.predicate(last)
    assert trace.states == len(texts) + 1


def test_the_callback_that_comes_last_takes_the_offset_back_in_classic_alone():
    sizes = scope(1, 1, 1, 1, 1, 3, appends=2, faults=1)
    trace = executed(CLASSIC, sizes, CALLBACKS_IN_THE_WRONG_ORDER)
    before, after = trace.steps[-2][2], trace.steps[-1][2]
    (prop,) = [p for p in CLASSIC.properties if p.name == "offset_never_regresses"]
    assert not prop.predicate(before, after, 0, 0)
    assert (before.brokers[0].group.offset, after.brokers[0].group.offset) == (2, 0)


@pytest.mark.parametrize("name, texts", [("reissued_generation", REISSUED), ("zombie_answers", ZOMBIE)])
def test_a_goal_is_reached(name, texts):
    trace = executed(CURRENT, scope(2, 2, 2, 1, 2, 1), texts)
    (goal,) = [p for p in CURRENT.properties if p.name == name]
    assert goal.predicate(trace.steps[-1][2])


@pytest.mark.parametrize("model", [CURRENT, TRANSACTIONAL], ids=lambda model: model.variant)
@pytest.mark.parametrize("broken", FALSE_AT_THE_SIZES_OF_THE_PROOF)
def test_what_is_false_beyond_the_recorded_scopes_is_violated_at_the_sizes_of_the_proof(model, broken):
    ends = {"generations": 4, "epochs": 4, "faults": 4, "periods": 2}
    trace = executed(model, proved_scope(model) | ends, FALSE_AT_THE_SIZES_OF_THE_PROOF[broken])
    (_, _, before), (step, transition, after) = trace.steps[-2:]
    (prop,) = [p for p in model.properties if p.name == broken]
    arguments = tuple(step.arguments.values())
    by_step = Execution(model, trace.scope).broken_by_step(before, transition, arguments, after)
    assert broken in by_step if prop.kind == "step" else not prop.predicate(after)


def test_they_are_those_that_are_told():
    told = {name for system, variant, name in FALSE_BEYOND if (system, variant) == ("group", "current")}
    assert told == {*FALSE_AT_THE_SIZES_OF_THE_PROOF}


def test_a_deletion_by_an_old_cache_writes_no_history_beyond_the_log():
    trace = executed(CURRENT, scope(2, 1, 1, 1, 4, 1, faults=2), [
        "offsets.reset_offset(b=0) -> STORED",
        "faults.fail_over(to=1, committed=0, kept=1)",
        "loading.take_over(b=1)",
        "loading.read(b=1)",
        "loading.load(b=1)",
        "faults.fail_over(to=0, committed=0, kept=0)",
        "faults.fail_over(to=1, committed=0, kept=0)",
        "deletion.delete_group(b=1) -> NONE",
    ])
    before, after = trace.steps[-2][2], trace.steps[-1][2]
    assert before.brokers[1].group.offset == 0 and after.storage.log.length == 0
    assert not after.storage.log.slots[0].ghosts.deleted
