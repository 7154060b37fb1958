"""The same requests in a multi that checks the version of /controller_epoch: also FENCED (2.1 and later)."""

from kafkaproof.spec.kafka.zookeeper import FENCED
from kafkaproof.spec.partition.zookeeper import session_open
from kafkaproof.spec.topics.tree import (
    delete_config,
    delete_marker,
    delete_request,
    delete_state,
    delete_topic,
    set_topic,
)
from kafkaproof.spec.topics.zookeeper import create_state, disconnect, set_isr, set_state, shrink


def is_fenced(zk, b, epoch):
    """Whether the check fails: the reign of `b` is over."""
    return session_open(zk, b) and zk.epoch != epoch


def checked_create_state(zk, b, p, epoch, leader, isr):
    """multi[check, create state]: as `create_state`, or FENCED."""
    if is_fenced(zk, b, epoch):
        disconnect(zk, b)
        return FENCED
    return create_state(zk, b, p, epoch, leader, isr)


def checked_set_state(zk, b, p, epoch, leader, isr):
    """getData, then multi[check, setData state]: as `set_state`, or FENCED."""
    if is_fenced(zk, b, epoch):
        disconnect(zk, b)
        return FENCED
    return set_state(zk, b, p, epoch, leader, isr)


def checked_shrink(zk, b, p, epoch, r):
    """getData, then multi[check, setData state]: as `shrink`, or FENCED."""
    if is_fenced(zk, b, epoch):
        disconnect(zk, b)
        return FENCED
    return shrink(zk, b, p, epoch, r)


def checked_set_isr(zk, b, p, epoch, isr, leader_epoch):
    """multi[check, setData state]: as `set_isr`, or FENCED."""
    if is_fenced(zk, b, epoch):
        disconnect(zk, b)
        return FENCED
    return set_isr(zk, b, p, epoch, isr, leader_epoch)


def checked_set_topic(zk, b, p, context, epoch):
    """multi[check, setData topic]: as `set_topic`, or FENCED."""
    if is_fenced(zk, b, epoch):
        disconnect(zk, b)
        return FENCED
    return set_topic(zk, b, p, context, epoch)


def checked_delete_state(zk, b, p, epoch):
    """multi[check, delete state]: as `delete_state`, or FENCED."""
    if is_fenced(zk, b, epoch):
        disconnect(zk, b)
        return FENCED
    return delete_state(zk, b, p, epoch)


def checked_delete_topic(zk, b, epoch):
    """multi[check, delete topic]: as `delete_topic`, or FENCED."""
    if is_fenced(zk, b, epoch):
        disconnect(zk, b)
        return FENCED
    return delete_topic(zk, b, epoch)


def checked_delete_config(zk, b, epoch):
    """multi[check, delete configuration]: as `delete_config`, or FENCED."""
    if is_fenced(zk, b, epoch):
        disconnect(zk, b)
        return FENCED
    return delete_config(zk, b, epoch)


def checked_delete_marker(zk, b, epoch):
    """multi[check, delete marker]: as `delete_marker`, or FENCED."""
    if is_fenced(zk, b, epoch):
        disconnect(zk, b)
        return FENCED
    return delete_marker(zk, b, epoch)


def checked_delete_request(zk, b, epoch):
    """multi[check, delete /admin/reassign_partitions]: as `delete_request`, or FENCED."""
    if is_fenced(zk, b, epoch):
        disconnect(zk, b)
        return FENCED
    return delete_request(zk, b, epoch)
