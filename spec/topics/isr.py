"""ISR changes that a leader proposes to the controller, which writes them (KIP-497, 2.7 and later).

`partition` models refusals and epochs; here the leader of the current epoch proposes any ISR that includes itself.
"""

from kafkaproof.spec.kafka.zookeeper import EXPIRED, FENCED, OK
from kafkaproof.spec.language.domains import NOBODY, SetOf
from kafkaproof.spec.language.sets import contains, difference, is_empty
from kafkaproof.spec.partition.progress import at_work
from kafkaproof.spec.partition.zookeeper import session_open
from kafkaproof.spec.topics.context import Broker, Partition, forget
from kafkaproof.spec.topics.fencing import checked_set_isr
from kafkaproof.spec.topics.network import named
from kafkaproof.spec.topics.reassignment import look_again
from kafkaproof.spec.topics.zookeeper import epoch_of, isr_of, leader_of

Isr = SetOf("brokers")


def alter_partition(s, b: Broker, p: Partition, isr: Isr):
    """A controller writes the ISR that the leader proposes.

    Guards:  the leader is live; it proposes another ISR, of live replicas that it knows, including itself; `b`
             remembers its leader epoch, and is at work.
    Request: OK; FENCED; BADVERSION; EXPIRED.
    Effects: on OK a reassignment whose target is then in the ISR is checked in the same event. Here the context has no
             ISR.
    Kafka:   KafkaController.processAlterIsr, 2.7 to 3.1; processAlterPartition, 3.2 to 3.9.
    """
    controller = s.brokers[b].controller
    leader = leader_of(s.zk, p)
    if not at_work(controller) or leader == NOBODY or controller.partitions[p].leader_epoch != epoch_of(s.zk, p):
        return False
    if not contains(isr, leader) or isr == isr_of(s.zk, p) or not session_open(s.zk, leader):
        return False
    if not is_empty(difference(isr, named(s.network, p))) or not is_empty(difference(isr, controller.live)):
        return False

    answer = checked_set_isr(s.zk, b, p, controller.epoch, isr, epoch_of(s.zk, p))
    if answer == FENCED or answer == EXPIRED:
        forget(controller)
    elif answer == OK:
        look_again(controller, p, isr)
    return True
