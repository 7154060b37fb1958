"""How a reassignment in two phases goes on, and where it ends: what follows the elections and removals of the event."""

from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.sequences import begins_with
from kafkaproof.spec.language.sets import contains, is_empty
from kafkaproof.spec.partition.context import DELETING_REQUEST, REASSIGN, clear, drop_event, drop_result, is_queued
from kafkaproof.spec.partition.phases.zookeeper import leave_unhandled
from kafkaproof.spec.partition.progress import is_next, proceed
from kafkaproof.spec.partition.reassignment.progress import leave, resume_deletion
from kafkaproof.spec.partition.reassignment.state import CHECKING


def is_reassigned(partition):
    """Whether a partition is being reassigned, as far as the controller knows."""
    return partition.aim.length > 0


def target_of(partition):
    """The target of a reassignment in progress."""
    return replicas_of(partition.aim)


def same(one, other):
    """Whether two sequences of replicas are equal."""
    return one.length == other.length and begins_with(one, other)


def is_dropped(controller, p):
    """Whether a listed partition is not reassigned: its topic is queued for deletion, it is not known, or the target is
    its assignment.
    """
    partition = controller.partitions[p]
    there = partition.assignment.length > 0
    return not there or is_queued(controller, p) or same(partition.aim, partition.assignment)


def is_asked_by_deletion(controller, p, r):
    """Whether the answer of a broker to StopReplica(delete) counts: it was sent for the deletion of a topic that is
    queued, not to a replica that a reassignment has removed.

    Kafka: TopicDeletionManager.startReplicaDeletion, 1.1 to 2.2 (a callback goes with the request).
    """
    return is_queued(controller, p) and contains(replicas_of(controller.partitions[p].assignment), r)


def take_up(controller):
    """The next reassignment is to be checked, or its partition taken off the list at once."""
    controller.doing = CHECKING
    for p in range(len(controller.partitions)):
        if is_next(controller.moving, p) and controller.taken and is_dropped(controller, p):
            take_off(controller)


def take_off(controller):
    """The partition in hand is to be taken off the list."""
    controller.strategy = REASSIGN
    controller.doing = DELETING_REQUEST


def fail(s, b):
    """An exception ends the reassignment of a partition: in the event that takes up the list it is taken off the list,
    otherwise the event ends, with all that was left of it. Brokers that were still to be handled are found when brokers
    change again; up to 2.1 those that have gone are not live any more, and never found.

    Kafka: KafkaController.onBrokerStartup, 0.8 to 2.3 (calls onPartitionReassignment, and catches nothing).
    """
    controller = s.brokers[b].controller
    if controller.taken:
        drop_result(controller)
        controller.finishing = 0
        controller.removed = 0
        controller.replicas = 0
        take_off(controller)
    else:
        leave_unhandled(s.zk, b, controller.bounced)
        drop_event(controller)


def end(controller, p):
    """Partition `p` is done in this event."""
    leave(controller, p)
    if is_empty(controller.moving):
        controller.taken = 0
    proceed(controller)


def end_request(controller, p, topic):
    """Partition `p` is not listed any more; if its reassignment is complete, a deletion that waited goes on."""
    clear(controller.partitions[p].aim)
    if controller.finishing:
        resume_deletion(controller, topic)
    end(controller, p)
