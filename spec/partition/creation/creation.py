"""A topic is created while the cluster runs: an administrator asks the controller, whose watch then fires.

A partition that belongs to no topic yet has no assignment; the scope says how many of them there are. A new topic gets
some of them. Its configuration is not kept here. Not modelled: an assignment that the administrator chooses, racks, and
a topic that is created by a broker other than the controller (up to 0.10).
"""

from kafkaproof.spec.kafka.state_machines import NEW_PARTITION, NEW_REPLICA
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.kafka.zookeeper import EXPIRED, FENCED, Delivery
from kafkaproof.spec.language.domains import Bound, Number, SetOf
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty, with_member
from kafkaproof.spec.partition.context import OFFLINE, Broker, partitions_move, replicas_move
from kafkaproof.spec.partition.creation.zookeeper import (
    checked_create_topic,
    in_new_topics,
    leave_unused,
    read_topics,
    write_topic_config,
)
from kafkaproof.spec.partition.progress import at_work, give_up, proceed
from kafkaproof.spec.partition.state import initial

Partitions = SetOf("partitions")
Count = Number(1, Bound("replicas"))


def initial_with_room(s):
    """As without creations, but the last partition belongs to no topic yet."""
    initial(s)
    leave_unused(s.zk, len(s.zk.assignments) - 1)


def known_partitions(controller):
    """The partitions whose assignment is in the context."""
    found = 0
    for p in range(len(controller.partitions)):
        if controller.partitions[p].assignment.length > 0:
            found = with_member(found, p)
    return found


def live_brokers(controller):
    """How many brokers are known as registered."""
    count = 0
    for r in range(len(controller.partitions[0].replicas)):
        if contains(controller.live, r):
            count += 1
    return count


def configure_topic(s, b: Broker, delivery: Delivery):
    """A controller writes the configuration of a topic that it is about to create.

    Guards:  `b` is at work.
    Request: OK; EXPIRED; LOST.
    Effects: none: the configuration is not part of the state.
    Kafka:   AdminZkClient.createOrUpdateTopicPartitionAssignmentPathInZK, 1.1 to 2.1; createTopicWithAssignment, 2.2
             to 3.9; KafkaZkClient.setOrCreateEntityConfigs, 1.1 to 3.9.
    """
    if not at_work(s.brokers[b].controller):
        return False

    write_topic_config(s.zk, b, delivery)
    return True


def create_topic(s, b: Broker, new: Partitions, replicas: Count, start: Broker, shift: Broker, delivery: Delivery):
    """A controller creates a topic, as an administrator asks: it chooses the replicas of each partition.

    Guards:  `b` is at work, knows none of the new partitions, and knows as many live brokers as there are to be
             replicas. (Kafka asks the metadata cache of its own broker, which learns the live brokers from a controller:
             either may know brokers that are dead.)
    Request: OK; NODEEXISTS, perhaps because of its own lost request; FENCED; EXPIRED; LOST.
    Effects: the topic exists, and the controller's watch will fire; on FENCED the term is over. (Kafka does not check
             the epoch here; without the check two controllers might give the same partitions to two topics.)
    Kafka:   AdminManager.createTopics, 1.1 to 2.7; ZkAdminManager.createTopics, 2.8 to 3.9;
             AdminUtils.assignReplicasToBrokers, AdminZkClient.writeTopicPartitionAssignment, 1.1 to 3.9 (`start` and
             `shift` are chosen at random).
    """
    controller = s.brokers[b].controller
    if not at_work(controller) or is_empty(new) or not is_empty(intersection(new, known_partitions(controller))):
        return False
    if live_brokers(controller) < replicas:
        return False

    epoch = controller.epoch
    answer = checked_create_topic(s.zk, b, new, replicas, start, shift, controller.live, epoch, delivery)
    if answer == FENCED or answer == EXPIRED:
        give_up(s, b, answer)
    return True


def create_partitions(s, b, new):
    """A controller reads topics; the partitions that it did not know are New, and to be elected but where their topic is queued
    for deletion.

    Kafka: KafkaController.onNewPartitionCreation, 1.1 to 3.9.
    """
    controller = s.brokers[b].controller
    answer = read_topics(s.zk, b, new, controller)
    if answer == EXPIRED:
        give_up(s, b, answer)
    else:
        for p in range(len(controller.partitions)):
            if contains(new, p):
                begin_partition(controller, p)
        controller.strategy = OFFLINE
        controller.todo = difference(new, controller.deleting)
        proceed(controller)


def topic_change(s, b: Broker):
    """A controller is notified of new topics, and reads their assignments.

    Guards:  there are partitions of topics that it does not know; `b` is at work.
    Request: OK; EXPIRED.
    Effects: they are New, as are their replicas, and to be elected, unless the topic is queued for deletion. (Kafka
             sets the replicas Online after the election; here they stay New until their brokers come again. Nothing
             depends on the difference.)
    Kafka:   KafkaController.TopicChange, 1.1 to 2.2; KafkaController.processTopicChange, 2.3 to 3.9.
    """
    controller = s.brokers[b].controller
    new = in_new_topics(s.zk, known_partitions(controller))
    if not at_work(controller) or is_empty(new):
        return False

    create_partitions(s, b, new)
    return True


def begin_partition(controller, p):
    """A partition whose assignment was read is New, and so are its replicas; a dead state machine moves nothing."""
    partition = controller.partitions[p]
    if partitions_move(controller):
        partition.state = NEW_PARTITION
    for r in range(len(partition.replicas)):
        if contains(replicas_of(partition.assignment), r) and replicas_move(controller):
            partition.replicas[r] = NEW_REPLICA
