"""Metrics of the system topics: creation, deletion and reassignment of one topic."""

from kafkaproof.spec.kafka.state_machines import (
    NON_EXISTENT_REPLICA,
    OFFLINE_PARTITION,
    REPLICA_DELETION_INELIGIBLE,
    REPLICA_DELETION_SUCCESSFUL,
)
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.sets import contains, difference, is_empty, union
from kafkaproof.spec.metrics.controllers import ANSWERS, RULING
from kafkaproof.spec.metrics.metric import Measure
from kafkaproof.spec.metrics.names import (
    IMBALANCE,
    INELIGIBLE_REPORTED,
    OFFLINE_PARTITIONS,
    OFFLINE_REPORTED,
    PARTITIONS,
    PARTITIONS_REPORTED,
    REASSIGNING,
    REPLICAS_INELIGIBLE,
    REPLICAS_TO_DELETE,
    SESSION_EXPIRIES,
    TO_DELETE_REPORTED,
    TOPICS,
    TOPICS_INELIGIBLE,
    TOPICS_REPORTED,
    TOPICS_TO_DELETE,
    UNDER_REPLICATED,
)
from kafkaproof.spec.metrics.rules import is_imbalanced, is_under_replicated
from kafkaproof.spec.metrics.states import STEPS, exists, is_offline
from kafkaproof.spec.topics.context import is_present, members
from kafkaproof.spec.topics.zookeeper import request_listed


def topics(s):
    """Whether the topic exists."""
    return 1 if s.zk.topic > 0 else 0


def topics_reported(s):
    """Whether a controller knows the topic."""
    for broker in s.brokers:
        if broker.controller.topic > 0:
            return 1
    return 0


def partitions(s):
    """How many partitions the topic znode has."""
    count = 0
    for assignment in s.zk.assignments:
        if assignment.length > 0:
            count += 1
    return count


def partitions_reported(s):
    """How many partitions a controller knows."""
    most = 0
    for broker in s.brokers:
        count = 0
        for partition in broker.controller.partitions:
            if is_present(partition):
                count += 1
        most = max(most, count)
    return most


def offline_partitions(s):
    """How many partitions have no registered leader, unless the topic is queued for deletion."""
    count = 0
    for p in range(len(s.zk.partitions)):
        if is_offline(s, p) and not s.zk.marker:
            count += 1
    return count


def offline_partitions_reported(s):
    """How many partitions are Offline for a controller, unless the topic is queued for deletion."""
    most = 0
    for broker in s.brokers:
        count = 0
        for partition in broker.controller.partitions:
            if partition.state == OFFLINE_PARTITION and not broker.controller.deleting:
                count += 1
        most = max(most, count)
    return most


def under_replicated(s):
    """How many partitions have a registered leader, and a smaller ISR than before a reassignment."""
    count = 0
    for p in range(len(s.zk.partitions)):
        assigned = s.zk.assignments[p]
        isr = s.zk.partitions[p].isr
        if exists(s.zk.partitions[p]) and not is_offline(s, p):
            if is_under_replicated(isr, replicas_of(assigned), s.zk.adding[p], len(s.brokers)):
                count += 1
    return count


def preferred_imbalance(s):
    """How many partitions are led by a replica other than the first, unless the topic is queued for deletion."""
    count = 0
    for p in range(len(s.zk.partitions)):
        state = s.zk.partitions[p]
        assigned = s.zk.assignments[p]
        if exists(state) and assigned.length > 0 and not s.zk.marker:
            if is_imbalanced(assigned.slots[0], state.leader, state.isr, s.zk.adding[p]):
                count += 1
    return count


def topics_to_delete(s):
    """Whether /admin/delete_topics names the topic."""
    return 1 if s.zk.marker else 0


def topics_to_delete_reported(s):
    """Whether a controller has the topic in topicsToBeDeleted."""
    for broker in s.brokers:
        if broker.controller.deleting:
            return 1
    return 0


def is_reassigning(s, p):
    """Whether the topic znode, or up to 2.3 /admin/reassign_partitions, says that a partition is being reassigned."""
    return not is_empty(union(s.zk.adding[p], s.zk.removing[p])) or request_listed(s.zk, p)


def reassigning(s):
    """How many partitions are being reassigned."""
    count = 0
    for p in range(len(s.zk.partitions)):
        if is_reassigning(s, p):
            count += 1
    return count


def topics_ineligible(s):
    """Whether the deletion waits for a broker that is not registered, or for a reassignment."""
    for p in range(len(s.zk.partitions)):
        absent = difference(replicas_of(s.zk.assignments[p]), s.zk.registered)
        if s.zk.marker and (not is_empty(absent) or is_reassigning(s, p)):
            return 1
    return 0


def topics_ineligible_reported(s):
    """Whether a controller has the topic in topicsIneligibleForDeletion."""
    for broker in s.brokers:
        if broker.controller.ineligible:
            return 1
    return 0


def is_to_delete(state):
    """Whether a replica in this state is not deleted yet; a NonExistent one is not known any more."""
    return state != REPLICA_DELETION_SUCCESSFUL and state != NON_EXISTENT_REPLICA


def replicas_to_delete_reported(s):
    """How many replicas of a topic queued for deletion a controller knows that are not DeletionSuccessful.

    Kafka: KafkaController.updateMetrics, replicasToDeleteCount, 2.4 to 3.9 (KIP-503).
    """
    most = 0
    for broker in s.brokers:
        count = 0
        for partition in broker.controller.partitions:
            for r in range(len(partition.replicas)):
                if broker.controller.deleting and contains(members(partition), r):
                    if is_to_delete(partition.replicas[r]):
                        count += 1
        most = max(most, count)
    return most


def replicas_ineligible_reported(s):
    """How many replicas of a topic queued for deletion are DeletionIneligible for a controller.

    Kafka: KafkaController.updateMetrics, ineligibleReplicasToDeleteCount, 2.4 to 3.9 (KIP-503).
    """
    most = 0
    for broker in s.brokers:
        count = 0
        for partition in broker.controller.partitions:
            for r in range(len(partition.replicas)):
                if broker.controller.deleting and partition.replicas[r] == REPLICA_DELETION_INELIGIBLE:
                    count += 1
        most = max(most, count)
    return most


METRICS = (
    *RULING,
    Measure(TOPICS, topics),
    Measure(TOPICS_REPORTED, topics_reported),
    Measure(PARTITIONS, partitions),
    Measure(PARTITIONS_REPORTED, partitions_reported),
    Measure(OFFLINE_PARTITIONS, offline_partitions),
    Measure(OFFLINE_REPORTED, offline_partitions_reported),
    Measure(UNDER_REPLICATED, under_replicated),
    Measure(IMBALANCE, preferred_imbalance),
    Measure(REASSIGNING, reassigning),
    Measure(TOPICS_TO_DELETE, topics_to_delete),
    Measure(TO_DELETE_REPORTED, topics_to_delete_reported),
    Measure(TOPICS_INELIGIBLE, topics_ineligible),
    Measure(INELIGIBLE_REPORTED, topics_ineligible_reported),
    Measure(REPLICAS_TO_DELETE, replicas_to_delete_reported),
    Measure(REPLICAS_INELIGIBLE, replicas_ineligible_reported),
    *STEPS,
    *ANSWERS,
    Measure(SESSION_EXPIRIES, of=("expire_session",)),
)
