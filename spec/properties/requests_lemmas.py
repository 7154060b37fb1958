"""Lemmas of control requests: what a process knows of its registration, its replicas, and controller epochs."""

from spec.language.sets import contains
from spec.partition.strategies import replicas_of
from spec.requests.context import NO_EPOCH, Broker


def process_is_registration(s, b: Broker):
    """A process knows its last registration, and only processes are registered and rule."""
    broker = s.brokers[b]
    if broker.up:
        return broker.epoch == s.zk.epochs[b] and broker.epoch > 0
    return not contains(s.zk.registered, b) and broker.controller.epoch == 0 and broker.replica.leader_epoch == NO_EPOCH


def assignment_is_one(s, a: Broker, b: Broker):
    """Every broker knows the same replicas."""
    return replicas_of(s.brokers[a].assignment) == replicas_of(s.brokers[b].assignment)


def seen_is_applied(s, b: Broker):
    """The controller epoch that was last obeyed is the highest seen."""
    return s.brokers[b].ghosts.applied == s.brokers[b].seen_epoch


CURRENT = (process_is_registration, assignment_is_one, seen_is_applied)
