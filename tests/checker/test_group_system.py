"""The group system: verdicts and counterexamples at scopes that plain Python explores."""

import pytest

from kafkaproof.checker.explore.reference import explore
from kafkaproof.checker.runs.counterexample import executed
from kafkaproof.spec.group.model import CURRENT, LOCKED, NEVER_EMPTY, STATIC, TRANSACTIONAL, UNLOCKED
from kafkaproof.spec.group.scopes import ONE_MOVE, scope
from tests.checker.group_behaviours import (
    CALLBACKS_IN_THE_WRONG_ORDER,
    DELETED_WHILE_COMMITTING,
    GENERATION_ONE_AGAIN,
    LOST_AT_THE_FIRST,
    LOST_AT_THE_THIRD,
    REISSUED,
    STORED_TWICE,
    THERE_AND_BACK,
    TWICE_IN_GENERATION_TWO,
    TWO_ASSIGNMENTS,
    ZOMBIE,
    as_appended,
)

CALLBACKS = scope(log=3, appends=2, faults=1, prepared=1)
FOUND = [
    (LOCKED, ONE_MOVE, (1_556, 38_532, 20)),
    (UNLOCKED, CALLBACKS, (622, 6_927, 22)),
    (UNLOCKED, UNLOCKED.scopes["quick"], (86, 881, 19)),
    (NEVER_EMPTY, NEVER_EMPTY.scopes["quick"], (531, 5_602, 40)),
    (STATIC, scope(clients=2, ids=2, log=3), (1_102, 15_766, 24)),
    (TRANSACTIONAL, TRANSACTIONAL.scopes["quick"], (478, 6_114, 18)),
]
IDS = [f"{model.variant} at {','.join(map(str, sizes.values()))}" for model, sizes, _ in FOUND]


@pytest.mark.parametrize("model, sizes, counts", FOUND, ids=IDS)
def test_the_recorded_verdicts(model, sizes, counts):
    found = explore(model, sizes)
    assert (found.distinct, found.generated, found.depth) == counts
    assert found.violated == model.expectation(sizes)


@pytest.mark.parametrize(
    "model, sizes, broken, texts",
    [
        (CURRENT, scope(faults=2), "durable", DELETED_WHILE_COMMITTING),
        (CURRENT, scope(brokers=2, generations=2, epochs=3, log=3), "no_stale_commit", THERE_AND_BACK),
        (CURRENT, scope(clients=2, ids=3, generations=2, log=3, appends=2, faults=1), "stable_is_stored", STORED_TWICE),
        (
            CURRENT,
            scope(brokers=2, clients=2, ids=2, epochs=2, appends=2, faults=1),
            "disjoint_by_number",
            TWO_ASSIGNMENTS,
        ),
        (CURRENT, scope(brokers=2, clients=2, ids=2, epochs=2, appends=2, faults=1), "disjoint", TWO_ASSIGNMENTS),
        (CURRENT, scope(brokers=2, clients=2, ids=2, epochs=3, log=1), "assignment_is_stored", LOST_AT_THE_FIRST),
        (CURRENT, scope(brokers=3, clients=2, ids=2, epochs=3, log=1), "assignment_is_stored", LOST_AT_THE_THIRD),
        (CURRENT, scope(brokers=2, clients=2, ids=2, epochs=3, log=1), "disjoint_by_number", GENERATION_ONE_AGAIN),
        (
            CURRENT,
            scope(brokers=2, clients=2, ids=2, generations=2, epochs=3, faults=2),
            "disjoint",
            TWICE_IN_GENERATION_TWO,
        ),
    ],
    ids=[
        "deleted while committing",
        "there and back",
        "stored twice",
        "two assignments",
        "of one coordinator",
        "loaded and lost",
        "by a third broker",
        "generation one again",
        "twice in generation two",
    ],
)
def test_a_counterexample_is_executed(model, sizes, broken, texts):
    trace = executed(model, sizes, texts)
    last = trace.steps[-1][2]
    (prop,) = [p for p in model.properties if p.name == broken]
    assert not prop.predicate(last)
    assert trace.states == len(texts) + 1


def test_the_callback_that_comes_last_takes_the_offset_back_in_unlocked_alone():
    trace = executed(UNLOCKED, CALLBACKS, as_appended(CALLBACKS_IN_THE_WRONG_ORDER))
    before, after = trace.steps[-2][2], trace.steps[-1][2]
    (prop,) = [p for p in UNLOCKED.properties if p.name == "offset_never_regresses"]
    assert not prop.predicate(before, after, 0, 0)
    assert (before.brokers[0].group.offset, after.brokers[0].group.offset) == (2, 0)


@pytest.mark.parametrize("name, texts", [("reissued_generation", REISSUED), ("zombie_answers", ZOMBIE)])
def test_a_goal_is_reached(name, texts):
    trace = executed(CURRENT, scope(brokers=2, clients=2, ids=2, epochs=2, log=1), texts)
    (goal,) = [p for p in CURRENT.properties if p.name == name]
    assert goal.predicate(trace.steps[-1][2])


def test_a_deletion_by_an_old_cache_writes_no_history_beyond_the_log():
    trace = executed(
        CURRENT,
        scope(brokers=2, epochs=4, log=1, faults=2),
        [
            "offsets.reset_offset(b=0) -> STORED",
            "faults.fail_over(to=1, committed=0, kept=1)",
            "loading.take_over(b=1)",
            "loading.read(b=1)",
            "loading.load(b=1)",
            "faults.fail_over(to=0, committed=0, kept=0)",
            "faults.fail_over(to=1, committed=0, kept=0)",
            "deletion.delete_group(b=1) -> NONE",
        ],
    )
    before, after = trace.steps[-2][2], trace.steps[-1][2]
    assert before.brokers[1].group.offset == 0 and after.storage.log.length == 0
    assert not after.storage.log.slots[0].ghosts.deleted
