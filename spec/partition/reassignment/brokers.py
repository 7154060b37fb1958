"""How reassignments react when terms begin, brokers come, and topics are to be deleted."""

from kafkaproof.spec.language.combine import then
from kafkaproof.spec.language.sets import contains, intersection, only, union
from kafkaproof.spec.partition.context import DELETING_REQUEST, READING_STATES, REASSIGN, Broker, Partition, is_queued
from kafkaproof.spec.partition.creation.creation import known_partitions
from kafkaproof.spec.partition.deletion import brokers
from kafkaproof.spec.partition.deletion.brokers import broker_startup as take_in_brokers
from kafkaproof.spec.partition.deletion.deletion import topic_deletion as queue_topics
from kafkaproof.spec.partition.deletion.zookeeper import topics_of
from kafkaproof.spec.partition.progress import at_work
from kafkaproof.spec.partition.reassignment.progress import is_reassigned, look_later, reassigned, reassigned_to
from kafkaproof.spec.partition.reassignment.zookeeper import is_unknown_listed
from kafkaproof.spec.partition.zookeeper import is_moved


def keep_from_deletion(controller, topics):
    """Make topics that are queued for deletion ineligible: a partition of each is being reassigned."""
    controller.ineligible = union(controller.ineligible, intersection(controller.deleting, topics))


def keep_reassigned(s, b):
    """After the last state, topics that are queued for deletion wait for the reassignments in the topic znodes
    (KafkaController.fetchTopicDeletionsInProgress, 2.4 to 3.9).
    """
    controller = s.brokers[b].controller
    if controller.epoch > 0 and controller.doing != READING_STATES:
        keep_from_deletion(controller, topics_of(s.zk, reassigned(controller)))


load_state = then(brokers.load_state, keep_reassigned)


def broker_startup(s, b: Broker):
    """A controller takes in the brokers that came.

    Guards:  those of `broker_startup` of a deletion.
    Effects: its effects; reassignments whose target has a replica there are resumed. (A topic that is queued for
             deletion is no longer ineligible, even while it is being reassigned.)
    Kafka:   KafkaController.onBrokerStartup, 1.1 to 3.9; maybeResumeReassignments, 2.4 to 3.9.
    """
    controller = s.brokers[b].controller
    joined = controller.joined
    if not take_in_brokers(s, b):
        return False

    look_later(controller, reassigned_to(controller, joined))
    return True


def topic_deletion(s, b: Broker):
    """A controller is notified of topics that are to be deleted.

    Guards:  those of `topic_deletion` of a deletion.
    Effects: its effects, also for a topic that is being reassigned: it is looked for among the queued topics before it is
             queued itself. Only those that were queued before are ineligible while they are being reassigned.
    Kafka:   TopicDeletionManager.markTopicIneligibleForDeletion, 0.8.1 to 3.9; PartitionStateMachine.DeleteTopicsListener,
             0.8.2 to 0.10.2; KafkaController.TopicDeletion, 0.11 to 2.2; KafkaController.processTopicDeletion, 2.3 to 3.9.
    """
    controller = s.brokers[b].controller
    queued = controller.deleting
    if not queue_topics(s, b):
        return False

    moved = intersection(queued, topics_of(s.zk, reassigned(controller)))
    controller.ineligible = union(controller.ineligible, moved)
    return True


def drop_unknown(s, b: Broker):
    """A controller finds a request to reassign a partition that there never was.

    Guards:  there is one; `b` is at work.
    Effects: it is to be removed from the request. (Not modelled: a new controller takes a partition off the list that it
             reassigns while its topic is queued, and goes on with it by the topic znode.)
    Kafka:   KafkaController.processZkPartitionReassignment, maybeTriggerPartitionReassignment, 2.4 to 3.9.
    """
    controller = s.brokers[b].controller
    if not at_work(controller) or not is_unknown_listed(s.zk):
        return False

    controller.strategy = REASSIGN
    controller.doing = DELETING_REQUEST
    return True


def drop_reassignment(s, b: Broker, p: Partition):
    """A controller finds a request to reassign a partition of a topic that is to be deleted, or that it does not know.

    Guards:  there is one; `b` is at work, and does not reassign `p`.
    Effects: it is to be removed from the request.
    Kafka:   KafkaController.processZkPartitionReassignment, maybeTriggerPartitionReassignment, 2.4 to 3.9.
    """
    controller = s.brokers[b].controller
    known = contains(known_partitions(controller), p)
    if not at_work(controller) or not is_moved(s.zk, p) or known and not is_queued(controller, p):
        return False
    if is_reassigned(controller.partitions[p]):
        return False

    controller.moving = only(p)
    controller.strategy = REASSIGN
    controller.doing = DELETING_REQUEST
    return True
