"""Requests to ZooKeeper that only older versions make; the others are in `kafkaproof.spec.kafka.zookeeper`."""

from kafkaproof.spec.kafka.zookeeper import (
    BADVERSION,
    CHANGED,
    EXPIRED,
    LOST_DROPPED,
    MINE,
    NODEEXISTS,
    NONODE,
    OK,
    delete_notification,
    outcome,
    owns_controller,
    put_controller,
    put_epoch,
    session_open,
    set_state,
)
from kafkaproof.spec.language.domains import NOBODY


def reopen_session(zk, b):
    """createSession by a client that then treats all its watches as fired: OK."""
    zk.clients[b].session = 1
    zk.clients[b].watch = 0
    zk.clients[b].fired = CHANGED
    return OK


def read_owner(zk, b):
    """getData of /controller for its owner: MINE (`b`'s current session), OK, NONODE or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    if zk.controller == NOBODY:
        return NONODE
    return MINE if owns_controller(zk, b) else OK


def set_epoch(zk, b, value, version, delivery):
    """setData /controller_epoch if it has `version`: OK, BADVERSION, NONODE, EXPIRED or LOST."""
    if not session_open(zk, b):
        return EXPIRED
    answer = OK
    if zk.epoch < 0:
        answer = NONODE
    elif zk.epoch_version != version:
        answer = BADVERSION
    if answer == OK and delivery != LOST_DROPPED:
        put_epoch(zk, value)
    return outcome(zk, answer, delivery)


def create_controller(zk, b, delivery):
    """create /controller, ephemeral: OK, NODEEXISTS, EXPIRED or LOST."""
    if not session_open(zk, b):
        return EXPIRED
    answer = NODEEXISTS if zk.controller != NOBODY else OK
    if answer == OK and delivery != LOST_DROPPED:
        put_controller(zk, b)
    return outcome(zk, answer, delivery)


def unchecked_set_state(zk, b, epoch, version, delivery):
    """setData of the partition state on the version that was read, without the check of the epoch: OK, BADVERSION,
    EXPIRED or LOST.
    """
    return set_state(zk, b, epoch, delivery)


def unchecked_delete_notification(zk, b, epoch, version, delivery):
    """delete a notification, without the check of the epoch: OK, EXPIRED or LOST."""
    return delete_notification(zk, b, epoch, delivery)
