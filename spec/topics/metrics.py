"""Metrics of the system topics: creation, deletion and reassignment of one topic; what partitions have, as there."""

from collections.abc import Callable, Mapping

from kafkaproof.spec.kafka.state_machines import (
    NON_EXISTENT_REPLICA,
    REPLICA_DELETION_INELIGIBLE,
    REPLICA_DELETION_SUCCESSFUL,
)
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.rebind import rebind
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
from kafkaproof.spec.partition.creation.creation import known_partitions
from kafkaproof.spec.partition.metrics import (
    offline_partitions,
    offline_partitions_reported,
    topics_to_delete,
    topics_to_delete_reported,
)
from kafkaproof.spec.partition.zookeeper import is_moved, partitions_of_topics


def topics(s):
    """Whether the topic exists."""
    return 0 if is_empty(partitions_of_topics(s.zk)) else 1


def topics_reported(s):
    """Whether a controller knows the topic."""
    for broker in s.brokers:
        if not is_empty(known_partitions(broker.controller)):
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
            if partition.assignment.length > 0:
                count += 1
        most = max(most, count)
    return most


def added(s, p):
    """The replicas that are being added to a partition, as the topic znode has them."""
    return s.zk.adding[p]


def nothing_added(s, p):
    """The same up to 2.3: the topic znode does not tell them from others."""
    return 0


def is_reassigning(s, p):
    """Whether the topic znode says that a partition is being reassigned."""
    return not is_empty(union(s.zk.adding[p], s.zk.removing[p]))


def is_listed(s, p):
    """Whether /admin/reassign_partitions does, up to 2.3."""
    return is_moved(s.zk, p)


def under_replicated(s):
    """How many partitions have a registered leader, and a smaller ISR than before a reassignment."""
    count = 0
    for p in range(len(s.zk.partitions)):
        assigned = replicas_of(s.zk.assignments[p])
        if exists(s.zk.partitions[p]) and not is_offline(s, p):
            if is_under_replicated(s.zk.partitions[p].isr, assigned, added(s, p), len(s.brokers)):
                count += 1
    return count


def preferred_imbalance(s):
    """How many partitions are led by a replica other than the first, unless the topic is queued for deletion."""
    count = 0
    for p in range(len(s.zk.partitions)):
        state = s.zk.partitions[p]
        assigned = s.zk.assignments[p]
        if exists(state) and assigned.length > 0 and not contains(s.zk.deleting, p):
            if is_imbalanced(assigned.slots[0], state.leader, state.isr, added(s, p)):
                count += 1
    return count


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
        if contains(s.zk.deleting, p) and (not is_empty(absent) or is_reassigning(s, p)):
            return 1
    return 0


def topics_ineligible_reported(s):
    """Whether a controller has the topic in topicsIneligibleForDeletion."""
    for broker in s.brokers:
        if not is_empty(broker.controller.ineligible):
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
        for p in range(len(broker.controller.partitions)):
            partition = broker.controller.partitions[p]
            for r in range(len(partition.replicas)):
                if contains(broker.controller.deleting, p) and contains(replicas_of(partition.assignment), r):
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
        for p in range(len(broker.controller.partitions)):
            for state in broker.controller.partitions[p].replicas:
                if contains(broker.controller.deleting, p) and state == REPLICA_DELETION_INELIGIBLE:
                    count += 1
        most = max(most, count)
    return most


def measures(replaced: Mapping[Callable, Callable]) -> tuple[Measure, ...]:
    """The metrics of variants in which these functions take the place of others."""
    return (
        *RULING,
        Measure(TOPICS, topics),
        Measure(TOPICS_REPORTED, topics_reported),
        Measure(PARTITIONS, partitions),
        Measure(PARTITIONS_REPORTED, partitions_reported),
        Measure(OFFLINE_PARTITIONS, offline_partitions),
        Measure(OFFLINE_REPORTED, offline_partitions_reported),
        Measure(UNDER_REPLICATED, rebind(under_replicated, replaced)),
        Measure(IMBALANCE, rebind(preferred_imbalance, replaced)),
        Measure(REASSIGNING, rebind(reassigning, replaced)),
        Measure(TOPICS_TO_DELETE, topics_to_delete),
        Measure(TO_DELETE_REPORTED, topics_to_delete_reported),
        Measure(TOPICS_INELIGIBLE, rebind(topics_ineligible, replaced)),
        Measure(INELIGIBLE_REPORTED, topics_ineligible_reported),
        Measure(REPLICAS_TO_DELETE, replicas_to_delete_reported),
        Measure(REPLICAS_INELIGIBLE, replicas_ineligible_reported),
        *STEPS,
        *ANSWERS,
        Measure(SESSION_EXPIRIES, of=("expire_session",)),
    )


METRICS = measures({})
OF_VARIANT = dict.fromkeys(
    ("two-phase", "restoring", "checked", "kip380", "removal-at-start"),
    measures({added: nothing_added, is_reassigning: is_listed}),
)
