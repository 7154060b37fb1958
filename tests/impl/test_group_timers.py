"""When a running coordinator's timers fire, as Kafka's do; and what it lists."""

import pytest
from kafka.protocol.admin.groups import ListGroupsRequest
from kafka.protocol.consumer.group import HeartbeatRequest

from kafkaproof.impl.groups.timers import INITIAL_DELAY
from kafkaproof.impl.protocol.wire import Call
from kafkaproof.spec.group.codes import CODES
from tests.impl.test_group_machine import NAME, Groups

BROKER, OTHER_BROKER, SESSION, REBALANCE = 0, 1, 10.0, 20.0


@pytest.fixture
def groups():
    """Two coordinators, of which broker 0 leads; all that they record is replayed."""
    machine = Groups()
    machine.time_passes(0.0)
    yield machine
    machine.teardown()


def state(groups):
    return groups.brokers[BROKER].states[-1]


def join(groups, *clients):
    for c in clients:
        groups.join(c, BROKER, False)
        groups.answers_arrive()


def join_with_id(groups, *clients):
    join(groups, *clients)
    join(groups, *clients)


def pass_time(groups, seconds):
    groups.time_passes(seconds)
    groups.answers_arrive()


def present(groups):
    return len(groups.brokers[BROKER].coordinator.groups[NAME].present())


def begin_generation(groups, clients):
    """All clients are in the first generation, and none has sent its sync."""
    join_with_id(groups, *range(clients))
    for _ in range(clients + 1):
        pass_time(groups, INITIAL_DELAY + 0.1)
    assert state(groups) == "CompletingRebalance"


def stabilize(groups, *followers):
    """The leader sends its sync, as do these clients, and the assignment is stored."""
    leader = next(c for c, client in enumerate(groups.clients) if client.members)
    for c in (leader, *followers):
        groups.sync(c, BROKER)
    groups.replicate()
    pass_time(groups, 0.0)
    assert state(groups) == "Stable"
    return leader


def beat(groups, *clients, generation=None):
    for c in clients:
        client = groups.clients[c]
        named = client.generation if generation is None else generation
        groups.ask(c, BROKER, HeartbeatRequest(group_id=NAME, generation_id=named, member_id=client.id))
        groups.answers_arrive()


def test_every_broker_lists_the_groups_that_it_has(groups):
    join(groups, 0)
    found = {}
    for b in (BROKER, OTHER_BROKER):
        call = Call(ListGroupsRequest(), 0)
        groups.brokers[b].coordinator.handle(call)
        answer = call.wait()
        found[b] = answer.error_code, [each.group_id for each in answer.groups]
    assert found == {BROKER: (CODES["NONE"], [NAME]), OTHER_BROKER: (CODES["NONE"], [])}


def test_a_member_that_names_another_generation_is_not_heard_from(groups):
    begin_generation(groups, 1)
    stabilize(groups)
    for _ in range(2):
        pass_time(groups, SESSION - 1)
        beat(groups, 0)
    assert present(groups) == 1
    for _ in range(2):
        pass_time(groups, SESSION - 1)
        beat(groups, 0, generation=7)
    assert present(groups) == 0


def test_a_parked_sync_is_answered_with_a_new_session(groups):
    begin_generation(groups, 2)
    follower = next(c for c in range(2) if not groups.clients[c].members)
    leader = 1 - follower
    groups.sync(follower, BROKER)
    pass_time(groups, SESSION - 1)
    beat(groups, leader)
    pass_time(groups, 2.0)
    stabilize(groups)
    pass_time(groups, SESSION - 3)
    assert present(groups) == 2


def test_the_initial_delay_goes_on_while_members_join(groups):
    join_with_id(groups, 0)
    pass_time(groups, 0.0)
    for c in (1, 2):
        pass_time(groups, INITIAL_DELAY - 0.1)
        join_with_id(groups, c)
        pass_time(groups, 0.2)
        assert state(groups) == "PreparingRebalance"
    pass_time(groups, INITIAL_DELAY + 0.1)
    assert (state(groups), present(groups)) == ("CompletingRebalance", 3)


def test_the_initial_delay_is_over_when_nobody_has_joined_since(groups):
    join_with_id(groups, 0)
    pass_time(groups, 0.0)
    pass_time(groups, INITIAL_DELAY + 0.1)
    assert state(groups) == "CompletingRebalance"


def test_members_without_a_sync_are_removed_once_the_group_is_stable(groups):
    begin_generation(groups, 3)
    leader = stabilize(groups)
    followers = [c for c in range(3) if c != leader]
    groups.sync(followers[0], BROKER)
    for _ in range(3):
        pass_time(groups, REBALANCE / 3 + 0.1)
        beat(groups, leader, *followers)
    assert (state(groups), present(groups)) == ("PreparingRebalance", 2)
    assert groups.replays.steps.count("membership.expire") == 1


def test_members_without_a_sync_are_removed_before(groups):
    begin_generation(groups, 2)
    follower = next(c for c in range(2) if not groups.clients[c].members)
    groups.sync(follower, BROKER)
    for _ in range(3):
        pass_time(groups, REBALANCE / 3 + 0.1)
        beat(groups, 1 - follower)
    assert (state(groups), present(groups)) == ("PreparingRebalance", 1)
    assert groups.replays.steps.count("membership.sync_timeout") == 1
