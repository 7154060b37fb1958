"""The strategy by which the event in progress elects: the leader, the ISR, and the recipients of LeaderAndIsr.

The strategies themselves are `strategies`; the triggers that choose one are `triggers`, `rebalance`, `brokers`
and `progress.trigger_online`.
"""

from kafkaproof.spec.kafka.strategies import (
    controlled_shutdown_isr,
    controlled_shutdown_leader,
    controlled_shutdown_recipients,
    isr_after_removal,
    offline_isr,
    offline_leader,
    offline_recipients,
    preferred_isr,
    preferred_leader,
    preferred_recipients,
    reassign_isr,
    reassign_leader,
    reassign_recipients,
    replicas_of,
)
from kafkaproof.spec.language.sets import intersection, without_member
from kafkaproof.spec.partition.context import (
    CONTROLLED_SHUTDOWN,
    FORCED,
    OFFLINE,
    REASSIGN,
    is_queued,
    online,
    online_or_leaving,
)


def may_be_unclean(controller, unclean):
    """Whether an offline election may be unclean: the topic allows it, or an administrator forces it."""
    return 1 if controller.strategy == FORCED else unclean


def end_in_vain(controller, partition):
    """An election has failed: the partition stays as it is.

    Kafka: PartitionStateMachine.doElectLeaderForPartitions, 1.1 to 3.9.
    """
    return 0


def chosen_leader(controller, partition, isr, unclean):
    """The leader that the event in progress elects, NOBODY when its strategy fails.

    Kafka: PartitionStateMachine.electLeaderForPartition, 0.8 to 1.0; doElectLeaderForPartitions, 1.1 to 3.9.
    """
    assignment = partition.assignment
    candidates = online(controller, partition)
    if controller.strategy == OFFLINE or controller.strategy == FORCED:
        return offline_leader(assignment, isr, candidates, may_be_unclean(controller, unclean))
    if controller.strategy == CONTROLLED_SHUTDOWN:
        candidates = online_or_leaving(controller, partition)
        return controlled_shutdown_leader(assignment, isr, candidates, controller.leaving)
    if controller.strategy == REASSIGN:
        return reassign_leader(controller.target, isr, candidates)
    return preferred_leader(assignment, isr, candidates)


def chosen_isr(controller, partition, isr, leader):
    """The ISR of an election that did not fail."""
    if controller.strategy == OFFLINE or controller.strategy == FORCED:
        return offline_isr(isr, online(controller, partition), leader)
    if controller.strategy == CONTROLLED_SHUTDOWN:
        return controlled_shutdown_isr(isr, controller.leaving)
    if controller.strategy == REASSIGN:
        return reassign_isr(isr)
    return preferred_isr(isr)


def isr_without(result, replica):
    """The ISR that was read, when a replica goes offline.

    Kafka: ReplicaStateMachine.doRemoveReplicasFromIsr, 1.1 to 3.9.
    """
    return isr_after_removal(result.isr, replica)


def recipients(controller, partition):
    """The live brokers that are sent LeaderAndIsr after the election."""
    if controller.strategy == OFFLINE or controller.strategy == FORCED:
        return offline_recipients(partition.assignment, online(controller, partition))
    if controller.strategy == CONTROLLED_SHUTDOWN:
        return controlled_shutdown_recipients(partition.assignment, online_or_leaving(controller, partition))
    if controller.strategy == REASSIGN:
        return intersection(reassign_recipients(controller.target), controller.live)
    return intersection(preferred_recipients(partition.assignment), controller.live)


def told_of_removal(controller, partition, r):
    """The live brokers that are sent LeaderAndIsr when replica `r` went offline: those of the other replicas."""
    return intersection(without_member(replicas_of(partition.assignment), r), controller.live)


def is_removal_told(controller, p):
    """Whether it is sent at all: not when the topic is queued for deletion."""
    return not is_queued(controller, p)
