"""Metrics of the system partition: one topic, whose assignment nobody changes."""

from kafkaproof.spec.kafka.state_machines import OFFLINE_PARTITION
from kafkaproof.spec.language.sets import contains, is_empty
from kafkaproof.spec.metrics.controllers import ANSWERS, RULING
from kafkaproof.spec.metrics.metric import Measure
from kafkaproof.spec.metrics.names import (
    EVENT_QUEUE,
    IMBALANCE,
    IMBALANCE_REPORTED,
    LEADERS,
    OFFLINE_LOG_DIRS,
    OFFLINE_PARTITIONS,
    OFFLINE_REPORTED,
    PARTITIONS,
    PARTITIONS_REPORTED,
    REASSIGNING,
    SESSION_EXPIRIES,
    TO_DELETE_REPORTED,
    TOPICS_TO_DELETE,
    UNDER_REPLICATED,
)
from kafkaproof.spec.metrics.rules import is_imbalanced, is_under_replicated
from kafkaproof.spec.metrics.states import STEPS, exists, is_offline
from kafkaproof.spec.partition.context import is_known, is_queued
from kafkaproof.spec.partition.zookeeper import assigned, listed

NOBODY_ADDED = 0


def partitions(s):
    """How many partitions the topic has."""
    return len(s.zk.partitions)


def partitions_reported(s):
    """How many partitions a controller knows.

    Kafka: KafkaController."GlobalPartitionCount", 1.0 to 3.9.
    """
    most = 0
    for broker in s.brokers:
        count = 0
        for partition in broker.controller.partitions:
            if partition.assignment.length > 0:
                count += 1
        most = max(most, count)
    return most


def offline_partitions(s):
    """How many partitions have no registered leader, unless the topic is queued for deletion."""
    count = 0
    for p in range(len(s.zk.partitions)):
        if is_offline(s, p) and not contains(s.zk.deleting, p):
            count += 1
    return count


def offline_partitions_reported(s):
    """How many partitions are Offline for a controller, unless it knows that the topic is queued for deletion.

    Kafka: KafkaController.offlinePartitionCount, 1.1 to 3.9; ControllerContext.offlinePartitionCount, 2.3 to 3.9.
    """
    most = 0
    for broker in s.brokers:
        count = 0
        for p in range(len(broker.controller.partitions)):
            offline = broker.controller.partitions[p].state == OFFLINE_PARTITION
            if offline and not is_queued(broker.controller, p):
                count += 1
        most = max(most, count)
    return most


def under_replicated(s):
    """How many partitions have a registered leader and fewer replicas in the ISR than assigned."""
    count = 0
    for p in range(len(s.zk.partitions)):
        state = s.zk.partitions[p]
        if exists(state) and not is_offline(s, p):
            if is_under_replicated(state.isr, assigned(s.zk, p), NOBODY_ADDED, len(s.brokers)):
                count += 1
    return count


def preferred_imbalance(s):
    """How many partitions are led by a replica other than the first, unless the topic is queued for deletion."""
    count = 0
    for p in range(len(s.zk.partitions)):
        state = s.zk.partitions[p]
        if exists(state) and not contains(s.zk.deleting, p):
            if is_imbalanced(s.zk.assignments[p].slots[0], state.leader, state.isr, NOBODY_ADDED):
                count += 1
    return count


def preferred_imbalance_reported(s):
    """How many partitions are led by a replica other than the first, for a controller.

    Kafka: KafkaController.preferredReplicaImbalanceCount, 1.1 to 3.9;
           ControllerContext.preferredReplicaImbalanceCount, 2.7 to 3.9.
    """
    most = 0
    for broker in s.brokers:
        count = 0
        for p in range(len(broker.controller.partitions)):
            partition = broker.controller.partitions[p]
            if is_known(partition) and not is_queued(broker.controller, p):
                if is_imbalanced(partition.assignment.slots[0], partition.leader, partition.isr, NOBODY_ADDED):
                    count += 1
        most = max(most, count)
    return most


def topics_to_delete(s):
    """Whether /admin/delete_topics names the topic."""
    return 0 if is_empty(s.zk.deleting) else 1


def topics_to_delete_reported(s):
    """Whether a controller has the topic queued for deletion."""
    for broker in s.brokers:
        if not is_empty(broker.controller.deleting):
            return 1
    return 0


def reassigning(s):
    """Whether /admin/reassign_partitions lists a partition."""
    return 0 if is_empty(listed(s.zk)) else 1


def leaders(s):
    """How many brokers believe that they lead, over all partitions.

    Kafka: ReplicaManager."LeaderCount", 0.8 to 3.9; leaderPartitionsIterator, 1.0 to 3.9.
    """
    count = 0
    for b in range(len(s.brokers)):
        for replica in s.brokers[b].replicas:
            if replica.leader == b:
                count += 1
    return count


def offline_log_dirs(s):
    """How many replicas have lost their log directory."""
    count = 0
    for broker in s.brokers:
        for replica in broker.replicas:
            if replica.failed:
                count += 1
    return count


def event_queue(s):
    """How many storage errors wait for a controller."""
    count = 0
    for broker in s.brokers:
        for r in range(len(broker.errors)):
            if not is_empty(broker.errors[r]):
                count += 1
    return count


METRICS = (
    *RULING,
    Measure(PARTITIONS, partitions),
    Measure(PARTITIONS_REPORTED, partitions_reported),
    Measure(OFFLINE_PARTITIONS, offline_partitions),
    Measure(OFFLINE_REPORTED, offline_partitions_reported),
    Measure(UNDER_REPLICATED, under_replicated),
    Measure(IMBALANCE, preferred_imbalance),
    Measure(IMBALANCE_REPORTED, preferred_imbalance_reported),
    Measure(LEADERS, leaders),
    Measure(TOPICS_TO_DELETE, topics_to_delete),
    Measure(TO_DELETE_REPORTED, topics_to_delete_reported),
    Measure(REASSIGNING, reassigning),
    Measure(OFFLINE_LOG_DIRS, offline_log_dirs),
    Measure(EVENT_QUEUE, event_queue),
    *STEPS,
    *ANSWERS,
    Measure(SESSION_EXPIRIES, of=("expire_session",)),
)
