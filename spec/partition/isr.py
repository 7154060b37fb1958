"""ISR changes that a leader proposes to the controller, which writes them (KIP-497, 2.7 and later).

The controller compares epochs with what it remembers, refuses replicas of brokers that are not alive (KIP-841, 3.3+;
log directories do not count), and writes on the version of its cache. A refusal changes nothing and is no step. Equal
leader epochs imply that the version in the request is the cached one, except for requests sent twice, which contain
what a leader may propose anyway. After BADVERSION a leader proposes nothing more in its leader epoch;
`kafkaproof.spec.cluster.control`, where the leader has data, says so, and here it may go on proposing.
"""

from kafkaproof.spec.kafka.zookeeper import EXPIRED, FENCED, OK, Delivery
from kafkaproof.spec.language.domains import SetOf
from kafkaproof.spec.language.sets import contains, difference, is_empty
from kafkaproof.spec.partition.context import Broker, Partition, alive, forget, is_known, remember_leadership
from kafkaproof.spec.partition.network import proposable, proposed_epoch
from kafkaproof.spec.partition.progress import at_work
from kafkaproof.spec.partition.telling import tell_partition
from kafkaproof.spec.partition.zookeeper import checked_set_state

Isr = SetOf("brokers")


def is_accepted(controller, partition, sender, leader_epoch):
    """Whether the controller accepts a proposal of `sender`: it is live, and its leader epoch is the cached one."""
    return contains(controller.live, sender) and is_known(partition) and leader_epoch == partition.leader_epoch


def are_eligible(controller, isr):
    """Whether all members of a proposed ISR are live and not shutting down.

    Kafka: KafkaController.processAlterPartition, 3.3 to 3.9 (KIP-841).
    """
    return is_empty(difference(isr, alive(controller)))


def may_be_written(controller, partition, sender, leader_epoch, isr):
    """Whether the controller writes an ISR that `sender` proposes: it differs from the cached one, and its members are
    live.
    """
    if not at_work(controller) or not is_accepted(controller, partition, sender, leader_epoch):
        return False
    return isr != partition.isr and contains(isr, sender) and are_eligible(controller, isr)


def take_answer(controller, partition, sender, leader_epoch, isr, answer):
    """What the controller does with ZooKeeper's answer; on BADVERSION the cache stays, and nothing is read again."""
    if answer == OK:
        remember_leadership(partition, sender, isr, leader_epoch)
    elif answer == FENCED or answer == EXPIRED:
        forget(controller)


def alter_partition(s, b: Broker, p: Partition, sender: Broker, isr: Isr, delivery: Delivery):
    """A controller writes the ISR that a leader proposes.

    Guards:  `sender` believes that it leads and proposes another ISR, of replicas and including itself; the epoch in
             its proposal is the cached one; all members are eligible; `b` is at work.
    Request: OK; FENCED; BADVERSION when the cache is not the current version; EXPIRED; LOST.
    Effects: on OK the ISR in the cache is the new one, and every live broker is told; the leader (assumed to be the
             sender) and the leader epoch stay.
    Kafka:   KafkaController.processAlterIsr, 2.7 to 3.1; processAlterPartition, 3.2 to 3.9.
    """
    controller = s.brokers[b].controller
    cached = controller.partitions[p]
    epoch = proposed_epoch(s.network, p, sender)
    if not is_empty(difference(isr, proposable(s.network, p, cached))):
        return False
    if not may_be_written(controller, cached, sender, epoch, isr):
        return False

    answer = checked_set_state(s.zk, b, p, controller.epoch, sender, isr, epoch, delivery)
    take_answer(controller, cached, sender, epoch, isr, answer)
    if answer == OK:
        tell_partition(s, b, p, controller.live)
    return True
