"""The deletion of the topic: queued, started, answered, retried, completed.

`progress.resume_deletion` decides when it starts and when it completes, at the end of any event that may affect it.
"""

from kafkaproof.spec.kafka.deletion_moves import move_replica
from kafkaproof.spec.kafka.state_machines import REPLICA_DELETION_SUCCESSFUL
from kafkaproof.spec.kafka.zookeeper import OK
from kafkaproof.spec.language.sets import is_empty, only, without_member
from kafkaproof.spec.partition.deletion.state import DELETING_CONFIG, DELETING_MARKER, DELETING_STATES, DELETING_TOPIC
from kafkaproof.spec.partition.progress import at_work, is_next
from kafkaproof.spec.topics.context import Broker, Partition, forget, forget_topic, is_reassigned
from kafkaproof.spec.topics.fencing import (
    checked_delete_config,
    checked_delete_marker,
    checked_delete_state,
    checked_delete_topic,
)
from kafkaproof.spec.topics.network import DELETED, FAILED, kind_of, take
from kafkaproof.spec.topics.progress import fail_deletion, proceed, rest
from kafkaproof.spec.topics.zookeeper import marked


def topic_deletion(s, b: Broker):
    """A controller finds the marker of a deletion.

    Guards:  there is one, and the topic is not queued; `b` is at work.
    Effects: the marker of an unknown topic is to be deleted; else the topic is queued, but ineligible while a partition
             is being reassigned.
    Kafka:   KafkaController.TopicDeletion, 1.0 to 2.2; KafkaController.processTopicDeletion, 2.3 to 3.9.
    """
    controller = s.brokers[b].controller
    if not at_work(controller) or controller.deleting or not marked(s.zk):
        return False

    if controller.topic == 0:
        controller.doing = DELETING_MARKER
    else:
        controller.deleting = 1
        controller.ineligible = 1 if is_reassigned(controller) else 0
        controller.resuming = 1
        proceed(controller)
    return True


def handle_answer(s, b: Broker, r: Broker, p: Partition):
    """A controller handles the answer of a broker to StopReplica(delete).

    Guards:  it arrives; `b` is at work.
    Effects: the replica is DeletionSuccessful, or the replica and the topic are ineligible; the deletion goes on. A
             late answer whose move would be illegal changes no state.
    Kafka:   KafkaController.TopicDeletionStopReplicaResponseReceived, 1.0 to 2.2;
             KafkaController.processTopicDeletionStopReplicaResponseReceived, 2.3 to 3.9.
    """
    controller = s.brokers[b].controller
    if not at_work(controller):
        return False
    kind = kind_of(s.network, controller.epoch, r, p)
    if kind != DELETED and kind != FAILED:
        return False

    take(s.network, controller.epoch, r, p)
    if controller.deleting:
        controller.resuming = 1
        if kind == DELETED:
            move_replica(controller.partitions[p], r, REPLICA_DELETION_SUCCESSFUL)
        else:
            fail_deletion(controller, only(r))
        proceed(controller)
    return True


def delete_states(s, b: Broker, p: Partition):
    """A controller deletes the state of a partition.

    Guards:  the deletion is to be completed; `p` is the next.
    Request: OK; FENCED; EXPIRED.
    Effects: after the last one the topic znode is next; on FENCED the term is over.
    Kafka:   TopicDeletionManager.completeDeleteTopic, 1.0 to 3.9; ZkUtils.deletePathRecursive, 1.0;
             KafkaZkClient.deleteTopicZNode, 1.1 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != DELETING_STATES or not is_next(controller.todo, p):
        return False

    answer = checked_delete_state(s.zk, b, p, controller.epoch)
    if answer == OK:
        controller.todo = without_member(controller.todo, p)
        if is_empty(controller.todo):
            controller.doing = DELETING_TOPIC
    else:
        forget(controller)
    return True


def delete_topic_node(s, b: Broker):
    """A controller deletes the topic znode.

    Guards:  the states are deleted.
    Request: OK; FENCED; EXPIRED.
    Effects: the configuration is next; on FENCED the term is over.
    Kafka:   TopicDeletionManager.completeDeleteTopic, 1.0 to 3.9; ZkUtils.deletePathRecursive, 1.0;
             KafkaZkClient.deleteTopicZNode, 1.1 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != DELETING_TOPIC:
        return False

    answer = checked_delete_topic(s.zk, b, controller.epoch)
    if answer == OK:
        controller.doing = DELETING_CONFIG
    else:
        forget(controller)
    return True


def delete_topic_config(s, b: Broker):
    """A controller deletes the configuration of the topic.

    Guards:  the topic znode is deleted.
    Request: OK; FENCED; EXPIRED.
    Effects: the marker is next; on FENCED the term is over.
    Kafka:   TopicDeletionManager.completeDeleteTopic, 1.0 to 3.9; ZkUtils.deletePathRecursive, 1.0;
             KafkaZkClient.deleteTopicConfigs, 1.1 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != DELETING_CONFIG:
        return False

    answer = checked_delete_config(s.zk, b, controller.epoch)
    if answer == OK:
        controller.doing = DELETING_MARKER
    else:
        forget(controller)
    return True


def delete_topic_marker(s, b: Broker):
    """A controller deletes the marker of a finished deletion or of an unknown topic.

    Guards:  that is its next step.
    Request: OK; FENCED; EXPIRED.
    Effects: the topic is forgotten, the event ends; on FENCED the term is over.
    Kafka:   TopicDeletionManager.completeDeleteTopic, 1.0 to 3.9; ZkUtils.deletePath, 1.0;
             KafkaZkClient.deleteTopicDeletions, 1.1 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != DELETING_MARKER:
        return False

    answer = checked_delete_marker(s.zk, b, controller.epoch)
    if answer == OK:
        forget_topic(controller)
        rest(controller)
    else:
        forget(controller)
    return True
