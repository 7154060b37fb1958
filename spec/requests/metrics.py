"""Metrics of the system requests: control requests on their way, waiting, refused."""

from kafkaproof.spec.metrics.controllers import ANSWERS, RULING
from kafkaproof.spec.metrics.metric import Measure
from kafkaproof.spec.metrics.names import (
    CONTROL_QUEUE,
    EVENT_QUEUE,
    LEADER_ELECTIONS,
    LEADERS,
    OFFLINE_LOG_DIRS,
    OFFLINE_PARTITIONS,
    REFUSED_REQUESTS,
    REQUEST_QUEUE,
    SESSION_EXPIRIES,
    TO_DELETE_REPORTED,
    TOPICS_TO_DELETE,
)
from kafkaproof.spec.metrics.rules import is_election, is_led
from kafkaproof.spec.requests.context import NOT_DELETED
from kafkaproof.spec.requests.network import FAILED, HEALED


def offline_partitions(s):
    """Whether the partition has no registered leader, unless the topic is queued for deletion."""
    return 0 if is_led(s.zk.leader, s.zk.registered) or s.zk.deleting else 1


def leaders(s):
    """How many brokers believe that they lead the partition."""
    count = 0
    for b in range(len(s.brokers)):
        if s.brokers[b].replica.leader == b:
            count += 1
    return count


def control_queue(s):
    """How many batches wait in the channels of all terms.

    Kafka: ControllerChannelManager."TotalQueueSize", 0.11 to 3.9.
    """
    count = 0
    for epoch in range(len(s.network.channels)):
        for r in range(len(s.brokers)):
            count += s.network.channels[epoch][r].queue.length
    return count


def request_queue(s):
    """How many requests wait at brokers: produce requests, and control requests behind them.

    Kafka: RequestChannel."RequestQueueSize", 0.8 to 3.9.
    """
    count = 0
    for broker in s.brokers:
        if broker.produce:
            count += 1
    for epoch in range(len(s.network.channels)):
        for r in range(len(s.brokers)):
            count += s.network.channels[epoch][r].queue.slots[0].waits + s.network.channels[epoch][r].late.waits
    return count


def event_queue(s):
    """How many answers to LeaderAndIsr wait for controllers, counting only those about a log directory."""
    count = 0
    for b in range(len(s.network.answers)):
        for r in range(len(s.network.answers)):
            if s.network.answers[b][r] == FAILED or s.network.answers[b][r] == HEALED:
                count += 1
    return count


def topics_to_delete(s):
    """Whether /admin/delete_topics names the topic."""
    return 1 if s.zk.deleting else 0


def topics_to_delete_reported(s):
    """Whether a controller has the topic queued for deletion."""
    for broker in s.brokers:
        if broker.controller.deletion != NOT_DELETED:
            return 1
    return 0


def offline_log_dirs(s):
    """How many log directories have failed."""
    count = 0
    for broker in s.brokers:
        if broker.dir_failed:
            count += 1
    return count


def leader_elections(before, after):
    """Whether a step wrote another leader."""
    return 1 if is_election(before.zk.leader, after.zk.leader) else 0


HANDLERS = ("leader_and_isr", "update_metadata", "stop_replica")
STALE = ("STALE_CONTROLLER_EPOCH", "STALE_BROKER_EPOCH", "FENCED_LEADER_EPOCH")
METRICS = (
    *RULING,
    Measure(OFFLINE_PARTITIONS, offline_partitions),
    Measure(LEADERS, leaders),
    Measure(CONTROL_QUEUE, control_queue),
    Measure(REQUEST_QUEUE, request_queue),
    Measure(EVENT_QUEUE, event_queue),
    Measure(TOPICS_TO_DELETE, topics_to_delete),
    Measure(TO_DELETE_REPORTED, topics_to_delete_reported),
    Measure(OFFLINE_LOG_DIRS, offline_log_dirs),
    Measure(LEADER_ELECTIONS, leader_elections),
    Measure(REFUSED_REQUESTS, of=HANDLERS, answers=STALE),
    *ANSWERS,
    Measure(SESSION_EXPIRIES, of=("expire_session",)),
)
