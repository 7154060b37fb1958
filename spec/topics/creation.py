"""A topic is created, disappears, or gets another partition."""

from kafkaproof.spec.kafka.deletion_moves import move_partition, move_replicas
from kafkaproof.spec.kafka.state_machines import NEW_PARTITION, NEW_REPLICA, NON_EXISTENT_PARTITION
from kafkaproof.spec.kafka.zookeeper import EXPIRED, FENCED, OK
from kafkaproof.spec.language.sets import with_member
from kafkaproof.spec.partition.progress import at_work
from kafkaproof.spec.topics.context import (
    REWRITING,
    Broker,
    clear_assignment,
    copy_assignment,
    forget,
    forget_topic,
    is_present,
    members,
)
from kafkaproof.spec.topics.fencing import checked_set_topic
from kafkaproof.spec.topics.progress import proceed, rest
from kafkaproof.spec.topics.zookeeper import arm, data_changed, read_topic, topic_in


def begin_partitions(controller):
    """onNewPartitionCreation: partitions that are not known yet are New, as are their replicas, and to be elected."""
    for p in range(len(controller.partitions)):
        partition = controller.partitions[p]
        if is_present(partition) and partition.state == NON_EXISTENT_PARTITION:
            move_partition(partition, NEW_PARTITION)
            move_replicas(partition, members(partition), NEW_REPLICA)
            controller.todo = with_member(controller.todo, p)


def topic_change(s, b: Broker):
    """A controller lists the topics, because one was created or is gone.

    Guards:  the children of /brokers/topics differ from the context; `b` is at work.
    Request: OK; NONODE when it has gone; EXPIRED.
    Effects: the partitions of a new topic are New, and to be elected; a topic that has gone is forgotten.
    Kafka:   KafkaController.TopicChange, 1.0 to 2.2; KafkaController.processTopicChange, 2.3 to 3.9.
    """
    controller = s.brokers[b].controller
    if not at_work(controller) or (controller.topic > 0) == (topic_in(s.zk) > 0):
        return False

    answer = read_topic(s.zk, b, controller)
    if answer == EXPIRED:
        forget(controller)
    elif answer == OK:
        begin_partitions(controller)
        proceed(controller)
    else:
        forget_topic(controller)
    return True


def new_partitions(s, b: Broker):
    """A controller reads the topic whose data has changed: partitions that it does not know are new.

    Guards:  the watch on the data has fired; the topic is known, and not queued for deletion; `b` is at work.
    Request: OK; NONODE; EXPIRED.
    Effects: they are New, and to be elected.
    Kafka:   KafkaController.PartitionModifications, 1.0 to 2.2; KafkaController.processPartitionModifications, 2.3 to
             3.9.
    """
    controller = s.brokers[b].controller
    if not at_work(controller) or not data_changed(s.zk, b) or controller.topic == 0 or controller.deleting:
        return False

    answer = read_topic(s.zk, b, controller)
    if answer == EXPIRED:
        forget(controller)
    elif answer == OK:
        begin_partitions(controller)
        proceed(controller)
    return True


def ignore_partitions(s, b: Broker):
    """A controller reads the topic whose data has changed, and which is queued for deletion.

    Guards:  the watch on the data has fired; the topic is queued for deletion; `b` is at work.
    Request: OK; EXPIRED.
    Effects: the topic znode is to be written without the partitions that it does not know.
    Kafka:   KafkaController.restorePartitionReplicaAssignment, 2.0 to 3.9; KafkaController.PartitionModifications,
             2.0 to 2.2; KafkaController.processPartitionModifications, 2.3 to 3.9.
    """
    controller = s.brokers[b].controller
    if not at_work(controller) or not data_changed(s.zk, b) or controller.topic == 0 or not controller.deleting:
        return False

    answer = arm(s.zk, b)
    if answer == EXPIRED:
        forget(controller)
    else:
        copy_assignment(controller.partitions[0], controller.wanted)
        controller.doing = REWRITING
    return True


def restore_partitions(s, b: Broker):
    """A controller writes the topic znode of a topic queued for deletion without the new partitions.

    Guards:  that is its next step.
    Request: OK; NONODE; FENCED; EXPIRED.
    Effects: the event ends; on FENCED the term is over.
    Kafka:   KafkaController.restorePartitionReplicaAssignment, 2.0 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != REWRITING:
        return False

    answer = checked_set_topic(s.zk, b, 0, controller, controller.epoch)
    if answer == FENCED or answer == EXPIRED:
        forget(controller)
    else:
        clear_assignment(controller.wanted)
        rest(controller)
    return True
