"""The two systems side by side: partners follow wherever steps lead, and messages arrive with what they said."""

import random

import pytest

from impl.broker import ELECTION_STEPS, EVENT_STEPS
from spec.processes import (
    ELECTION, PARTITION, VARIANTS, may_ask, observed_cluster, partners_in_election, partners_in_partition,
)
from spec.controller.belief import CLEANING, DOWN, EXPIRED_SESSION, IDLE
from spec.partition.context import IDLE as WAITING
from spec.zookeeper import ANSWERED, LOST_APPLIED, LOST_DROPPED, Answer
from traces.processes.messages import Sent
from traces.processes.world import World

SIZES = {"brokers": 2, "replicas": 2, "partitions": 2, "min_isr": 1}
NEW_EVENTS = (
    "broker_change", "rebalance", "preferred_election", "topic_deletion", "log_dir_notification", "notify",
)


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
    yield from ((ELECTION, name, {}) for name in ELECTION_STEPS if not idle)
    if candidate.doing == CLEANING:
        yield ELECTION, "clean", {}
    if may_ask(candidate, "load_brokers") or idle:
        for name, wanted in EVENT_STEPS.items() if event else ():
            yield from ((PARTITION, name, arguments) for arguments in every(wanted))
    if idle and not event:
        yield from ((ELECTION, name, {}) for name in ("reopen", "handle_change"))
        if may_ask(candidate, "") and candidate.session != EXPIRED_SESSION:
            yield from ((PARTITION, name, {}) for name in NEW_EVENTS)


def every(wanted):
    found = [{}]
    for name in wanted:
        found = [each | {name: value} for each in found for value in range(2)]
    return found


def take(world, b, part, name, arguments, chance):
    """Take a step with its partner; whether it was enabled."""
    if not world.has(part, name):
        return False
    fate = chance.choices((ANSWERED, LOST_APPLIED, LOST_DROPPED), (12, 1, 1))[0]
    outcome = world.take(part, name, b=b, fate=fate, **arguments)
    if outcome is None:
        return False
    answer = None if outcome.answer is None else Answer.names.index(outcome.answer)
    if part == ELECTION:
        found, other = partners_in_partition(name, answer, world.record(b)[1]), PARTITION
    else:
        found, other = partners_in_election(name, answer), ELECTION
    fate = fate if outcome.answer == "LOST" else ANSWERED
    for (partner, code), taken in zip(found, world.follow(other, [n for n, _ in found], b, fate), strict=True):
        assert taken, f"after {name} -> {outcome.answer} broker {b} cannot take {partner} in {other}"
        assert other == PARTITION or taken.answer == Answer.names[code], (name, partner, taken.answer)
    return True


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
    world.states[PARTITION].brokers[0].up = 1
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


@pytest.mark.parametrize("fate, answer", [(ANSWERED, "EXPIRED"), (LOST_DROPPED, "LOST")])
def test_a_request_may_be_lost_with_the_connection_of_a_session_that_is_over(fate, answer):
    world = World(observed_cluster("fenced"), SIZES, 8)
    for name in ("start", "register_broker", "maybe_resign", "look_for_controller", "learn_epoch"):
        assert world.take(ELECTION, name, b=0)
    world.take(ELECTION, "expire_session", b=0)
    assert world.take(ELECTION, "found_epoch", b=0, fate=fate).answer == answer
    assert world.states[ELECTION].zk.epoch < 1
