"""Partitions of 1.1 to 2.0: leaders write the ISR themselves, and nothing checks a controller's writes.

A controller that was deposed in the middle of an event goes on: what it writes is compared with the version
that it read, and its successor, who has read the same version, has changed nothing. So the write lands
(KAFKA-6082). The brokers obey the successor and refuse the zombie's request: ZooKeeper names a leader
that nobody obeys, and the successor's context is not what ZooKeeper holds.

There are no broker epochs either: a broker that goes and comes between two looks was never away, and obeys
what was sent to its former process. Leaders tell of a new ISR by a notification, which the controller reads,
with the state, and deletes. Not modelled: the order of 1.1 to 2.1 in which one event's brokers come and go.
"""

from spec.language.sets import contains, difference, is_empty
from spec.partition.context import NO_EPOCH, Broker, Partition, drop_result, forget, remember_result
from spec.partition.events import at_work
from spec.partition.isr import Isr
from spec.partition.strategies import replicas_of
from spec.partition.zookeeper import isr_changed, set_isr, take_notification
from spec.zookeeper import EXPIRED, OK


def change_isr(s, b: Broker, p: Partition, isr: Isr):
    """A leader writes the ISR that it wishes, on the version that it knows.

    Guards:  `b` believes to lead; the ISR is of replicas, and holds itself.
    Request: OK; BADVERSION; EXPIRED.
    Effects: none in the model; on OK it has told of it.
    Kafka:   Partition.updateIsr, ReplicationUtils.updateLeaderAndIsr, 0.8 to 2.6.
    """
    broker = s.brokers[b]
    replica = broker.replicas[p]
    if not broker.up or replica.leader != b or not contains(isr, b):
        return False
    if not is_empty(difference(isr, replicas_of(broker.assignment))):
        return False

    set_isr(s.zk, b, p, replica.leader_epoch, isr)
    return True


def isr_notification(s, b: Broker, p: Partition):
    """A controller reads the state that a leader has changed, and deletes the notification.

    Guards:  there is a notification; `b` is at work, and knows of `p`.
    Request: OK; NONODE; EXPIRED.
    Effects: the cache is what was read.
    Kafka:   KafkaController.processIsrChangeNotification, 1.1 to 2.6.
    """
    controller = s.brokers[b].controller
    if not at_work(controller) or not isr_changed(s.zk, p) or controller.partitions[p].leader_epoch == NO_EPOCH:
        return False

    answer = take_notification(s.zk, b, p, controller.result)
    if answer == OK:
        remember_result(controller, controller.partitions[p])
        drop_result(controller)
    elif answer == EXPIRED:
        forget(controller)
    return True
