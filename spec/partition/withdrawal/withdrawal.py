"""An operator deletes /admin/reassign_partitions by hand, and the controller hears of no later list (KAFKA-9478).

The controller's watch on the list fires once. It is set when a term begins, and again when the controller deletes the
list itself. A deletion by somebody else fires it, too, but nobody sets it again: PartitionReassignmentHandler handles
creations alone. Not modelled: a list that Kafka cannot read, which the controller leaves where it is.
"""

from kafkaproof.spec.kafka.zookeeper import Delivery
from kafkaproof.spec.language.combine import then
from kafkaproof.spec.language.sets import is_empty
from kafkaproof.spec.partition import failover, state
from kafkaproof.spec.partition.context import READING_STATES, Broker, Partition
from kafkaproof.spec.partition.triggers import delete_request as delete_what_is_dealt_with
from kafkaproof.spec.partition.triggers import reassignment as take_up
from kafkaproof.spec.partition.triggers import request_dealt_with
from kafkaproof.spec.partition.withdrawal.zookeeper import ZOOKEEPER, fire_on_list, hears, watch_list
from kafkaproof.spec.partition.znodes import REASSIGN_REQUEST
from kafkaproof.spec.partition.zookeeper import listed, remove

STATE = state.STATE.changed(zk=(ZOOKEEPER, "ZooKeeper"))


def watch_at_first(s, b):
    """After the last state the watch on /admin/reassign_partitions is set (KafkaController.onControllerFailover)."""
    controller = s.brokers[b].controller
    if controller.epoch > 0 and controller.doing != READING_STATES:
        watch_list(s.zk, b)


load_state = then(failover.load_state, watch_at_first)


def reassignment(s, b: Broker, p: Partition):
    """A controller finds that the target of a reassignment is in the ISR, and has a replica of the target elected.

    Guards:  those of `triggers.reassignment`; its watch has reported the list.
    Effects: those of `triggers.reassignment`.
    Kafka:   KafkaController.PartitionReassignment, 1.1 to 2.2; KafkaController.processPartitionReassignment, 2.3;
             KafkaController.processZkPartitionReassignment, 2.4 to 3.9.
    """
    if not hears(s.zk, b) or not take_up(s, b, p):
        return False

    return True


def delete_request(s, b: Broker, delivery: Delivery):
    """A controller deletes the request, or the notifications, that it has dealt with.

    Guards:  those of `triggers.delete_request`.
    Request: see there.
    Effects: its effects; when the list is deleted its watch is set again.
    Kafka:   KafkaController.removePartitionFromReassignedPartitions, 1.1; removePartitionsFromReassignedPartitions, 2.0
             to 2.3; maybeRemoveFromZkReassignment, 2.4 to 3.9.
    """
    ends = request_dealt_with(s.brokers[b].controller) == REASSIGN_REQUEST
    if not delete_what_is_dealt_with(s, b, delivery):
        return False

    if ends and s.brokers[b].controller.epoch > 0:
        watch_list(s.zk, b)
    return True


def withdraw_list(s):
    """An operator deletes /admin/reassign_partitions.

    Guards:  it exists.
    Effects: it is gone, and so are the watches on it.
    """
    if is_empty(listed(s.zk)):
        return False

    remove(s.zk, REASSIGN_REQUEST)
    fire_on_list(s.zk)
    s.zk.faults += 1
    return True
