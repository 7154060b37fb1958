"""/admin/reassign_partitions, as a controller takes it up and writes it in releases that reassign in two phases.

The list is taken up whole; an entry that cannot be dealt with is taken off it. What is written is what the controller
remembers of the list, not what is there. Not modelled: partitions that there never were.
"""

from kafkaproof.spec.kafka.zookeeper import EXPIRED, FENCED, LOST, Delivery
from kafkaproof.spec.language.sets import is_empty, only
from kafkaproof.spec.partition.context import DELETING_REQUEST, REASSIGN, Broker, Partition
from kafkaproof.spec.partition.deletion.zookeeper import topics_of
from kafkaproof.spec.partition.phases.progress import end_request
from kafkaproof.spec.partition.phases.zookeeper import checked_set_list
from kafkaproof.spec.partition.progress import at_work, give_up, is_next, proceed
from kafkaproof.spec.partition.reassignment.progress import look_later
from kafkaproof.spec.partition.reassignment.state import CHECKING
from kafkaproof.spec.partition.reassignment.zookeeper import is_listed
from kafkaproof.spec.partition.telling import tell_partition
from kafkaproof.spec.partition.triggers import delete_request as delete_other
from kafkaproof.spec.partition.zookeeper import copy_target, is_moved, listed


def is_news(s, b):
    """Whether a partition is listed with a target that the controller does not aim at."""
    controller = s.brokers[b].controller
    for p in range(len(controller.partitions)):
        if is_moved(s.zk, p) and not is_listed(s.zk, p, controller.partitions[p].aim):
            return True
    return False


def read_list(s, b):
    """The targets of all listed partitions are those that the controller aims at (partitionsBeingReassigned).

    Kafka: KafkaController.initializePartitionReassignment, 0.8.1 to 2.3.
    """
    controller = s.brokers[b].controller
    for p in range(len(controller.partitions)):
        if is_moved(s.zk, p):
            copy_target(s.zk, p, controller.partitions[p].aim)


def take_up_list(s, b):
    """Every listed partition is to be checked, as soon as elections and removals are done."""
    controller = s.brokers[b].controller
    controller.taken = 0 if is_empty(listed(s.zk)) else 1
    look_later(controller, listed(s.zk))
    if controller.doing == CHECKING:
        proceed(controller)


def find_request(s, b: Broker):
    """A controller takes up the list of partitions to reassign.

    Guards:  a partition is listed with a target that `b` does not aim at; `b` is at work.
    Effects: it aims at the targets of all that are listed. Each is to be checked, or taken off the list: if its topic is
             queued for deletion, if `b` does not know it, or if the target is its assignment.
    Kafka:   KafkaController.PartitionReassignment, 1.0 to 2.2; KafkaController.processPartitionReassignment, 2.3;
             KafkaController.maybeTriggerPartitionReassignment, 1.1 to 2.3.
    """
    controller = s.brokers[b].controller
    if not at_work(controller) or not is_news(s, b):
        return False

    read_list(s, b)
    take_up_list(s, b)
    return True


def delete_listed(s, b: Broker, p: Partition, delivery: Delivery):
    """A controller takes the partition that it has dealt with off the list.

    Guards:  that is its next step.
    Request: OK; FENCED; EXPIRED; LOST.
    Effects: the reassignment is over. If it was completed, every live broker is told, and a deletion that waits goes on.
             On LOST it retries; on FENCED the term is over.
    Kafka:   KafkaController.removePartitionFromReassignedPartitions, 0.8 to 1.1;
             removePartitionsFromReassignedPartitions, 2.0 to 2.3 (there those of one list together).
    """
    controller = s.brokers[b].controller
    doing = controller.doing == DELETING_REQUEST and controller.strategy == REASSIGN
    if not doing or not is_next(controller.moving, p):
        return False

    answer = checked_set_list(s.zk, b, p, controller, controller.epoch, delivery)
    if answer == FENCED or answer == EXPIRED:
        give_up(s, b, answer)
    elif answer != LOST:
        if controller.finishing:
            tell_partition(s, b, p, controller.live)
        end_request(controller, p, topics_of(s.zk, only(p)))
    return True


def delete_request(s, b: Broker, delivery: Delivery):
    """A controller deletes the request that it has dealt with, other than for a reassignment.

    Guards:  those of `triggers.delete_request`; it is not for a reassignment.
    Request: OK; NONODE; FENCED; EXPIRED; LOST.
    Effects: those of `triggers.delete_request`.
    Kafka:   KafkaController.removePartitionsFromPreferredReplicaElection, 0.8 to 3.9.
    """
    if s.brokers[b].controller.strategy == REASSIGN:
        return False
    if not delete_other(s, b, delivery):
        return False

    return True
