"""The same upgrade as partitions see it: the writes of 2.1 are checked against the epoch, those of 1.1 to 2.0 are not.

All else is as in `leader_zk`, in both versions: leaders write the ISR (until the inter-broker protocol is 2.7), and
there are no broker epochs (2.2). Whether a controlled shutdown touches a topic that is queued for deletion is that of
the old version in both.
"""

from kafkaproof.spec.election.history.versions import OLD_BROKERS, is_old
from kafkaproof.spec.partition import zookeeper
from kafkaproof.spec.partition.history import leader_zk
from kafkaproof.spec.partition.history.leader_zk import (
    checked_take_notification,
    deletes_any_controller,
    take_notification,
)
from kafkaproof.spec.partition.model import scope
from kafkaproof.spec.partition.properties import goals
from kafkaproof.spec.partition.properties.safety import WITHOUT_BROKER_EPOCHS
from kafkaproof.spec.partition.releases import model as partition
from kafkaproof.spec.partition.releases import rules
from kafkaproof.spec.partition.zookeeper import (
    checked_create_state,
    checked_delete_request,
    checked_set_state,
    create_state,
    delete_request,
    deletes_own_controller,
    set_state,
)


def create_state_by_version(zk, b, p, epoch, leader, isr, delivery):
    """create a partition's state: as `create_state`, or checked."""
    if is_old(b):
        return create_state(zk, b, p, epoch, leader, isr, delivery)
    return checked_create_state(zk, b, p, epoch, leader, isr, delivery)


def set_state_by_version(zk, b, p, epoch, leader, isr, leader_epoch, delivery):
    """setData of a partition's state: as `set_state`, or checked."""
    if is_old(b):
        return set_state(zk, b, p, epoch, leader, isr, leader_epoch, delivery)
    return checked_set_state(zk, b, p, epoch, leader, isr, leader_epoch, delivery)


def delete_request_by_version(zk, b, request, epoch, delivery):
    """delete a request of an operator: as `delete_request`, or checked."""
    if is_old(b):
        return delete_request(zk, b, request, epoch, delivery)
    return checked_delete_request(zk, b, request, epoch, delivery)


def take_notification_by_version(zk, b, p, epoch, reader):
    """getData of a state and delete of the notification: as `take_notification`, or checked."""
    if is_old(b):
        return take_notification(zk, b, p, epoch, reader)
    return checked_take_notification(zk, b, p, epoch, reader)


def deletes_controller_by_version(zk, b):
    """Whether a controller that gives up deletes /controller: whoever owns it, or only where it is its own."""
    return deletes_any_controller(zk, b) if is_old(b) else deletes_own_controller(zk, b)


ROLLING = partition.model(
    "rolling",
    None,
    "No release, but an upgrade: one broker of 1.1 to 2.0 is left among those of 2.1. Deposed, it writes states that "
    "name leaders whom nobody obeys, and its upgraded successor does not know.",
    partition.COMMON + partition.LEADER_ZK,
    partition.moving_as_formerly(WITHOUT_BROKER_EPOCHS) + goals.GOALS,
    scope(brokers=3),
    partition.TWO_FAULTS,
    {
        scope(): partition.ONE_FAULT,
        scope(brokers=3): partition.ONE_FAULT,
        scope(faults=2): partition.ONE_FAULT
        | {
            "queued_left_alone": 9,
            "no_stale_delete": 10,
            "led_if_possible": 14,
            "online_has_leader": 19,
            "reassignment_dealt_with": 14,
            "may_go": 15,
            "may_go_when_followed": 15,
        },
    },
).rebound(
    rules.UNFENCED
    | {
        zookeeper.checked_create_state: create_state_by_version,
        zookeeper.checked_set_state: set_state_by_version,
        zookeeper.checked_delete_request: delete_request_by_version,
        zookeeper.deletes_own_controller: deletes_controller_by_version,
        leader_zk.take_notification: take_notification_by_version,
    },
    interchangeable={"brokers": (OLD_BROKERS,)},
)
MODELS = (ROLLING,)
