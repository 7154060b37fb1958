"""ISR changes that a leader proposes to the controller, which writes them (KIP-497, 2.7 and later).

What the controller answers is in `verdicts`. Whatever it answers, it tells all brokers of the partition; where brokers
keep what they are told (`metadata`), a refusal is a step. Equal leader epochs imply that the version in the request is the
cached one, except for requests sent twice, which contain what a leader may propose anyway. After BADVERSION a leader
proposes nothing more in its leader epoch; `kafkaproof.spec.cluster.control`, where the leader has data, says so, and here
it may go on proposing.
"""

from kafkaproof.spec.kafka.zookeeper import FENCED, LOST, OK, Delivery
from kafkaproof.spec.language.domains import SetOf
from kafkaproof.spec.language.sets import contains, difference, is_empty
from kafkaproof.spec.partition.context import NO_EPOCH, Broker, Partition, remember_leadership
from kafkaproof.spec.partition.network import proposable, proposed_epoch
from kafkaproof.spec.partition.progress import at_work
from kafkaproof.spec.partition.telling import tell_partition
from kafkaproof.spec.partition.verdicts import NONE, SAME, alter_error, is_there
from kafkaproof.spec.partition.zookeeper import checked_set_state

Isr = SetOf("brokers")


def may_be_written(controller, partition, sender, leader_epoch, isr):
    """Whether the controller writes an ISR that `sender` proposes: it is none that is there already, and in order.

    The version in the request is the cached one: as long as it is not written, the leader knows no later one.
    """
    if alter_error(controller, partition, sender, leader_epoch, isr, SAME) != NONE:
        return False
    return not is_there(partition, sender, isr) and contains(isr, sender)


def end_change(s, b, p):
    """An ISR is written: every live broker is told."""
    tell_partition(s, b, p, s.brokers[b].controller.live)


def confirm_change(s, b, p):
    """A leader is answered that its ISR is there already: what follows is what follows when it is written.

    Kafka: KafkaController.processAlterIsr, 2.7 to 3.1; processAlterPartition, 3.2 to 3.9 (whose answer has no error).
    """
    end_change(s, b, p)


def answer_leader(s, b, p, answer):
    """A leader is answered that its ISR was not written, and why; the controller goes on, also one that another has
    followed. Every live broker is told of the partition all the same, but where the write has met the fence, which ends the
    work on the request; an answer that is lost is still waited for.

    Kafka: KafkaController.processAlterIsr, 2.7 to 3.1; processAlterPartition, 3.2 to 3.9.
    """
    if answer != FENCED and answer != LOST:
        tell_partition(s, b, p, s.brokers[b].controller.live)


def alter_partition(s, b: Broker, p: Partition, sender: Broker, isr: Isr, delivery: Delivery):
    """A controller writes the ISR that a leader proposes.

    Guards:  `sender` believes that it leads and proposes another ISR, of replicas and including itself; `b` is at work,
             and has no error for it: the epoch in the proposal is the cached one, and all members are eligible.
    Request: OK; FENCED; BADVERSION when the cache is not the current version; EXPIRED; LOST.
    Effects: on OK the ISR in the cache is the new one, and every live broker is told; the leader (assumed to be the
             sender) and the leader epoch stay; on BADVERSION nothing is read again; the brokers are told then, too, and
             on EXPIRED; on FENCED the term goes on.
    Kafka:   KafkaController.processAlterIsr, 2.7 to 3.1; processAlterPartition, 3.2 to 3.9.
    """
    controller = s.brokers[b].controller
    cached = controller.partitions[p]
    if not at_work(controller):
        return False
    epoch = proposed_epoch(s.network, p, sender)
    if not is_empty(difference(isr, proposable(s.network, p, cached))):
        return False
    if not may_be_written(controller, cached, sender, epoch, isr):
        return False

    answer = checked_set_state(s.zk, b, p, controller.epoch, sender, isr, epoch, delivery)
    if answer == OK:
        remember_leadership(cached, sender, isr, epoch)
        end_change(s, b, p)
    else:
        answer_leader(s, b, p, answer)
    return True


def refuse_change(s, b: Broker, p: Partition, sender: Broker):
    """A controller refuses the ISR that a leader proposes, or has it already.

    Guards:  `sender` believes that it leads, and may propose such an ISR; `b` is at work, and knows `sender` as live.
    Effects: every live broker is told of the partition. (Not modelled: where the ISR is there already, Kafka also looks at a
             reassignment of the partition, as `cluster.control.confirm_isr` does. It has looked at one before, when that
             ISR was written in this leader epoch, or when the term began.)
    Kafka:   KafkaController.processAlterIsr, 2.7 to 3.1; processAlterPartition, 3.2 to 3.9.
    """
    controller = s.brokers[b].controller
    if not at_work(controller) or not contains(controller.live, sender):
        return False
    if proposed_epoch(s.network, p, sender) == NO_EPOCH:
        return False

    answer_leader(s, b, p, OK)
    return True
