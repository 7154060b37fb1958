"""AlterPartition: which error a controller answers with, in the order of Kafka's checks, and what the leader makes of it."""

from types import SimpleNamespace

import pytest

from kafkaproof.spec.kafka.state_machines import ONLINE_PARTITION
from kafkaproof.spec.language.sets import only, with_member
from kafkaproof.spec.partition import verdicts
from kafkaproof.spec.partition.context import IDLE, NO_EPOCH
from kafkaproof.spec.partition.verdicts import (
    ASK_AGAIN,
    FENCED_LEADER_EPOCH,
    INELIGIBLE_REPLICA,
    INVALID_UPDATE_VERSION,
    NEWER,
    NONE,
    NOT_CONTROLLER,
    OLDER,
    SAME,
    STALE_BROKER_EPOCH,
    TAKE,
    TAKE_BACK,
    UNKNOWN_TOPIC_OR_PARTITION,
    WAIT,
    AlterError,
    alter_error,
    compared,
    reaction,
)

LEADER, FOLLOWER, DEAD = range(3)
ALONE, BOTH = only(LEADER), with_member(only(LEADER), FOLLOWER)
WITH_DEAD = with_member(ALONE, DEAD)


def error(epoch=1, sender=LEADER, cached=(ALONE, 4), leader_epoch=4, isr=BOTH, version=SAME):
    """The error of a controller with brokers 0 and 1 alive, which remembers an ISR and a leader epoch."""
    controller = SimpleNamespace(epoch=epoch, doing=IDLE, live=BOTH, leaving=0)
    partition = SimpleNamespace(leader=LEADER, isr=cached[0], leader_epoch=cached[1], state=ONLINE_PARTITION)
    return alter_error(controller, partition, sender, leader_epoch, isr, version)


@pytest.mark.parametrize(
    ("found", "asked"),
    [
        (NONE, {}),
        (NOT_CONTROLLER, {"epoch": 0, "sender": DEAD}),
        (STALE_BROKER_EPOCH, {"sender": DEAD, "cached": (0, NO_EPOCH)}),
        (UNKNOWN_TOPIC_OR_PARTITION, {"cached": (0, NO_EPOCH), "leader_epoch": 5}),
        (NOT_CONTROLLER, {"leader_epoch": 5, "version": OLDER}),
        (NOT_CONTROLLER, {"version": NEWER, "isr": ALONE}),
        (NOT_CONTROLLER, {"version": NEWER, "leader_epoch": 3}),
        (FENCED_LEADER_EPOCH, {"leader_epoch": 3, "isr": ALONE}),
        (NONE, {"isr": ALONE, "version": OLDER}),
        (NONE, {"cached": (WITH_DEAD, 4), "isr": WITH_DEAD, "version": OLDER}),
        (INVALID_UPDATE_VERSION, {"isr": WITH_DEAD, "version": OLDER}),
        (INELIGIBLE_REPLICA, {"isr": WITH_DEAD}),
    ],
)
def test_the_first_check_that_fails_gives_the_error(found, asked):
    assert AlterError.names[error(**asked)] == AlterError.names[found]


def test_what_is_leaving_is_not_eligible():
    controller = SimpleNamespace(live=BOTH, leaving=only(FOLLOWER))
    assert not verdicts.are_eligible(controller, BOTH)


def test_a_leader_asks_again_takes_back_or_waits():
    by_reaction = {TAKE: {"NONE"}, ASK_AGAIN: {"NOT_CONTROLLER", "STALE_BROKER_EPOCH"}}
    by_reaction[TAKE_BACK] = {"INELIGIBLE_REPLICA", "OPERATION_NOT_ATTEMPTED"}
    by_reaction[WAIT] = set(AlterError.names) - set().union(*by_reaction.values())
    for wanted, errors in by_reaction.items():
        assert {name for code, name in enumerate(AlterError.names) if reaction(code) == wanted} == errors


def test_versions_are_compared_as_numbers():
    assert [compared(version, 3) for version in (2, 3, 4)] == [OLDER, SAME, NEWER]
