"""Topics up to 2.3: a reassignment is known only from /admin/reassign_partitions.

The topic znode has the union of old and new replicas, without a distinction: a new controller reads the request again.
Leaders write the ISR themselves. A reassignment that has begun cannot be cancelled. Up to 2.0 a partition of a topic
that is deleted keeps its state until all is deleted; up to 1.0 the watch on the topic's data is armed after the read, so
that writes in between are missed. Not modelled: a new controller that finds both a deletion and a request to reassign
takes the topic as ineligible for deletion, though it drops the request (1.1.1 KafkaController.fetchTopicDeletionsInProgress).
"""

from kafkaproof.spec.kafka.zookeeper import EXPIRED, OK
from kafkaproof.spec.language.domains import SetOf
from kafkaproof.spec.language.sets import contains, difference, is_empty, only, union
from kafkaproof.spec.partition.context import DELETING_REQUEST
from kafkaproof.spec.partition.progress import at_work, is_next
from kafkaproof.spec.partition.reassignment.state import CHECKING, TELLING, WRITING_ASSIGNMENT, WRITING_TARGET
from kafkaproof.spec.partition.znodes import NONE
from kafkaproof.spec.partition.zookeeper import session_open
from kafkaproof.spec.topics.context import (
    ARMING,
    Broker,
    Partition,
    clear_assignment,
    copy_assignment,
    forget,
    is_present,
)
from kafkaproof.spec.topics.failover import start_machines
from kafkaproof.spec.topics.fencing import checked_delete_request, checked_set_topic
from kafkaproof.spec.topics.network import named
from kafkaproof.spec.topics.progress import proceed
from kafkaproof.spec.topics.reassignment import end_reassignment, finish, plan, target_of
from kafkaproof.spec.topics.tree import set_topic
from kafkaproof.spec.topics.zookeeper import (
    arm,
    get_assignments,
    get_state,
    isr_of,
    leads,
    request_listed,
    request_target,
)

Isr = SetOf("brokers")


def mark_nothing(controller):
    """The partitions of a topic whose deletion starts keep their states (up to 2.0)."""
    return 0


def is_in_sync(assigned, isr):
    """Whether a reassignment can be finished: its target is in the ISR, even if only the order changes.

    Kafka: KafkaController.areReplicasInIsr, 0.8 to 2.3.
    """
    return is_empty(difference(target_of(assigned), isr))


def read_unwatched(zk, b, reader):
    """getData of the topic, before the watch on it is armed: OK, NONODE or EXPIRED."""
    return get_assignments(zk, b, reader, NONE)


def arm_first(controller):
    """The watch on the topic's data is still to be armed."""
    controller.doing = ARMING


def arm_watch(s, b: Broker):
    """A new controller arms the watch on the topic's data that it has read; the state machines start up.

    Guards:  it has read the topic.
    Request: OK; EXPIRED.
    Effects: its term goes on. (In Kafka the watch is armed after the machines have started up.)
    Kafka:   PartitionStateMachine.registerListeners, 0.8 to 0.10.2; KafkaController.onControllerFailover, 0.8 to 1.0.
    """
    controller = s.brokers[b].controller
    if controller.doing != ARMING:
        return False

    answer = arm(s.zk, b)
    if answer == EXPIRED:
        forget(controller)
    else:
        start_machines(controller)
    return True


def write_isr(zk, b, p, isr):
    """setData of the ISR by the leader, which knows the version: OK or EXPIRED."""
    if not session_open(zk, b):
        return EXPIRED
    zk.partitions[p].isr = isr
    return OK


def change_isr(s, b: Broker, p: Partition, isr: Isr):
    """A leader writes the ISR that it proposes.

    Guards:  `b` leads; the ISR is another one, of replicas that it knows, including itself.
    Request: OK; EXPIRED.
    Effects: none in the model.
    Kafka:   Partition.updateIsr, 0.8 to 2.3; expandIsr, shrinkIsr, 2.4 to 2.6; ReplicationUtils.updateLeaderAndIsr,
             0.8.2 to 2.6.
    """
    if not s.brokers[b].up or not leads(s.zk, p, b) or isr == isr_of(s.zk, p) or not session_open(s.zk, b):
        return False
    if not contains(isr, b) or not is_empty(difference(isr, named(s.network, p))):
        return False

    write_isr(s.zk, b, p, isr)
    return True


def find_request(s, b: Broker, p: Partition):
    """A controller reads the request to reassign a partition.

    Guards:  there is one, which `b` does not know; the partition is in the context; `b` is at work.
    Effects: the ISR is to be read; if the topic is queued for deletion, the request is to be deleted.
    Kafka:   KafkaController.PartitionReassignment, 1.0 to 2.2; KafkaController.processPartitionReassignment, 2.3;
             maybeTriggerPartitionReassignment, 1.0 to 2.3.
    """
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    if not at_work(controller) or not request_listed(s.zk, p) or partition.reassigned or not is_present(partition):
        return False

    controller.moving = only(p)
    if controller.deleting:
        controller.doing = DELETING_REQUEST
    else:
        partition.reassigned = 1
        proceed(controller)
    return True


def check_target(s, b: Broker, p: Partition):
    """A controller reads the ISR of a partition that is being reassigned.

    Guards:  that is its next step.
    Request: OK; NONODE; EXPIRED.
    Effects: with the target in the ISR the second phase begins: the target is the assignment in memory; else the union
             is to be written and sent.
    Kafka:   KafkaController.areReplicasInIsr, onPartitionReassignment, 1.0 to 2.3.
    """
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    if controller.doing != CHECKING or not is_next(controller.moving, p):
        return False

    answer = get_state(s.zk, b, p)
    if answer == EXPIRED:
        forget(controller)
    elif is_planned(partition):
        if is_in_sync(partition, isr_of(s.zk, p)):
            finish(controller, partition)
        else:
            controller.doing = TELLING
    elif request_listed(s.zk, p):
        plan(partition, request_target(s.zk), controller.wanted)
        controller.doing = WRITING_ASSIGNMENT
        if is_in_sync(controller.wanted, isr_of(s.zk, p)):
            copy_assignment(controller.wanted, partition)
            finish(controller, partition)
    else:
        end_reassignment(controller, p)
    return True


def is_planned(assigned):
    """Whether the controller distinguishes old and new replicas."""
    return not is_empty(union(assigned.adding, assigned.removing))


def set_union(zk, b, p, context, epoch):
    """setData of the topic znode, without a distinction of old and new replicas: as `set_topic`."""
    answer = set_topic(zk, b, p, context, epoch)
    if answer == OK:
        zk.adding[p] = 0
        zk.removing[p] = 0
    return answer


def write_union(s, b: Broker, p: Partition):
    """A controller writes the union of old and new replicas as the assignment (phase 1).

    Guards:  that is its next step.
    Request: OK; NONODE; EXPIRED.
    Effects: it is the assignment in memory; LeaderAndIsr is to be sent to all of them.
    Kafka:   KafkaController.updateAssignedReplicasForPartition, 1.0 to 2.3.
    """
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    if controller.doing != WRITING_ASSIGNMENT or not is_next(controller.moving, p):
        return False

    answer = set_union(s.zk, b, p, controller, controller.epoch)
    if answer == EXPIRED:
        forget(controller)
    else:
        copy_assignment(controller.wanted, partition)
        clear_assignment(controller.wanted)
        controller.doing = TELLING
    return True


def write_target(s, b: Broker, p: Partition):
    """A controller writes the target as the assignment, at the end of phase 2.

    Guards:  that is its next step.
    Request: OK; NONODE; EXPIRED.
    Effects: the request is to be deleted.
    Kafka:   KafkaController.updateAssignedReplicasForPartition, 1.0 to 2.3.
    """
    controller = s.brokers[b].controller
    if controller.doing != WRITING_TARGET or not is_next(controller.moving, p):
        return False

    answer = checked_set_topic(s.zk, b, p, controller, controller.epoch)
    if answer == EXPIRED:
        forget(controller)
    else:
        controller.doing = DELETING_REQUEST
    return True


def delete_listed(s, b: Broker, p: Partition):
    """A controller deletes the request that it has dealt with.

    Guards:  that is its next step.
    Request: OK; EXPIRED.
    Effects: the reassignment is over; a waiting deletion goes on.
    Kafka:   KafkaController.removePartitionFromReassignedPartitions, 1.0 to 1.1;
             removePartitionsFromReassignedPartitions, 2.0 to 2.3.
    """
    controller = s.brokers[b].controller
    if controller.doing != DELETING_REQUEST or not is_next(controller.moving, p):
        return False

    answer = checked_delete_request(s.zk, b, controller.epoch)
    if answer == EXPIRED:
        forget(controller)
    else:
        end_reassignment(controller, p)
    return True
