"""What happens to reassignments when reigns begin, brokers come, and topics are to be deleted."""

from kafkaproof.spec.language.sets import contains, intersection, union
from kafkaproof.spec.partition.context import DELETING_REQUEST, READING_STATES, REASSIGN, Broker, Partition, is_queued
from kafkaproof.spec.partition.creation import known_partitions
from kafkaproof.spec.partition.deletion.brokers import broker_startup as take_in_brokers
from kafkaproof.spec.partition.deletion.brokers import load_state as load
from kafkaproof.spec.partition.deletion.deletion import topic_deletion as queue_topics
from kafkaproof.spec.partition.deletion.zookeeper import topics_of
from kafkaproof.spec.partition.progress import at_work
from kafkaproof.spec.partition.reassignment.progress import is_reassigned, look_later, reassigned, reassigned_to
from kafkaproof.spec.partition.zookeeper import is_moved


def keep_from_deletion(controller, topics):
    """Topics that are queued for deletion are ineligible: a partition of each is being reassigned."""
    controller.ineligible = union(controller.ineligible, intersection(controller.deleting, topics))


def load_state(s, b: Broker, p: Partition):
    """A new controller reads a partition's assignment and state.

    Guards:  those of `load_state` of a deletion.
    Request: its answers.
    Effects: its effects; after the last the reassignments that the topic znodes tell of are resumed; topics that are
             queued for deletion wait for them.
    Kafka:   see there; KafkaController.initializePartitionReassignments, maybeResumeReassignments, 2.4 to 3.9.
    """
    controller = s.brokers[b].controller
    if not load(s, b, p):
        return False

    if controller.epoch > 0 and controller.doing != READING_STATES:
        keep_from_deletion(controller, topics_of(s.zk, reassigned(controller)))
        look_later(controller, reassigned(controller))
    return True


def broker_startup(s, b: Broker):
    """A controller takes in the brokers that came.

    Guards:  those of `broker_startup` of a deletion.
    Effects: its effects; reassignments whose target has a replica there are resumed. (A topic that is queued for
             deletion is ineligible no longer, though it be reassigned.)
    Kafka:   see there; KafkaController.onBrokerStartup, maybeResumeReassignments, 2.4 to 3.9.
    """
    controller = s.brokers[b].controller
    joined = controller.joined
    if not take_in_brokers(s, b):
        return False

    look_later(controller, reassigned_to(controller, joined))
    return True


def topic_deletion(s, b: Broker):
    """A controller hears of topics that are to be deleted.

    Guards:  those of `topic_deletion` of a deletion.
    Effects: its effects; a topic with a partition that is being reassigned is ineligible for deletion.
    Kafka:   see there; KafkaController.processTopicDeletion, 2.4 to 3.9.
    """
    controller = s.brokers[b].controller
    if not queue_topics(s, b):
        return False

    keep_from_deletion(controller, topics_of(s.zk, reassigned(controller)))
    return True


def drop_reassignment(s, b: Broker, p: Partition):
    """A controller finds a request to reassign a partition of a topic that is to be deleted, or that it does not know.

    Guards:  there is one; `b` is at work, and does not reassign `p`.
    Effects: it is to be deleted.
    Kafka:   KafkaController.processZkPartitionReassignment, 2.4 to 3.9.
    """
    controller = s.brokers[b].controller
    known = contains(known_partitions(controller), p)
    if not at_work(controller) or not is_moved(s.zk, p) or known and not is_queued(controller, p):
        return False
    if is_reassigned(controller.partitions[p]):
        return False

    controller.strategy = REASSIGN
    controller.doing = DELETING_REQUEST
    return True
