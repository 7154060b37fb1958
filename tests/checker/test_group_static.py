"""Static members: what their callbacks do, and which ids they are given."""

from kafkaproof.checker.runs.counterexample import executed
from kafkaproof.spec.group.model import STATIC
from kafkaproof.spec.group.scopes import scope

SIZES = scope(brokers=2, clients=2, ids=3, generations=2, epochs=3, log=3, faults=2)
REPLACED = [
    "join.first_join(b=0, m=0, late=0, first=0, second=0) -> PARKED",
    "join.join_timeout(b=0, leader=0, protocol=0, topic=0)",
    "member.joined(m=0)",
    "sync.sync(b=0, m=0, late=0, owner=0) -> STORED",
    "sync.group_stored(b=0, i=0)",
    "member.synced(m=0)",
    "static.static_join(b=0, m=1, late=0, first=0, second=0) -> STORED",
]
READ = ["loading.take_over(b={b})", "loading.read(b={b})", "loading.read(b={b})", "loading.load(b={b})"]
NOT_ENOUGH_REPLICAS_AFTER_APPEND, NOT_LEADER = 0, 2


def after(texts):
    """The state after some steps."""
    return executed(STATIC, SIZES, texts).steps[-1][2]


def loaded_by(b):
    """Steps in which a broker loads both records."""
    return [text.format(b=b) for text in READ]


def test_who_asks_again_without_a_member_id_is_given_another_when_the_former_one_is_in_the_log():
    state = after(
        REPLACED
        + [
            f"static.static_not_stored(b=0, i=0, error={NOT_ENOUGH_REPLICAS_AFTER_APPEND})",
            "member.retry(m=1)",
            "faults.fail_over(to=1, committed=1, kept=2)",
            *loaded_by(1),
            "static.static_join(b=1, m=1, late=0, first=0, second=0) -> STORED",
        ]
    )
    group = state.brokers[1].group
    assert group.leader == 2 and [member.status for member in group.members][:3] == [0, 0, 2]


def test_the_callback_of_a_group_that_was_unloaded_leaves_the_one_that_was_loaded_alone():
    state = after(
        REPLACED
        + [
            "faults.fail_over(to=1, committed=1, kept=2)",
            "faults.fail_over(to=0, committed=1, kept=2)",
            "loading.unload(b=0)",
            "deletion.remove_dead(b=0)",
            *loaded_by(0),
            f"static.static_not_stored(b=0, i=0, error={NOT_LEADER})",
        ]
    )
    assert state.brokers[0].group.leader == 1 and not state.brokers[0].appends.length


def test_an_id_that_a_callback_may_put_into_the_group_is_not_drawn():
    state = after(
        REPLACED
        + [
            "faults.fail_over(to=1, committed=1, kept=1)",
            "membership.expire(b=0, id=1, heir=-1)",
            "faults.give_up(m=1)",
        ]
    )
    assert state.network.requests[1].id == 2
