"""Requests for reassignments: /admin/reassign_partitions, and AlterPartitionReassignments of an administrator.

A later request takes the place of an earlier one, and of the reassignment in progress. Each partition of a request is an
event of its own (in Kafka all are one event, in this order).
"""

from kafkaproof.spec.kafka.zookeeper import EXPIRED, FENCED, LOST, Delivery
from kafkaproof.spec.language.sets import contains, only
from kafkaproof.spec.partition.context import DELETING_REQUEST, OFFLINE, REASSIGN, Broker, Partition, is_queued
from kafkaproof.spec.partition.progress import at_work, give_up, proceed
from kafkaproof.spec.partition.reassignment.network import (
    CANCELLATION,
    NOTHING_WANTED,
    copy_wanted,
    partition_wanted,
    replicas_wanted,
    take_wanted,
    wanted,
)
from kafkaproof.spec.partition.reassignment.plans import is_begun, plan, plan_cancellation, verdict_on
from kafkaproof.spec.partition.reassignment.progress import in_hand, is_reassigned, leave
from kafkaproof.spec.partition.reassignment.zookeeper import checked_delist, is_aim
from kafkaproof.spec.partition.triggers import delete_request as delete_other
from kafkaproof.spec.partition.triggers import end_failover
from kafkaproof.spec.partition.zookeeper import copy_target, is_moved


def reassign(s, b: Broker, p: Partition):
    """A controller takes up a partition that /admin/reassign_partitions lists.

    Guards:  it does; `b` is at work, knows the assignment of `p`, and does not reassign it to that target; no deletion of
             its topic is queued.
    Effects: it knows the new assignment, which is to be written (U); if that is the one it knows already, it is checked
             at once (B).
    Kafka:   KafkaController.processZkPartitionReassignment, onPartitionReassignment, 2.4 to 3.9.
    """
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    if not at_work(controller) or not is_moved(s.zk, p) or partition.assignment.length == 0:
        return False
    if is_queued(controller, p) or is_reassigned(partition) and is_aim(s.zk, p, partition):
        return False

    copy_target(s.zk, p, controller.target)
    plan(partition, controller.target)
    controller.moving = only(p)
    proceed(controller)
    return True


def alter_reassignment(s, b: Broker):
    """A controller takes up the request of an administrator to reassign a partition, or to cancel its reassignment.

    Guards:  there is one; `b` is at work.
    Effects: if it is valid, the new assignment is known, which is to be written (U), after the partition has been
             removed from /admin/reassign_partitions. If it is the assignment that is known already, only what is in
             progress goes on. An invalid request changes nothing.
    Kafka:   KafkaController.processApiPartitionReassignment, onPartitionReassignment, 2.4 to 3.9.
    """
    controller = s.brokers[b].controller
    kind = wanted(s.network)
    if not at_work(controller) or kind == NOTHING_WANTED:
        return False

    p = partition_wanted(s.network)
    if is_begun(verdict_on(controller, p, kind, replicas_wanted(s.network))):
        copy_wanted(s.network, controller.target)
        if kind == CANCELLATION:
            plan_cancellation(controller.partitions[p], controller.target)
        else:
            plan(controller.partitions[p], controller.target)
        controller.moving = only(p)
        if is_moved(s.zk, p):
            controller.strategy = REASSIGN
            controller.doing = DELETING_REQUEST
        else:
            proceed(controller)
    take_wanted(s.network)
    return True


def delete_request(s, b: Broker, delivery: Delivery):
    """A controller removes the partition that it has dealt with from /admin/reassign_partitions, or deletes another
    request.

    Guards:  it has dealt with it as far as it could, or is about to reassign it because of another request.
    Request: OK; NONODE; FENCED; EXPIRED; LOST.
    Effects: it is done with the partition, or writes its assignment (U); on LOST it retries; on FENCED the term is
             over.
    Kafka:   KafkaController.maybeRemoveFromZkReassignment, 2.4 to 3.9 (see `triggers` for other requests).
    """
    controller = s.brokers[b].controller
    if controller.doing != DELETING_REQUEST or controller.strategy != REASSIGN:
        return delete_other(s, b, delivery)

    answer = checked_delist(s.zk, b, in_hand(controller), controller.epoch, delivery)
    if answer == FENCED or answer == EXPIRED:
        give_up(s, b, answer)
    elif answer != LOST:
        end_request(controller)
        end_failover(s, b)
    return True


def end_request(controller):
    """No request lists the partition in hand: it is done, unless another reassignment of it is to begin."""
    controller.strategy = OFFLINE
    for p in range(len(controller.partitions)):
        if contains(in_hand(controller), p) and controller.target.length == 0:
            leave(controller, p)
    proceed(controller)
