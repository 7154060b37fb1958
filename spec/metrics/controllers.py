"""Metrics of controllers, shared by election, partition, topics and requests."""

from kafkaproof.spec.kafka.zookeeper import Answer
from kafkaproof.spec.metrics.metric import Measure
from kafkaproof.spec.metrics.names import (
    ACTIVE_CONTROLLERS,
    BROKERS,
    CONTROLLER_ELECTIONS,
    CONTROLLER_EPOCH,
    FENCED_WRITES,
    STALE_VERSIONS,
    ZOOKEEPER_REQUESTS,
)
from kafkaproof.spec.metrics.rules import size


def controller_epoch(s):
    """The value of /controller_epoch, 0 if it does not exist."""
    return max(s.zk.epoch, 0)


def controller_elections(before, after):
    """By how much a step raised /controller_epoch."""
    return max(after.zk.epoch, 0) - max(before.zk.epoch, 0)


def active_controllers(s):
    """The number of brokers that act as controller."""
    count = 0
    for broker in s.brokers:
        if broker.controller.epoch > 0:
            count += 1
    return count


def registered_brokers(s):
    """The number of registered brokers."""
    return size(s.zk.registered, len(s.brokers))


EPOCHS = (Measure(CONTROLLER_EPOCH, controller_epoch), Measure(CONTROLLER_ELECTIONS, controller_elections))
ANSWERS = (
    Measure(FENCED_WRITES, answers=("FENCED",)),
    Measure(STALE_VERSIONS, answers=("BADVERSION",)),
    Measure(ZOOKEEPER_REQUESTS, answers=Answer.names),
)
RULING = (Measure(ACTIVE_CONTROLLERS, active_controllers), *EPOCHS, Measure(BROKERS, registered_brokers))
