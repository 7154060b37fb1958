"""Static members: what their callbacks do, and which ids they are given."""

from kafkaproof.checker.runs.counterexample import executed
from kafkaproof.spec.group.coordinator import MEMBER, NOTHING_PARKED
from kafkaproof.spec.group.model import STATIC
from kafkaproof.spec.group.network import Verdict
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
            "static.remove_static(b=0, i=0, heir=-1) -> NONE",
            "faults.give_up(m=1)",
        ]
    )
    assert state.network.requests[1].id == 2


WITH_ANOTHER = scope(clients=3, ids=4, generations=2, log=3, faults=2)
BOTH_WORK = [
    "join.first_join(b=0, m=0, late=0, first=0, second=0) -> PARKED",
    "join.first_join(b=0, m=2, late=0, first=0, second=0) -> MEMBER_ID_REQUIRED",
    "member.take_id(m=2)",
    "join.join(b=0, m=2, late=0, first=0, second=0, changed=0) -> PARKED",
    "join.join_timeout(b=0, leader=0, protocol=0, topic=0)",
    "member.joined(m=0)",
    "member.joined(m=2)",
    "sync.sync(b=0, m=0, late=0, owner=0) -> STORED",
    "sync.sync(b=0, m=2, late=0, owner=-1) -> PARKED",
    "sync.group_stored(b=0, i=0)",
    "static.static_join(b=0, m=1, late=0, first=0, second=0) -> STORED",
    "faults.give_up(m=2)",
    "join.join(b=0, m=2, late=0, first=0, second=0, changed=1) -> PARKED",
]

SECOND_COMES = [
    "faults.crash_client(m=0)",
    "member.start(m=0)",
    "static.static_join(b=0, m=0, late=0, first=0, second=0) -> PARKED",
]


def with_another(texts):
    """The steps after which clients 0 and 2 work, client 1 replaces client 0, and client 2 joins again; then these."""
    return executed(STATIC, WITH_ANOTHER, BOTH_WORK + texts).steps[-1][2]


def answer_to(state, m):
    """The error code, member id, generation, and whether client `m` leads, in the answer that has come."""
    answer = state.network.answers[m]
    return Verdict.names[answer.verdict], answer.id, answer.generation, answer.leading


def test_a_replacement_in_flight_counts_as_joined_and_is_told_the_next_generation():
    state = with_another(["join.complete_join(b=0, leader=1, protocol=0, topic=0)"])
    assert answer_to(state, 1) == ("NONE", 1, 2, 1)
    state = with_another(["join.complete_join(b=0, leader=1, protocol=0, topic=0)", "static.static_stored(b=0, i=0)"])
    assert answer_to(state, 1) == ("NONE", 1, 2, 1)


def test_a_callback_in_a_rebalance_tells_the_present_generation_and_the_member_has_not_joined():
    state = with_another(["static.static_stored(b=0, i=0)"])
    assert answer_to(state, 1) == ("NONE", 1, 1, 0)
    assert state.brokers[0].group.members[1].parked == NOTHING_PARKED


def test_the_callback_of_a_member_that_was_replaced_again_tells_the_last_client_the_id_of_the_one_before():
    state = with_another([*SECOND_COMES, "static.static_stored(b=0, i=0)"])
    assert answer_to(state, 1)[0] == "FENCED_INSTANCE_ID"
    assert answer_to(state, 0) == ("NONE", 1, 1, 0)
    assert state.brokers[0].group.members[1].status != MEMBER


def test_if_the_append_fails_then_nobody_is_answered():
    state = with_another(
        [*SECOND_COMES, f"static.static_not_stored(b=0, i=0, error={NOT_ENOUGH_REPLICAS_AFTER_APPEND})"]
    )
    assert answer_to(state, 0)[0] == "UNANSWERED" and not state.brokers[0].appends.length
    assert all(member.parked == NOTHING_PARKED for member in state.brokers[0].group.members if member.instance)


def test_a_group_that_is_unloaded_leaves_the_join_to_the_callback():
    state = after(REPLACED + ["faults.fail_over(to=1, committed=2, kept=2)", "loading.unload(b=0)"])
    assert answer_to(state, 1)[0] == "UNANSWERED" and state.brokers[0].appends.slots[0].waiter
    state = after(
        REPLACED
        + ["faults.fail_over(to=1, committed=2, kept=2)", "loading.unload(b=0)", "static.static_stored(b=0, i=0)"]
    )
    assert answer_to(state, 1) == ("NONE", 1, 1, 0)
