"""What running controllers did in recordings up to format 8, beside the rules of `kafkaproof.spec.partition.history.recordings`."""

from kafkaproof.spec.cluster import reassignment
from kafkaproof.spec.cluster.model import reassigning
from kafkaproof.spec.kafka.declarations import asking
from kafkaproof.spec.kafka.placement import assign_among
from kafkaproof.spec.kafka.zookeeper import EXPIRED, LOST_DROPPED, NONODE, OK, Delivery, outcome
from kafkaproof.spec.language.sets import intersection, is_empty, only
from kafkaproof.spec.partition.context import Broker, Partition, is_queued
from kafkaproof.spec.partition.creation.creation import Partitions, live_brokers
from kafkaproof.spec.partition.deletion.zookeeper import topics_of
from kafkaproof.spec.partition.expansion import properties as topic_expansion
from kafkaproof.spec.partition.expansion.model import EVENTS
from kafkaproof.spec.partition.expansion.zookeeper import add_to_topic, in_use, partitions_beside
from kafkaproof.spec.partition.progress import at_work
from kafkaproof.spec.partition.reassignment.plans import is_ready
from kafkaproof.spec.partition.reassignment.progress import is_reassigned, look_later, reassigned
from kafkaproof.spec.partition.zookeeper import session_open


def caught_up(s, b: Broker, p: Partition):
    """A controller at work finds that the target of a reassignment is in the ISR that it remembers, and looks at it."""
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    if not at_work(controller) or not is_reassigned(partition) or not is_ready(partition, partition.isr):
        return False

    look_later(controller, only(p))
    return True


def expand_topic(zk, b, p, new, replicas, start, live, delivery):
    """setData of the topic znode of a partition, with more partitions: OK, NONODE, EXPIRED or LOST."""
    if not session_open(zk, b):
        return EXPIRED
    answer = OK if zk.assignments[p].length > 0 else NONODE
    if answer == OK and delivery != LOST_DROPPED:
        assign_among(zk, zk, new, partitions_beside(zk, p), replicas, start, start, live)
        add_to_topic(zk, new, p)
    return outcome(zk, answer, delivery)


def add_partitions(s, b: Broker, p: Partition, new: Partitions, start: Broker, delivery: Delivery):
    """A controller at work adds partitions to a topic in one step, by what it remembers, on the brokers that it knows."""
    controller = s.brokers[b].controller
    replicas = controller.partitions[p].assignment.length
    if not at_work(controller) or replicas == 0 or replicas > live_brokers(controller) or is_queued(controller, p):
        return False
    if is_empty(new) or not is_empty(intersection(new, in_use(s.zk))):
        return False
    if not is_empty(intersection(reassigned(controller), topics_of(s.zk, only(p)))):
        return False

    expand_topic(s.zk, b, p, new, replicas, start, controller.live, delivery)
    return True


ADDING_AT_ONCE = reassigning(asking(add_partitions) + EVENTS, topic_expansion.with_expansions, reassignment.STATE)
"""The cluster of recordings up to format 8."""
