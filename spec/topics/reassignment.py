"""The reassignment of a partition, as of KIP-455 (2.4 and later): requested from the controller, kept in the topic
znode.

The steps have the letters of Kafka's comments: U writes the union of old and new replicas; A sends them LeaderAndIsr;
B, once the target is in the ISR, moves the leader, stops the removed replicas and writes the target. A cancellation is
a reassignment to the original replicas; a new request replaces the one in progress.
"""

from kafkaproof.spec.kafka.assignment import append_members, is_complete, origin, target
from kafkaproof.spec.kafka.deletion_moves import move_partition, move_replicas
from kafkaproof.spec.kafka.state_machines import NEW_REPLICA, ONLINE_PARTITION, ONLINE_REPLICA
from kafkaproof.spec.kafka.strategies import reassign_leader, replicas_of
from kafkaproof.spec.kafka.zookeeper import EXPIRED, FENCED, NONODE, OK
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty, only, without_member
from kafkaproof.spec.partition.context import clear
from kafkaproof.spec.partition.progress import at_work, is_next
from kafkaproof.spec.partition.reassignment.state import CHECKING, TELLING, WRITING_ASSIGNMENT, WRITING_TARGET
from kafkaproof.spec.partition.zookeeper import known_as_they_are
from kafkaproof.spec.topics.context import (
    DROP_TASK,
    FINISH_TASK,
    MOVING,
    Broker,
    Partition,
    clear_assignment,
    copy_assignment,
    forget,
    has_leader,
    is_present,
    members,
    remember_leadership,
)
from kafkaproof.spec.topics.fencing import checked_set_state, checked_set_topic
from kafkaproof.spec.topics.network import name_replicas, partition_wanted, start, take_wanted, target_wanted, wanted
from kafkaproof.spec.topics.progress import proceed, take_offline
from kafkaproof.spec.topics.znodes import CANCELLATION, NOTHING
from kafkaproof.spec.topics.zookeeper import epoch_of, get_state, isr_of, leader_of


def origin_of(assigned):
    """The replicas before the reassignment in progress."""
    return origin(assigned.assignment, assigned.adding)


def target_of(assigned):
    """The replicas after the reassignment in progress."""
    return target(assigned.assignment, assigned.removing)


def plan(assigned, wanted, planned):
    """ReplicaAssignment.reassignTo: the target, then the other replicas; and what is added and removed."""
    before = origin_of(assigned)
    clear(planned.assignment)
    append_members(wanted, replicas_of(wanted), planned.assignment)
    append_members(assigned.assignment, before, planned.assignment)
    planned.adding = difference(replicas_of(planned.assignment), before)
    planned.removing = difference(replicas_of(planned.assignment), replicas_of(wanted))


def plan_cancellation(assigned, planned):
    """The same with the original replicas as the target."""
    clear(planned.assignment)
    append_members(assigned.assignment, origin_of(assigned), planned.assignment)
    planned.adding = 0
    planned.removing = 0


def is_valid(controller, partition, proposed, asked):
    """Whether a request is valid: partition known, not being deleted, new replicas live, something to cancel."""
    if controller.deleting or not is_present(partition):
        return False
    if proposed == CANCELLATION:
        return partition.reassigned == 1
    return is_empty(difference(difference(replicas_of(asked), origin_of(partition)), controller.live))


def reassign(s, b: Broker):
    """A controller takes up a request to reassign a partition, or to cancel its reassignment
    (AlterPartitionReassignments).

    Guards:  there is one; `b` is at work.
    Effects: a valid reassignment is to be written (U), and makes the topic ineligible for deletion; others are refused.
    Kafka:   KafkaController.processApiPartitionReassignment, onPartitionReassignment, 2.4 to 3.9.
    """
    controller = s.brokers[b].controller
    proposed = wanted(s.network)
    if not at_work(controller) or proposed == NOTHING:
        return False

    p = partition_wanted(s.network)
    partition = controller.partitions[p]
    if is_valid(controller, partition, proposed, target_wanted(s.network)):
        if proposed == CANCELLATION:
            plan_cancellation(partition, controller.wanted)
        else:
            plan(partition, target_wanted(s.network), controller.wanted)
        controller.moving = only(p)
        controller.doing = WRITING_ASSIGNMENT
    take_wanted(s.network)
    return True


def write_assignment(s, b: Broker, p: Partition):
    """A controller writes the assignment of a reassignment that begins (U); replicas that it no longer needs are
    removed.

    Guards:  that is its next step.
    Request: OK; NONODE; FENCED; EXPIRED.
    Effects: on OK the replicas that a replaced reassignment had added are to be stopped; then the ISR is to be read.
    Kafka:   KafkaController.updateCurrentReassignment, 2.4 to 3.9.
    """
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    if controller.doing != WRITING_ASSIGNMENT or not is_next(controller.moving, p):
        return False

    answer = checked_set_topic(s.zk, b, p, controller, controller.epoch)
    if answer == FENCED or answer == EXPIRED:
        forget(controller)
        return True
    dropped = difference(members(partition), replicas_of(controller.wanted.assignment))
    copy_assignment(controller.wanted, partition)
    clear_assignment(controller.wanted)
    partition.reassigned = 1
    stop_later(controller, partition, dropped, DROP_TASK)
    return True


def stop_later(controller, partition, brokers, task):
    """Replicas on some brokers are to go offline and to be stopped (stopRemovedReplicasOfReassignedPartition)."""
    take_offline(partition, brokers)
    partition.stopping = brokers
    if task == FINISH_TASK or not is_empty(brokers):
        controller.task = task
    proceed(controller)


def is_ready(assigned, isr):
    """Whether a reassignment can be completed with an ISR."""
    return is_complete(assigned.assignment, assigned.adding, assigned.removing, isr)


def look_again(controller, p, isr):
    """maybeCompleteReassignment: the reassignment of a partition whose ISR was just written goes on in the same event.

    Kafka:   KafkaController.processAlterIsr, 2.7 to 3.1; processAlterPartition, 3.2 to 3.9.
    """
    partition = controller.partitions[p]
    if partition.reassigned and is_ready(partition, isr):
        controller.moving = only(p)
        proceed(controller)


def caught_up(s, b: Broker, p: Partition):
    """A controller is notified that the target of a reassignment is in the ISR, in releases whose leaders write it.

    Guards:  it is; `b` is at work.
    Effects: the ISR is to be read.
    Kafka:   KafkaController.PartitionReassignmentIsrChange, 0.11 to 2.2;
             KafkaController.processPartitionReassignmentIsrChange, 2.3 to 2.6 (isReassignmentComplete: 2.4 to 2.6).
    """
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    if not at_work(controller) or not partition.reassigned or not is_ready(partition, isr_of(s.zk, p)):
        return False

    controller.moving = only(p)
    proceed(controller)
    return True


def check(s, b: Broker, p: Partition):
    """A controller reads the ISR of a partition that is being reassigned.

    Guards:  that is its next step.
    Request: OK; NONODE; EXPIRED.
    Effects: with the target in the ISR, new replicas are Online and the target is the assignment in memory (B1, B2);
             the leader is to be moved. Else LeaderAndIsr is to be sent to old and new replicas (A1).
    Kafka:   KafkaController.isReassignmentComplete, onPartitionReassignment, 2.4 to 3.9.
    """
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    if controller.doing != CHECKING or not is_next(controller.moving, p):
        return False

    answer = get_state(s.zk, b, p)
    if answer == EXPIRED:
        forget(controller)
    elif is_ready(partition, isr_of(s.zk, p)):
        finish(controller, partition)
    else:
        controller.doing = TELLING
    return True


def finish(controller, partition):
    """B1 and B2: new replicas are Online, and the target is the assignment in memory."""
    move_replicas(partition, partition.adding, ONLINE_REPLICA)
    partition.stopping = partition.removing
    clear_assignment(controller.wanted)
    append_members(partition.assignment, target_of(partition), controller.wanted.assignment)
    copy_assignment(controller.wanted, partition)
    controller.doing = MOVING


def tell_replicas(s, b: Broker, p: Partition):
    """A controller raises the leader epoch and sends LeaderAndIsr to old and new replicas (A1); new ones are New (A2).

    Guards:  that is its next step.
    Request: OK; NEWER; NONODE; FENCED; EXPIRED.
    Effects: new replicas get a log; the reassignment waits for the ISR.
    Kafka:   KafkaController.updateLeaderEpochAndSendRequest, startNewReplicasForReassignedPartition, 1.0 to 3.9.
    """
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    if controller.doing != TELLING or not is_next(controller.moving, p):
        return False

    answer = checked_set_state(s.zk, b, p, controller.epoch, leader_of(s.zk, p), isr_of(s.zk, p))
    if answer == FENCED or answer == EXPIRED:
        forget(controller)
        return True
    if answer == OK:
        name_replicas(s.network, p, members(partition))
        remember_leadership(partition, leader_of(s.zk, p), epoch_of(s.zk, p))
    to = known_as_they_are(s.zk, b, intersection(partition.adding, controller.live))
    start(s.network, controller.epoch, p, controller.topic, to)
    move_replicas(partition, partition.adding, NEW_REPLICA)
    controller.moving = without_member(controller.moving, p)
    proceed(controller)
    return True


def new_leader(controller, partition, leader, isr):
    """The leader if it stays, else a live replica of the target in the ISR; NOBODY if there is none."""
    if has_leader(controller, partition) and contains(members(partition), partition.leader):
        return leader
    return reassign_leader(partition.assignment, isr, controller.live)


def move_leader(s, b: Broker, p: Partition):
    """A controller makes a replica of the target the leader, or raises the leader epoch where one leads already (B3,
    B4).

    Guards:  that is its next step.
    Request: none when nobody can be elected, else OK; NEWER; NONODE; FENCED; EXPIRED.
    Effects: whatever the outcome, the removed replicas are to be stopped.
    Kafka:   KafkaController.moveReassignedPartitionLeaderIfRequired, 1.0 to 3.9.
    """
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    if controller.doing != MOVING or not is_next(controller.moving, p):
        return False

    leader = new_leader(controller, partition, leader_of(s.zk, p), isr_of(s.zk, p))
    isr = isr_of(s.zk, p)
    answer = NONODE if leader == NOBODY else checked_set_state(s.zk, b, p, controller.epoch, leader, isr)
    if answer == FENCED or answer == EXPIRED:
        forget(controller)
        return True
    if answer == OK:
        name_replicas(s.network, p, members(partition))
        remember_leadership(partition, leader, epoch_of(s.zk, p))
        move_partition(partition, ONLINE_PARTITION)
    stop_later(controller, partition, partition.stopping, FINISH_TASK)
    return True


def write_target(s, b: Broker, p: Partition):
    """A controller writes the target as the assignment (B7), and forgets the reassignment.

    Guards:  that is its next step.
    Request: OK; NONODE; FENCED; EXPIRED.
    Effects: a waiting deletion goes on.
    Kafka:   KafkaController.updateReplicaAssignmentForPartition, removePartitionFromReassigningPartitions, 2.4 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != WRITING_TARGET or not is_next(controller.moving, p):
        return False

    answer = checked_set_topic(s.zk, b, p, controller, controller.epoch)
    if answer == FENCED or answer == EXPIRED:
        forget(controller)
    else:
        end_reassignment(controller, p)
    return True


def end_reassignment(controller, p):
    """The reassignment is over; resumeDeletionForTopics."""
    clear_assignment(controller.wanted)
    controller.partitions[p].reassigned = 0
    controller.moving = without_member(controller.moving, p)
    if controller.deleting:
        controller.ineligible = 0
        controller.resuming = 1
    proceed(controller)
