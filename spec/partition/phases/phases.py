"""The reassignment of partitions in two phases, up to 2.3, as /admin/reassign_partitions asks for it.

The first phase writes old and new replicas into the topic znode and sends them LeaderAndIsr; the second, once the
target is in the ISR, moves the leader, stops the old replicas, writes the target, and takes the partition off the list.
A reassignment that has begun cannot be cancelled. A new controller reads the list, and takes it up like a new one.

`lists` has what begins and ends a reassignment. Not modelled: that a watch on the state, once it has fired in vain, waits
for the next change.
"""

from kafkaproof.spec.kafka.assignment import append_members
from kafkaproof.spec.kafka.state_machines import (
    NEW_REPLICA,
    NON_EXISTENT_REPLICA,
    ONLINE_PARTITION,
    ONLINE_REPLICA,
    partition_move_is_legal,
)
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.kafka.zookeeper import EXPIRED, FENCED, LOST, OK, Delivery
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty, only, with_member
from kafkaproof.spec.partition.context import (
    REASSIGN,
    Broker,
    Partition,
    clear,
    copy,
    drop_result,
    has_leader,
    is_known,
    remember_leadership,
    remember_result,
)
from kafkaproof.spec.partition.deletion.progress import move
from kafkaproof.spec.partition.machines import prepare
from kafkaproof.spec.partition.phases.network import name_replicas
from kafkaproof.spec.partition.phases.progress import end, fail, take_off
from kafkaproof.spec.partition.phases.state import RAISING
from kafkaproof.spec.partition.phases.zookeeper import is_in_isr
from kafkaproof.spec.partition.progress import at_work, give_up, is_next, proceed
from kafkaproof.spec.partition.reassignment.progress import look_later
from kafkaproof.spec.partition.reassignment.state import CHECKING, TELLING, WRITING_ASSIGNMENT, WRITING_TARGET
from kafkaproof.spec.partition.reassignment.zookeeper import checked_set_assignments
from kafkaproof.spec.partition.telling import send_leadership, tell_partition
from kafkaproof.spec.partition.zookeeper import get_state, read_state


def caught_up(s, b: Broker, p: Partition):
    """A controller is notified that the target of a reassignment is in the ISR.

    Guards:  it is; `b` is at work.
    Effects: the reassignment is to be checked.
    Kafka:   KafkaController.PartitionReassignmentIsrChange, 0.11 to 2.2;
             KafkaController.processPartitionReassignmentIsrChange, 2.3.
    """
    controller = s.brokers[b].controller
    aim = controller.partitions[p].aim
    if not at_work(controller) or aim.length == 0 or not is_in_isr(s.zk, p, replicas_of(aim)):
        return False

    look_later(controller, only(p))
    return True


def check_target(s, b: Broker, p: Partition):
    """A controller reads the state of a partition that is to be reassigned.

    Guards:  that is its next step.
    Request: OK; NONODE; EXPIRED.
    Effects: with the target in the ISR the second phase begins; otherwise, or without a state, the first: target and old
             replicas are to be written.
    Kafka:   KafkaController.onPartitionReassignment, 0.8 to 2.3.
    """
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    if controller.doing != CHECKING or not is_next(controller.moving, p):
        return False

    answer = get_state(s.zk, b, p, controller.result)
    caught = answer == OK and is_caught_up(partition, controller.result.isr)
    drop_result(controller)
    if answer == EXPIRED:
        give_up(s, b, answer)
    elif caught:
        begin_second(s, b, p)
    else:
        plan_union(controller, partition)
        controller.doing = WRITING_ASSIGNMENT
    return True


def is_caught_up(partition, isr):
    """Whether the target of a reassignment is in an ISR.

    Kafka: KafkaController.areReplicasInIsr, 0.8 to 2.3.
    """
    return is_empty(difference(replicas_of(partition.aim), isr))


def plan_union(controller, partition):
    """The assignment is the target, then the other replicas (in Kafka in the order of a set)."""
    clear(controller.target)
    append_members(partition.aim, replicas_of(partition.aim), controller.target)
    append_members(partition.assignment, replicas_of(partition.assignment), controller.target)
    copy(controller.target, partition.assignment)
    clear(controller.target)


def begin_second(s, b, p):
    """The replicas of the target are Online, and the target is the assignment in memory: the others are to be stopped,
    once one of the target leads, or the leader epoch is raised.

    Kafka: KafkaController.moveReassignedPartitionLeaderIfRequired, 0.8 to 2.3.
    """
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    move(controller, p, replicas_of(partition.aim), ONLINE_REPLICA)
    if not is_known(partition):
        fail(s, b)
    else:
        controller.finishing = 1
        controller.removed = difference(replicas_of(partition.assignment), replicas_of(partition.aim))
        controller.replicas = controller.removed
        copy(partition.aim, controller.target)
        copy(partition.aim, partition.assignment)
        if has_leader(controller, partition) and contains(replicas_of(partition.aim), partition.leader):
            controller.doing = RAISING
        else:
            controller.strategy = REASSIGN
            if partition_move_is_legal(partition.state, ONLINE_PARTITION):
                controller.todo = only(p)
            proceed(controller)


def write_union(s, b: Broker, p: Partition, delivery: Delivery):
    """A controller writes target and old replicas as the assignment, in the first phase.

    Guards:  that is its next step.
    Request: OK; NONODE; FENCED; EXPIRED; LOST.
    Effects: the leader epoch is to be raised; on NONODE the reassignment fails; on LOST it retries; on FENCED the term
             is over.
    Kafka:   KafkaController.updateAssignedReplicasForPartition, 0.8 to 2.3 (up to 1.1 the context changes after the
             write).
    """
    controller = s.brokers[b].controller
    if controller.doing != WRITING_ASSIGNMENT or not is_next(controller.moving, p):
        return False

    answer = checked_set_assignments(s.zk, b, p, controller, controller.epoch, delivery)
    if answer == FENCED or answer == EXPIRED:
        give_up(s, b, answer)
    elif answer == OK:
        controller.doing = RAISING
    elif answer != LOST:
        fail(s, b)
    return True


def read_leader_epoch(s, b: Broker, p: Partition):
    """A controller reads the state whose leader epoch it is to raise.

    Guards:  that is its next step.
    Request: OK; NEWER when a controller of a higher epoch wrote it; NONODE; EXPIRED.
    Effects: the state is to be written with the next leader epoch; on NEWER and NONODE the reassignment fails.
    Kafka:   KafkaController.updateLeaderEpoch, 0.8.1 to 2.3.
    """
    controller = s.brokers[b].controller
    if controller.doing != RAISING or not is_next(controller.moving, p):
        return False

    answer = read_state(s.zk, b, p, controller.epoch, controller.result)
    if answer == EXPIRED:
        give_up(s, b, answer)
    elif answer == OK:
        prepare(controller.result, controller.result.leader, controller.result.isr)
        controller.doing = TELLING
    else:
        fail(s, b)
    return True


def read_again(controller):
    """Another has written the state meanwhile: it is to be read again."""
    controller.doing = RAISING


def tell_raised(s, b, p):
    """LeaderAndIsr with the raised leader epoch is sent to the replicas that it names: to the old and the new in the first
    phase, to the target in the second. (In Kafka the second goes to the old ones, too: a broker that a request does not
    name learns the controller epoch from it, and nothing else.) The controller goes on remembering the former leader epoch,
    and UpdateMetadata says that one.

    Kafka: KafkaController.updateLeaderEpochAndSendRequest, updateLeaderEpoch, 0.8.1 to 2.3;
           ReplicaManager.becomeLeaderOrFollower, 0.8.1 to 2.3;
           ControllerBrokerRequestBatch.addUpdateMetadataRequestForBrokers, 0.8.1 to 2.2;
           AbstractControllerBrokerRequestBatch.addUpdateMetadataRequestForBrokers, 2.3.
    """
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    leader = partition.leader
    isr = partition.isr
    leader_epoch = partition.leader_epoch
    remember_result(controller, partition)
    name_replicas(s.network, p, partition)
    send_leadership(s, b, p, intersection(replicas_of(partition.assignment), controller.live))
    remember_leadership(partition, leader, isr, leader_epoch)
    tell_partition(s, b, p, controller.live)


def end_telling(controller, p):
    """LeaderAndIsr is sent. In the first phase new replicas are New, and the reassignment waits for the ISR; in the
    second the old ones go offline.
    """
    partition = controller.partitions[p]
    if controller.finishing:
        proceed(controller)
    else:
        move(controller, p, new_replicas(partition), NEW_REPLICA)
        end(controller, p)


def new_replicas(partition):
    """The replicas of the target that are not there yet."""
    found = 0
    for r in range(len(partition.replicas)):
        if contains(replicas_of(partition.aim), r) and partition.replicas[r] == NON_EXISTENT_REPLICA:
            found = with_member(found, r)
    return found


def write_target(s, b: Broker, p: Partition, delivery: Delivery):
    """A controller writes the target as the assignment, in the second phase.

    Guards:  that is its next step.
    Request: OK; NONODE; FENCED; EXPIRED; LOST.
    Effects: the partition is to be taken off the list; on NONODE the reassignment fails; on LOST it retries; on FENCED
             the term is over.
    Kafka:   KafkaController.updateAssignedReplicasForPartition, 0.8 to 2.3.
    """
    controller = s.brokers[b].controller
    if controller.doing != WRITING_TARGET or not is_next(controller.moving, p):
        return False

    answer = checked_set_assignments(s.zk, b, p, controller, controller.epoch, delivery)
    if answer == FENCED or answer == EXPIRED:
        give_up(s, b, answer)
    elif answer == OK:
        take_off(controller)
    elif answer != LOST:
        fail(s, b)
    return True
