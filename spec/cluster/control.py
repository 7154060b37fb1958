"""What the control plane does, and what that means for the data plane of the partition.

Each transition has the name of one of `partition`, or is one that `partition` leaves out because there a leader may
propose any ISR: the controller's answers to a proposal.
"""

from kafkaproof.spec.cluster.network import isr_in
from kafkaproof.spec.cluster.zookeeper import is_not_older, note_state, note_written
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.kafka.zookeeper import BADVERSION, OK, Delivery
from kafkaproof.spec.language.combine import then
from kafkaproof.spec.language.domains import SetOf
from kafkaproof.spec.language.sets import difference, is_empty
from kafkaproof.spec.partition import machines
from kafkaproof.spec.partition.context import Broker, Partition, remember_leadership
from kafkaproof.spec.partition.isr import answer_leader, confirm_change, end_change, may_be_written
from kafkaproof.spec.partition.network import leader_in, proposed_epoch
from kafkaproof.spec.partition.replica import Epoch
from kafkaproof.spec.partition.replica import leader_and_isr as accept_request
from kafkaproof.spec.partition.verdicts import INELIGIBLE_REPLICA, NEWER, NONE, SAME, alter_error, is_there
from kafkaproof.spec.partition.zookeeper import checked_set_state
from kafkaproof.spec.replica.clients.network import commit
from kafkaproof.spec.replica.leader import learn_refusal
from kafkaproof.spec.replica.network import grant, is_proposed, leave_leader, refuse, send_first, withdraw
from kafkaproof.spec.replica.replica import obey

Isr = SetOf("brokers")


create_first_state = then(machines.create_first_state, note_written)
write_leader = then(machines.write_leader, note_written)
write_removal = then(machines.write_removal, note_written)


def alter_partition(s, b: Broker, p: Partition, sender: Broker, isr: Isr, delivery: Delivery):
    """A controller writes the ISR that a leader proposes.

    Guards:  those of `isr.alter_partition`; the leader has proposed this ISR.
    Request: its answers.
    Effects: its effects; OK and BADVERSION are passed on to the leader. After BADVERSION it proposes nothing more in
             its leader epoch, even where that version comes from an earlier write of its own proposal, whose answer was
             lost.
    Kafka:   KafkaController.processAlterIsr, 2.7 to 3.1; Partition.handleAlterIsrResponse, 2.7 to 3.0;
             handleAlterIsrError, 3.1; KafkaController.processAlterPartition, Partition.handleAlterPartitionError, 3.2
             to 3.9.
    """
    controller = s.brokers[b].controller
    cached = controller.partitions[p]
    epoch = proposed_epoch(s.network, p, sender)
    if not is_empty(difference(isr, replicas_of(cached.assignment))):
        return False
    if not is_proposed(s.planes[p].network, sender, isr) or not may_be_written(controller, cached, sender, epoch, isr):
        return False

    answer = checked_set_state(s.zk, b, p, controller.epoch, sender, isr, epoch, delivery)
    note_state(s.planes[p], s.zk.partitions[p])
    if answer == OK:
        remember_leadership(cached, sender, isr, epoch)
        end_change(s, b, p)
        grant(s.planes[p].network, sender)
    else:
        answer_leader(s, b, p, answer)
    if answer == BADVERSION:
        refuse(s.planes[p].network, sender)
    return True


def confirm_isr(s, b: Broker, p: Partition, sender: Broker):
    """A controller answers a leader that its proposed ISR is written already, in another term.

    Guards:  `b` is at work; the proposal is accepted, and is the cached ISR, whose version is not older than the
             one that the leader knows.
    Effects: the leader has the answer; every live broker is told of the partition, and a reassignment whose target is in
             the ISR goes on, as when the ISR is written.
    Kafka:   KafkaController.processAlterIsr, LeaderAndIsr.equalsIgnoreZk, 2.7 to 3.1;
             KafkaController.processAlterPartition, 3.2 to 3.9; LeaderAndIsr.equalsAllowStalePartitionEpoch, 3.3 to
             3.9.
    """
    controller = s.brokers[b].controller
    cached = controller.partitions[p]
    if not is_proposed(s.planes[p].network, sender, cached.isr) or not is_there(cached, sender, cached.isr):
        return False
    version = SAME if is_not_older(s.zk, b, p) else NEWER
    if alter_error(controller, cached, sender, proposed_epoch(s.network, p, sender), cached.isr, version) != NONE:
        return False

    grant(s.planes[p].network, sender)
    confirm_change(s, b, p)
    return True


def is_refused(s, b, p, sender, isr):
    """Whether controller `b` refuses a proposed ISR for an ineligible member: it is not there already, and has no other
    fault.
    """
    controller = s.brokers[b].controller
    if not is_proposed(s.planes[p].network, sender, isr):
        return False
    epoch = proposed_epoch(s.network, p, sender)
    return alter_error(controller, controller.partitions[p], sender, epoch, isr, SAME) == INELIGIBLE_REPLICA


def refuse_isr(s, sender: Broker, p: Partition, b: Broker, isr: Isr):
    """A controller refuses a proposed ISR because it believes that a new member is dead or shutting down.

    This is one step with the leader's handling of the answer: a late answer would only keep it waiting.

    Guards:  `b` is at work; the proposal is in order, is not there already, and has a member that is not eligible.
    Effects: the old ISR stays; the high watermark rises if it can.
    Kafka:   KafkaController.processAlterPartition (INELIGIBLE_REPLICA), 3.3 to 3.9 (KIP-841).
    """
    if not is_refused(s, b, p, sender, isr):
        return False
    if not learn_refusal(s.planes[p], sender):
        return False

    return True


def leader_and_isr(s, b: Broker, epoch: Epoch, p: Partition):
    """A broker receives LeaderAndIsr: it leads or follows, unless it has seen higher epochs.

    Guards:  those of `replica.leader_and_isr` of `partition`.
    Effects: its effects; a new leader epoch is obeyed: a leader begins with the ISR in the request, a follower fetches
             from its log end on.
    Kafka:   ReplicaManager.becomeLeaderOrFollower, Partition.makeLeader, makeFollower, 2.7 to 3.9.
    """
    known = s.brokers[b].replicas[p].leader_epoch
    leader = leader_in(s.network, epoch, p)
    isr = isr_in(s.network, epoch, p)
    if not accept_request(s, b, epoch, p):
        return False

    replica = s.planes[p].brokers[b]
    leader_epoch = s.brokers[b].replicas[p].leader_epoch
    if leader_epoch > known:
        withdraw(s.planes[p].network, b)
        leave_leader(s.planes[p].network, b)
        if obey(replica, b, leader, leader_epoch, isr):
            send_first(s.planes[p].network, b, replica)
        elif leader == b:
            commit(s.planes[p].clients, s.planes[p].zk, b, replica)
    return True
