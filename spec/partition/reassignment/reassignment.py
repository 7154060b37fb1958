"""The reassignment of a partition, as of KIP-455 (2.4 and later), kept in the topic znode.

It is requested by /admin/reassign_partitions or from the controller (AlterPartitionReassignments). A new request
replaces the reassignment in progress; a cancellation is a reassignment to the original replicas. The steps have the
letters of Kafka's comments: U writes the union of old and new replicas; A sends them LeaderAndIsr; B, once the target is
in the ISR, moves the leader, stops the removed replicas and writes the target.

The context changes before the assignment is written (in Kafka after it). `admin_requests` has what begins a reassignment.
"""

from kafkaproof.spec.kafka.assignment import append_members
from kafkaproof.spec.kafka.state_machines import (
    NEW_REPLICA,
    NON_EXISTENT_REPLICA,
    ONLINE_PARTITION,
    ONLINE_REPLICA,
    REPLICA_DELETION_STARTED,
    REPLICA_DELETION_SUCCESSFUL,
    partition_move_is_legal,
)
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.kafka.zookeeper import BADVERSION, EXPIRED, FENCED, LOST, OK, Delivery
from kafkaproof.spec.language.sets import contains, difference, intersection, only
from kafkaproof.spec.partition.context import (
    DELETING_REQUEST,
    MOVING,
    REASSIGN,
    Broker,
    Partition,
    clear,
    copy,
    drop_result,
    has_leader,
    remember_result,
    replicas_move,
)
from kafkaproof.spec.partition.deletion.progress import move, offline_among
from kafkaproof.spec.partition.deletion.zookeeper import topics_of
from kafkaproof.spec.partition.machines import prepare
from kafkaproof.spec.partition.progress import give_up, is_next, proceed
from kafkaproof.spec.partition.reassignment.network import put_removal
from kafkaproof.spec.partition.reassignment.plans import is_ready, unneeded
from kafkaproof.spec.partition.reassignment.progress import is_reassigned, leave, look_later, resume_deletion
from kafkaproof.spec.partition.reassignment.state import (
    CHECKING,
    STOPPING_REMOVED,
    TELLING,
    WRITING_ASSIGNMENT,
    WRITING_TARGET,
    forget_moved,
)
from kafkaproof.spec.partition.reassignment.zookeeper import checked_set_topic, is_listed
from kafkaproof.spec.partition.telling import tell_leadership, tell_partition
from kafkaproof.spec.partition.triggers import end_failover
from kafkaproof.spec.partition.zookeeper import checked_set_state, is_moved, known_as_they_are, read_state


def write_assignment(s, b: Broker, p: Partition, delivery: Delivery):
    """A controller writes the assignment that a reassignment begins with (U).

    Guards:  that is its next step.
    Request: OK; NONODE; FENCED; EXPIRED; LOST.
    Effects: replicas that a former reassignment had added and this one does not need are to be removed, then the ISR is
             to be read; on LOST it retries; on FENCED the term is over. (On NONODE Kafka throws, and the reassignment fails:
             no behaviour here has it, since a topic znode is deleted by a controller alone, which forgets the topic, and
             the check of the epoch keeps the others away.)
    Kafka:   KafkaController.updateCurrentReassignment, updateReplicaAssignmentForPartition, 2.4 to 3.9 (there the context
             changes after the write).
    """
    controller = s.brokers[b].controller
    if controller.doing != WRITING_ASSIGNMENT or not is_next(controller.moving, p):
        return False

    answer = checked_set_topic(s.zk, b, p, controller, controller.epoch, delivery)
    if answer == FENCED or answer == EXPIRED:
        give_up(s, b, answer)
    elif answer != LOST:
        clear(controller.target)
        controller.removed = unneeded(controller.partitions[p])
        controller.replicas = controller.removed
        proceed(controller)
    return True


def end_change(s, b, p):
    """An ISR is written: every live broker is told, and a reassignment whose target is in the ISR goes on. Nothing else
    looks at the ISR, as after an election from outside it, until a broker comes or a term begins.

    Kafka: KafkaController.maybeCompleteReassignment, 2.7 to 3.9.
    """
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    tell_partition(s, b, p, controller.live)
    if is_reassigned(partition) and is_ready(partition, partition.isr):
        look_later(controller, only(p))


def check_reassignment(s, b: Broker, p: Partition):
    """A controller reads the state of a partition that is being reassigned.

    Guards:  that is its next step.
    Request: OK; NEWER when a controller of a higher epoch wrote it; NONODE; EXPIRED.
    Effects: with the target in the ISR, new replicas are Online and the target is the assignment in memory (B1, B2);
             one of them is to lead (B3), and the removed replicas are to go offline (B4). Else LeaderAndIsr is to be
             sent to all replicas (A1). Without a state it fails: the union stays in the topic znode, a request that
             lists the partition is to be removed, and a failover has failed. (Not modelled: LeaderAndIsr in the same leader
             epoch to new replicas that are Online already, as after a failover, and that a replica which leads does not
             become New: no broker acts on it.)
    Kafka:   KafkaController.isReassignmentComplete, onPartitionReassignment, moveReassignedPartitionLeaderIfRequired,
             updateLeaderEpoch, maybeResumeReassignments, 2.4 to 3.9 (there the state is read again before it is written).
    """
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    if controller.doing != CHECKING or not is_next(controller.moving, p):
        return False

    answer = read_state(s.zk, b, p, controller.epoch, controller.result)
    if answer == EXPIRED:
        give_up(s, b, answer)
    elif answer != OK:
        end_without_state(s, b, p)
    elif not controller.finishing and is_ready(partition, controller.result.isr):
        begin_end(controller, p)
    else:
        prepare(controller.result, controller.result.leader, controller.result.isr)
        controller.doing = TELLING
    return True


def end_without_state(s, b, p):
    """A partition that is being reassigned has no state: this event is done with it, or the failover has failed."""
    controller = s.brokers[b].controller
    if controller.failing_over:
        controller.doing = MOVING
    elif is_moved(s.zk, p):
        controller.strategy = REASSIGN
        controller.doing = DELETING_REQUEST
    else:
        leave(controller, p)
        proceed(controller)


def begin_end(controller, p):
    """B1 and B2; whether the leader is to move (B3); and which replicas go (B4)."""
    partition = controller.partitions[p]
    move(controller, p, partition.adding, ONLINE_REPLICA)
    controller.finishing = 1
    controller.removed = partition.removing
    controller.replicas = partition.removing
    clear(controller.target)
    append_members(
        partition.assignment, difference(replicas_of(partition.assignment), partition.removing), controller.target
    )
    copy(controller.target, partition.assignment)
    forget_moved(partition)
    if has_leader(controller, partition) and contains(replicas_of(partition.assignment), partition.leader):
        prepare(controller.result, controller.result.leader, controller.result.isr)
        controller.doing = TELLING
    else:
        drop_result(controller)
        controller.strategy = REASSIGN
        if partition_move_is_legal(partition.state, ONLINE_PARTITION):
            controller.todo = only(p)
        proceed(controller)


def tell_replicas(s, b: Broker, p: Partition, delivery: Delivery):
    """A controller raises the leader epoch and sends LeaderAndIsr: to old and new replicas (A1), or to those that
    remain (B3).

    Guards:  it has read the state, and that is its next step.
    Request: OK; FENCED; BADVERSION; EXPIRED; LOST.
    Effects: on OK LeaderAndIsr is sent to the replicas; new ones are New (A2), and the reassignment waits for the ISR;
             at its end the removed replicas go offline. On BADVERSION, perhaps because of its own lost write, it reads
             again; on LOST it retries; on FENCED the term is over.
    Kafka:   KafkaController.updateLeaderEpochAndSendRequest, 0.8.1 to 3.9; startNewReplicasForReassignedPartition, 0.8
             to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != TELLING or not is_next(controller.moving, p):
        return False

    result = controller.result
    epoch = controller.epoch
    answer = checked_set_state(s.zk, b, p, epoch, result.leader, result.isr, result.leader_epoch, delivery)
    if answer == OK:
        tell_raised(s, b, p)
        end_telling(controller, p)
        end_failover(s, b)
    elif answer == BADVERSION:
        drop_result(controller)
        read_again(controller)
    elif answer == FENCED or answer == EXPIRED:
        give_up(s, b, answer)
    return True


def tell_raised(s, b, p):
    """The raised leader epoch is remembered, and LeaderAndIsr with it is sent to the replicas."""
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    remember_result(controller, partition)
    tell_leadership(s, b, p, intersection(replicas_of(partition.assignment), controller.live))


def read_again(controller):
    """Another has written the state meanwhile: it is to be read again."""
    controller.doing = CHECKING


def end_telling(controller, p):
    """LeaderAndIsr is sent: new replicas are New, or removed ones go offline."""
    if not controller.finishing:
        move(controller, p, controller.partitions[p].adding, NEW_REPLICA)
        leave(controller, p)
    proceed(controller)


def stop_removed(s, b: Broker, p: Partition):
    """A controller sends StopReplica(delete) to the replicas that a reassignment removes (B5), or that it does not need
    any more (U), and does not await an answer.

    Guards:  they were to go offline.
    Effects: those that are Offline are sent it, and are NonExistent; the target is to be written (B6), or the ISR is to be read.
    Kafka:   KafkaController.stopOldReplicasOfReassignedPartition, 0.8 to 2.3; stopRemovedReplicasOfReassignedPartition,
             2.4 to 3.9.
    """
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    if controller.doing != STOPPING_REMOVED or not is_next(controller.moving, p):
        return False

    stopped = intersection(offline_among(partition, controller.removed), controller.live)
    to = known_as_they_are(s.zk, b, stopped)
    if replicas_move(controller):
        put_removal(s.network, controller.epoch, p, partition.leader_epoch, to)
    move(controller, p, controller.removed, REPLICA_DELETION_STARTED)
    move(controller, p, controller.removed, REPLICA_DELETION_SUCCESSFUL)
    move(controller, p, controller.removed, NON_EXISTENT_REPLICA)
    controller.removed = 0
    controller.doing = WRITING_TARGET if controller.finishing else CHECKING
    return True


def write_target(s, b: Broker, p: Partition, delivery: Delivery):
    """A controller writes the target as the assignment (B6).

    Guards:  that is its next step.
    Request: OK; NONODE; FENCED; EXPIRED; LOST.
    Effects: the reassignment is over, and every live broker is told (B8); it is to be removed from the request that
             still lists it; a deletion that waits goes on. On LOST it retries; on FENCED the term is over. (NONODE: as in
             `write_assignment`.)
    Kafka:   KafkaController.updateReplicaAssignmentForPartition, removePartitionFromReassigningPartitions, 2.4 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != WRITING_TARGET or not is_next(controller.moving, p):
        return False

    answer = checked_set_topic(s.zk, b, p, controller, controller.epoch, delivery)
    if answer == FENCED or answer == EXPIRED:
        give_up(s, b, answer)
    elif answer != LOST:
        clear(controller.target)
        tell_partition(s, b, p, controller.live)
        resume_deletion(controller, topics_of(s.zk, only(p)))
        if is_listed(s.zk, p, controller.partitions[p].assignment):
            controller.strategy = REASSIGN
            controller.doing = DELETING_REQUEST
        else:
            leave(controller, p)
            proceed(controller)
            end_failover(s, b)
    return True
