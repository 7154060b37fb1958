"""The automatic rebalance: leadership goes back to the preferred replicas, one preferred broker after another.

The partitions that prefer a broker are its group. It acts on a group when the share of those with another leader
exceeds leader.imbalance.per.broker.percentage, which is 50 here, since groups are small: one partition of two is just
not enough. Kafka's default is 10.
"""

from kafkaproof.spec.kafka.strategies import is_imbalanced, may_rebalance, prefers
from kafkaproof.spec.language.sets import union, with_member
from kafkaproof.spec.partition.context import PREFERRED, Broker, is_known, is_queued, online
from kafkaproof.spec.partition.progress import at_work, proceed

PERCENTAGE = 50


def rebalance(s, b: Broker):
    """The timer of the automatic rebalance fires: leaders are to move in each group that is out of balance.

    Guards:  `b` is at work, and no partition is being reassigned (up to 3.3).
    Effects: the partitions of these groups that may be moved are to be elected, if there are any.
    Kafka:   KafkaController.checkAndTriggerPartitionRebalance, 0.8.1 to 0.10.2; checkAndTriggerAutoLeaderRebalance,
             0.11 to 3.9.
    """
    controller = s.brokers[b].controller
    if not at_work(controller) or is_barred(s, b):
        return False

    controller.strategy = PREFERRED
    for preferred in range(len(controller.partitions[0].replicas)):
        if is_out_of_balance(controller, preferred):
            controller.todo = union(controller.todo, to_rebalance(controller, preferred))
    proceed(controller)
    return True


def is_barred(s, b):
    """Whether no leader is moved while a partition is being reassigned: that ended with 3.3.

    Kafka: KafkaController.checkAndTriggerAutoLeaderRebalance, 3.4 to 3.9.
    """
    return False


def is_in_group(controller, p, preferred):
    """Whether a partition prefers a broker; those of a topic that is queued for deletion do not count."""
    return prefers(controller.partitions[p].assignment, preferred) and not is_queued(controller, p)


def group_size(controller, preferred):
    """How many partitions prefer a broker."""
    size = 0
    for p in range(len(controller.partitions)):
        if is_in_group(controller, p, preferred):
            size += 1
    return size


def is_out_of_balance(controller, preferred):
    """Whether too many partitions that prefer a broker are led by another."""
    led_by_others = 0
    for p in range(len(controller.partitions)):
        partition = controller.partitions[p]
        elsewhere = is_known(partition) and partition.leader != preferred
        if elsewhere and is_in_group(controller, p, preferred):
            led_by_others += 1
    return is_imbalanced(group_size(controller, preferred), led_by_others, PERCENTAGE)


def to_rebalance(controller, preferred):
    """The partitions that prefer a broker and may be moved to it."""
    found = 0
    for p in range(len(controller.partitions)):
        partition = controller.partitions[p]
        movable = may_rebalance(partition.assignment, partition.isr, online(controller, partition), partition.leader)
        if movable and is_in_group(controller, p, preferred):
            found = with_member(found, p)
    return found
