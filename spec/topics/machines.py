"""Moves that all events share: first states, elections, removals from an ISR, StopReplica."""

from kafkaproof.spec.kafka.deletion_moves import move_partition, move_replica, move_replicas
from kafkaproof.spec.kafka.state_machines import (
    NEW_PARTITION,
    NEW_REPLICA,
    NON_EXISTENT_REPLICA,
    OFFLINE_REPLICA,
    ONLINE_PARTITION,
    ONLINE_REPLICA,
    REPLICA_DELETION_INELIGIBLE,
    REPLICA_DELETION_STARTED,
    REPLICA_DELETION_SUCCESSFUL,
)
from kafkaproof.spec.kafka.strategies import new_topic_isr, new_topic_leader, offline_isr, offline_leader
from kafkaproof.spec.kafka.zookeeper import EXPIRED, FENCED, NONODE, OK
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty
from kafkaproof.spec.partition.context import ELECTING, REMOVING
from kafkaproof.spec.partition.deletion.state import STOPPING
from kafkaproof.spec.partition.progress import is_next
from kafkaproof.spec.partition.reassignment.state import CHECKING, WRITING_TARGET
from kafkaproof.spec.partition.zookeeper import known_as_they_are
from kafkaproof.spec.topics.context import (
    DELETE_TASK,
    DROP_TASK,
    FINISH_TASK,
    NO_TASK,
    Broker,
    Partition,
    forget,
    members,
    remember_leadership,
)
from kafkaproof.spec.topics.fencing import checked_create_state, checked_set_state, checked_shrink
from kafkaproof.spec.topics.network import DELETE, DROP, name_replicas, put, start
from kafkaproof.spec.topics.progress import end_election, end_removal, leaves_next, proceed, replicas_in
from kafkaproof.spec.topics.zookeeper import epoch_of, isr_of, leader_of


def create_first_state(s, b: Broker, p: Partition):
    """A controller creates the state of a new partition: its live replicas are the ISR, and the first of them leads.

    Guards:  `p` is New, and the next to be elected.
    Request: none when no replica is live, else OK; FENCED; NODEEXISTS; NONODE without the topic; EXPIRED.
    Effects: on OK `p` is Online and LeaderAndIsr is sent to the ISR, else it stays New; its new replicas are Online.
    Kafka:   PartitionStateMachine.initializeLeaderAndIsrForPartition, 1.0; initializeLeaderAndIsrForPartitions, 1.1
             to 3.9; KafkaController.onNewPartitionCreation, 1.0 to 3.9.
    """
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    if controller.doing != ELECTING or not is_next(controller.todo, p) or partition.state != NEW_PARTITION:
        return False

    leader = new_topic_leader(partition.assignment, controller.live)
    isr = new_topic_isr(partition.assignment, controller.live)
    answer = NONODE if leader == NOBODY else checked_create_state(s.zk, b, p, controller.epoch, leader, isr)
    if answer == FENCED or answer == EXPIRED:
        forget(controller)
        return True
    if answer == OK:
        start(s.network, controller.epoch, p, controller.topic, known_as_they_are(s.zk, b, isr))
        name_replicas(s.network, p, members(partition))
        remember_leadership(partition, leader, 0)
        move_partition(partition, ONLINE_PARTITION)
    move_replicas(partition, replicas_in(partition, NEW_REPLICA), ONLINE_REPLICA)
    end_election(controller, p)
    return True


def elect_leader(s, b: Broker, p: Partition):
    """A controller elects the leader of a partition that has none: a live member of the ISR.

    Guards:  `p` is the next to be elected, and not New.
    Request: none when no replica can be elected, else OK; FENCED; NEWER; NONODE; EXPIRED.
    Effects: on OK `p` is Online; else it stays as it is.
    Kafka:   PartitionStateMachine.electLeaderForPartition, 1.0; doElectLeaderForPartitions, 1.1 to 3.9.
    """
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    if controller.doing != ELECTING or not is_next(controller.todo, p) or partition.state == NEW_PARTITION:
        return False

    leader = offline_leader(partition.assignment, isr_of(s.zk, p), controller.live, 0)
    isr = offline_isr(isr_of(s.zk, p), controller.live, leader) if leader != NOBODY else 0
    answer = NONODE if leader == NOBODY else checked_set_state(s.zk, b, p, controller.epoch, leader, isr)
    if answer == FENCED or answer == EXPIRED:
        forget(controller)
        return True
    if answer == OK:
        name_replicas(s.network, p, members(partition))
        remember_leadership(partition, leader, epoch_of(s.zk, p))
        move_partition(partition, ONLINE_PARTITION)
    end_election(controller, p)
    return True


def remove_replica(s, b: Broker, p: Partition, r: Broker):
    """A controller removes a replica that goes offline from the ISR; its last member stays.

    Guards:  replica `r` of `p` is the next to go offline.
    Request: OK; FENCED; NEWER; NONODE; EXPIRED.
    Effects: on OK the replica is Offline, and LeaderAndIsr is sent to the others (not before a deletion).
    Kafka:   KafkaController.removeReplicaFromIsr, 1.0; ReplicaStateMachine.doRemoveReplicasFromIsr, 1.1 to 3.9.
    """
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    if controller.doing != REMOVING or not leaves_next(controller, p, r):
        return False

    answer = checked_shrink(s.zk, b, p, controller.epoch, r)
    if answer == FENCED or answer == EXPIRED:
        forget(controller)
        return True
    if answer == OK:
        if not controller.deleting and epoch_of(s.zk, p) != partition.leader_epoch:
            name_replicas(s.network, p, members(partition))
        remember_leadership(partition, leader_of(s.zk, p), epoch_of(s.zk, p))
        move_replica(partition, r, OFFLINE_REPLICA)
    end_removal(controller, p, r)
    return True


def stop_replicas(s, b: Broker):
    """A controller sends StopReplica(delete) for the replicas that it has taken offline.

    Guards:  they are offline.
    Effects: in a deletion they are DeletionStarted, or DeletionIneligible on dead brokers; in a reassignment they are
             NonExistent at once, and no answer is awaited.
    Kafka:   ReplicaStateMachine.handleStateChanges, TopicDeletionManager.onTopicDeletion, 1.0 to 3.9;
             KafkaController.stopOldReplicasOfReassignedPartition, 1.0 to 2.3;
             stopRemovedReplicasOfReassignedPartition, 2.4 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != STOPPING:
        return False

    for p in range(len(controller.partitions)):
        partition = controller.partitions[p]
        for r in range(len(partition.replicas)):
            if is_stopped(controller, partition, r):
                if contains(known_as_they_are(s.zk, b, controller.live), r):
                    kind = DELETE if controller.task == DELETE_TASK else DROP
                    put(s.network, controller.epoch, r, p, kind, controller.topic)
        stop(controller, partition)
    end_task(controller)
    return True


def is_stopped(controller, partition, r):
    """Whether a replica is to be stopped and is offline; in a deletion, only on a live broker."""
    reached = contains(controller.live, r) or controller.task != DELETE_TASK
    return contains(partition.stopping, r) and partition.replicas[r] == OFFLINE_REPLICA and reached


def stop(controller, partition):
    """The replicas of a partition that are stopped change their states."""
    if controller.task == DELETE_TASK:
        dead = difference(partition.stopping, controller.live)
        move_replicas(partition, dead, REPLICA_DELETION_INELIGIBLE)
        if not is_empty(dead):
            controller.ineligible = 1
        move_replicas(partition, intersection(partition.stopping, controller.live), REPLICA_DELETION_STARTED)
    else:
        move_replicas(partition, partition.stopping, REPLICA_DELETION_STARTED)
        move_replicas(partition, partition.stopping, REPLICA_DELETION_SUCCESSFUL)
        move_replicas(partition, partition.stopping, NON_EXISTENT_REPLICA)
    partition.stopping = 0


def end_task(controller):
    """What follows when the replicas have been stopped."""
    task = controller.task
    controller.task = NO_TASK
    if task == FINISH_TASK:
        controller.doing = WRITING_TARGET
    elif task == DROP_TASK:
        controller.doing = CHECKING
    else:
        proceed(controller)
