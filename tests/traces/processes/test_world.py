"""The two systems side by side: partners follow wherever steps lead, and messages arrive with what they said."""

import random

import pytest

from kafkaproof.spec.election.active_controller import at_work
from kafkaproof.spec.election.broker_state import CLEANING, DOWN, EXPIRED_SESSION, FULL, IDLE, LOADING
from kafkaproof.spec.kafka.zookeeper import (
    ANSWERED,
    BADVERSION,
    CHANGED,
    DELETED,
    LOST_APPLIED,
    LOST_DROPPED,
    NOTHING,
    OK,
    Answer,
)
from kafkaproof.spec.language.sets import with_member
from kafkaproof.spec.partition.context import ELECTING
from kafkaproof.spec.partition.context import IDLE as WAITING
from kafkaproof.spec.partition.reassignment.state import CHECKING
from kafkaproof.spec.running.observed_cluster import observed_cluster
from kafkaproof.spec.running.processes import (
    ELECTION,
    PARTITION,
    VARIANTS,
    continuations,
    partners_in_election,
    partners_in_partition,
)
from kafkaproof.traces.processes.state.messages import Sent
from kafkaproof.traces.processes.state.world import World

SIZES = {"brokers": 2, "replicas": 2, "partitions": 2, "min_isr": 1}
NEW_EVENTS = ("broker_change", "rebalance", "preferred_election", "topic_deletion", "log_dir_notification", "notify")


def choices(world, b):
    """What a running broker may do next: part, name and arguments."""
    candidate, owner = world.record(b)
    event, idle = owner.controller.doing != WAITING, candidate.doing == IDLE
    for p in range(SIZES["partitions"]):
        for epoch in range(8):
            yield PARTITION, "leader_and_isr", {"epoch": epoch, "p": p}
    if candidate.session == DOWN:
        yield ELECTION, "start", {}
        return
    yield ELECTION, "notice_expiry", {}
    if not idle:
        steps = continuations(world.cluster.model(ELECTION), SIZES["partitions"], SIZES["brokers"])
        yield from ((ELECTION, step.__name__, {}) for step, _ in steps)
    if candidate.doing == CLEANING:
        yield ELECTION, "clean", {}
    if candidate.doing == LOADING or at_work(candidate) or idle:
        if event:
            model = world.cluster.model(PARTITION)
            for step, arguments in continuations(model, SIZES["partitions"], SIZES["brokers"]):
                yield PARTITION, step.__name__, arguments
    if idle and not event:
        yield from ((ELECTION, name, {}) for name in ("reopen", "handle_change"))
        if at_work(candidate) and candidate.session != EXPIRED_SESSION:
            yield from ((PARTITION, name, {}) for name in NEW_EVENTS)


def take(world, b, part, name, arguments, chance):
    """Take a step with its partner; what came of it, None where it was not enabled."""
    if not world.has(part, name):
        return None
    delivery = chance.choices((ANSWERED, LOST_APPLIED, LOST_DROPPED), (12, 1, 1))[0]
    outcome = world.take(part, name, b=b, delivery=delivery, **arguments)
    if outcome is None:
        return None
    answer = None if outcome.answer is None else Answer.names.index(outcome.answer)
    if part == ELECTION:
        found, other = partners_in_partition(name, answer, world.record(b)[1]), PARTITION
    else:
        found, other = (
            partners_in_election(world.cluster.partition.transition(name), answer, world.record(b)[1]),
            ELECTION,
        )
    delivery = delivery if outcome.answer == "LOST" else ANSWERED
    for (partner, code), taken in zip(found, world.follow(other, [n for n, _ in found], b, delivery), strict=True):
        assert taken, f"after {name} -> {outcome.answer} broker {b} cannot take {partner} in {other}"
        assert other == PARTITION or taken.answer == Answer.names[code], (name, partner, taken.answer)
    return outcome


def fault(world, b, chance):
    """What happens to a broker from outside."""
    names = chance.choice((("expire_session",), ("crash", "expire_orphan"), ("delete_controller",)))
    for name in names:
        arguments = {} if name == "delete_controller" else {"b": b}
        if world.enabled(PARTITION, name, **arguments) or name == "delete_controller":
            for part in (ELECTION, PARTITION):
                world.take(part, name, **arguments)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", range(8))
def test_partners_follow_wherever_steps_lead(variant, seed):
    chance, world, taken = random.Random(seed), World(observed_cluster(variant), SIZES, 24), set()
    for _ in range(400):
        if chance.random() < 0.05:
            fault(world, chance.randrange(2), chance)
        b = chance.randrange(2)
        possible = list(choices(world, b))
        chance.shuffle(possible)
        for part, name, arguments in possible:
            if take(world, b, part, name, arguments, chance):
                taken.add(name)
                break
    assert {"register_broker", "load_state", "create_first_state", "maybe_resign", "leader_and_isr"} <= taken


def test_a_message_arrives_with_what_it_said_whatever_was_sent_since():
    world = World(observed_cluster("fenced"), SIZES, 9)
    world.states[PARTITION].brokers[0].up, world.states[PARTITION].brokers[0].metadata.alive = 1, 0b11
    network = world.states[PARTITION].network
    request = network.requests[1][0]
    request.leader, request.leader_epoch, request.to = 1, 5, 0b01
    older = Sent("LeaderAndIsr", 1, 0, {"epoch": 1, "p": 0, "leader": 0, "leader_epoch": 3, "isr": 3})
    with world.arriving(older, 0):
        assert world.take(PARTITION, "leader_and_isr", b=0, epoch=1, p=0)
    replica = world.record(0)[1].replicas[0]
    assert (replica.leader, replica.leader_epoch) == (0, 3)
    kept = world.states[PARTITION].network.requests[1][0]
    assert (kept.leader, kept.leader_epoch, kept.to) == (1, 5, 0b01)
    newest = Sent("LeaderAndIsr", 1, 0, {"epoch": 1, "p": 0, "leader": 1, "leader_epoch": 5, "isr": 2})
    with world.arriving(newest, 0):
        assert world.take(PARTITION, "leader_and_isr", b=0, epoch=1, p=0)
    assert world.record(0)[1].replicas[0].leader_epoch == 5
    assert world.states[PARTITION].network.requests[1][0].to == 0


def test_a_world_begins_with_nobody_there():
    world = World(observed_cluster("fenced"), SIZES, 9)
    assert world.states[PARTITION].zk.registered == 0 and not world.states[PARTITION].brokers[0].up
    assert list(world.broken(PARTITION)) == list(world.broken(ELECTION)) == []


@pytest.mark.parametrize("delivery, answer", [(ANSWERED, "EXPIRED"), (LOST_DROPPED, "LOST")])
def test_a_request_may_be_lost_with_the_connection_of_a_session_that_is_over(delivery, answer):
    world = World(observed_cluster("fenced"), SIZES, 8)
    for name in ("start", "register_broker", "maybe_resign", "look_for_controller", "learn_epoch"):
        assert world.take(ELECTION, name, b=0)
    world.take(ELECTION, "expire_session", b=0)
    outcome = world.take(ELECTION, "found_epoch", b=0, delivery=delivery)
    assert (outcome.answer, outcome.broken) == (answer, ())
    assert world.states[ELECTION].zk.epoch < 1


class Calm(random.Random):
    """Every request is answered."""

    def choices(self, population, weights=None, **more):
        return [ANSWERED]


def go_on(world, b, until):
    """Let a broker do what it may, until it takes a step of this name; what came of that."""
    for _ in range(100):
        for part, name, arguments in choices(world, b):
            if outcome := take(world, b, part, name, arguments, Calm()):
                if name == until:
                    return outcome
                break
    raise AssertionError(f"no {until}")


@pytest.fixture
def ruled():
    """A world in which broker 0 has just led the first partition, and broker 1 is registered."""
    world = World(observed_cluster("fenced"), SIZES, 9)
    go_on(world, 1, "register_broker")
    go_on(world, 0, "create_first_state")
    return world


def test_a_request_goes_to_who_has_registered_again_unseen_and_is_for_the_former_registration(ruled):
    ruled.take(ELECTION, "expire_session", b=1)
    ruled.take(PARTITION, "expire_session", b=1)
    for name in ("notice_expiry", "maybe_resign", "look_for_controller", "reopen", "register_broker"):
        take(ruled, 1, ELECTION, name, {}, Calm())
    assert ruled.known.registrations == [1, 2]
    sent = go_on(ruled, 0, "create_first_state").sent
    assert {(each.receiver, each.registration) for each in sent} == {(0, 1), (1, 1)}
    assert ruled.states[PARTITION].network.requests[1][1].to == 0b01


def test_no_request_goes_to_who_was_gone_when_the_brokers_were_listed(ruled):
    ruled.take(ELECTION, "expire_session", b=1)
    ruled.take(PARTITION, "expire_session", b=1)
    assert ruled.take(PARTITION, "broker_change", b=0) is None
    ruled.states[PARTITION].brokers[0].controller.doing = WAITING
    assert ruled.take(PARTITION, "broker_change", b=0).answer == "OK"
    ruled.states[PARTITION].brokers[0].controller.doing = ELECTING
    sent = go_on(ruled, 0, "create_first_state").sent
    assert [(each.kind, each.receiver) for each in sent] == [("LeaderAndIsr", 0), ("UpdateMetadata", 0)]


def test_a_new_controller_leaves_the_notifications_that_came_behind_its_read(ruled):
    zk = ruled.states[PARTITION].zk
    zk.log_dir_events, zk.log_dir_read = 0b11, 0b10
    ruled.keep_notifications(0b01)
    assert (zk.log_dir_events, zk.log_dir_read) == (0b01, 0)


def test_a_zombie_whose_write_is_refused_writes_nothing():
    """Where nothing checks the epoch, the version of a state does: a refused write breaks no property of writes."""
    former = World(observed_cluster("legacy"), SIZES, 9)
    election = former.states[ELECTION]
    zombie = election.brokers[0]
    zombie.session = zombie.active = election.zk.clients[0].session = 1
    zombie.ruling, zombie.doing, zombie.epoch, election.zk.epoch = FULL, IDLE, 1, 2
    for name, answer, refused, broken in (
        ("write_leader", BADVERSION, False, False),
        ("isr_notification", OK, True, False),
        ("write_leader", OK, False, True),
    ):
        ((name, _),) = partners_in_election(
            former.cluster.partition.transition(name), answer, former.record(0)[1], refused
        )
        outcome = former.take(ELECTION, name, b=0)
        assert outcome.answer == "OK"
        assert ("no_stale_write" in {prop.name for prop in former.broken(ELECTION)}) == broken


def test_a_notification_of_an_isr_that_is_there_still_is_taken_by_itself():
    former = World(observed_cluster("legacy"), SIZES, 9)
    assert not former.enabled(PARTITION, "isr_notification", b=0, p=1)
    controller = former.states[PARTITION].brokers[0].controller
    controller.epoch, controller.doing = 1, WAITING
    controller.partitions[1].state = controller.partitions[1].leader_epoch = 1
    assert not former.enabled(PARTITION, "isr_notification", b=0, p=1)
    former.leave_isr_change(1)
    assert former.enabled(PARTITION, "isr_notification", b=0, p=1)


@pytest.mark.parametrize(
    "fired, controller, heard, found",
    [
        (DELETED, 0, CHANGED, CHANGED),
        (DELETED, 0, DELETED, DELETED),
        (DELETED, -1, CHANGED, DELETED),
        (CHANGED, 0, DELETED, CHANGED),
        (NOTHING, 0, CHANGED, NOTHING),
    ],
)
def test_what_a_client_hears_that_reconnects_after_a_controller_has_gone_and_one_has_come(
    ruled, fired, controller, heard, found
):
    zk = ruled.states[ELECTION].zk
    zk.controller, zk.clients[1].fired = controller, fired
    with ruled.hearing(1, heard, NOTHING):
        assert zk.clients[1].fired == found


def test_an_event_that_came_before_another_is_handled_alone(ruled):
    client = ruled.states[ELECTION].zk.clients[1]
    client.fired = DELETED
    with ruled.hearing(1, CHANGED, DELETED):
        assert client.fired == CHANGED
        client.fired = NOTHING
    assert client.fired == DELETED


def test_a_controller_confirms_what_it_has_cached_unless_the_leader_knows_a_later_version(ruled):
    state = ruled.states[PARTITION]
    state.brokers[0].controller.doing = WAITING
    cached = state.brokers[0].controller.partitions[0]
    state.zk.partitions[0].readers = 0
    fields = {"state": 1, "epoch": cached.leader_epoch, "isr": cached.isr}
    for version, confirmed in ((1, False), (0, True)):
        content = {"p": 0, "leader_epoch": cached.leader_epoch, "isr": cached.isr, "version": version, "fields": fields}
        with ruled.arriving(Sent("AlterPartition", 0, 0, content), 0):
            assert ruled.enabled(PARTITION, "confirm_isr", b=0, p=0, sender=0) is confirmed


@pytest.mark.parametrize("newest", [True, False])
def test_a_reassignment_goes_on_when_a_controller_confirms_an_isr_with_its_target(newest):
    """Up to format 8 nothing followed when an ISR was there already."""
    world = World(observed_cluster("fenced", is_newest=newest), SIZES, 9)
    go_on(world, 1, "register_broker")
    go_on(world, 0, "create_first_state")
    state = world.states[PARTITION]
    controller = state.brokers[0].controller
    controller.doing = WAITING
    cached = controller.partitions[0]
    cached.isr, cached.adding = with_member(cached.isr, 1), with_member(0, 1)
    fields = {"state": 1, "epoch": cached.leader_epoch, "isr": cached.isr}
    content = {"p": 0, "leader_epoch": cached.leader_epoch, "isr": cached.isr, "version": 0, "fields": fields}
    with world.arriving(Sent("AlterPartition", 0, 0, content), 0):
        assert world.take(PARTITION, "confirm_isr", b=0, p=0, sender=0)
    assert (controller.doing == CHECKING) is newest


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_process_is_stopped_that_does_not_know_that_its_session_is_over(variant):
    world = World(observed_cluster(variant), SIZES, 8)
    world.take(ELECTION, "start", b=0)
    world.take(ELECTION, "expire_session", b=0)
    assert world.take(ELECTION, "stop", b=0).answer == "OK"
    assert world.record(0)[0].session == DOWN
