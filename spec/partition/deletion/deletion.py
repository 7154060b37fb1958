"""How a controller deletes a topic: the deletion is queued, resumed, stopped, answered, completed.

`delete.topic.enable` is true. Not modelled: a reassignment in progress, for which the deletion would wait (a request
for one is dropped if the topic is to be deleted).
"""

from kafkaproof.spec.kafka.state_machines import OFFLINE_REPLICA, REPLICA_DELETION_STARTED, REPLICA_DELETION_SUCCESSFUL
from kafkaproof.spec.kafka.zookeeper import EXPIRED, FENCED, LOST, Delivery
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty, only, union, without_member
from kafkaproof.spec.partition.context import DELETING_REQUEST, REASSIGN, Broker, Partition, is_queued, replicas_move
from kafkaproof.spec.partition.creation.creation import known_partitions
from kafkaproof.spec.partition.deletion.network import DELETED, NO_ANSWER, answered, put_stop, take_answer
from kafkaproof.spec.partition.deletion.progress import (
    all_deleted,
    any_in,
    begin_completion,
    begin_deletion,
    end_event,
    fail_deletion,
    is_heeded,
    is_ineligible,
    move,
    offline_replicas,
    replicas_in,
    resume_later,
    stop,
)
from kafkaproof.spec.partition.deletion.state import (
    DELETING_CONFIG,
    DELETING_LEFTOVERS,
    DELETING_MARKER,
    DELETING_STATES,
    DELETING_TOPIC,
    RESUMING,
    STOPPING,
    forget_topic,
)
from kafkaproof.spec.partition.deletion.zookeeper import (
    checked_delete_config,
    checked_delete_leftovers,
    checked_delete_marker,
    checked_delete_state,
    checked_delete_topic,
    create_marker,
    deletion_wanted,
    is_left_over,
    topics_of,
)
from kafkaproof.spec.partition.progress import at_work, give_up, is_next
from kafkaproof.spec.partition.telling import tell_topic
from kafkaproof.spec.partition.zookeeper import is_moved, known_as_they_are


def mark_topic(s, b: Broker, p: Partition, delivery: Delivery):
    """A controller marks the topic of a partition for deletion, as an administrator asks.

    Guards:  `b` is at work and knows the topic, which is not queued for deletion.
    Request: OK; NODEEXISTS, perhaps because of its own lost request; EXPIRED; LOST.
    Effects: none: the controller's watch will fire.
    Kafka:   AdminManager.deleteTopics, 1.1 to 2.7; ZkAdminManager.deleteTopics, 2.8 to 3.9;
             KafkaZkClient.createDeleteTopicPath, 1.1 to 3.9.
    """
    controller = s.brokers[b].controller
    if not at_work(controller) or not contains(difference(known_partitions(controller), controller.deleting), p):
        return False

    create_marker(s.zk, b, p, delivery)
    return True


def newly_marked(controller, wanted):
    """The partitions of marked topics that a controller knows, and has not queued."""
    return difference(intersection(wanted, known_partitions(controller)), controller.deleting)


def topic_deletion(s, b: Broker):
    """A controller is notified of topics that are to be deleted.

    Guards:  it knows the topics, but not that they are to be deleted; `b` is at work.
    Effects: they are queued for deletion, and no leader is elected for them any more; the deletion of all that are
             queued is resumed.
    Kafka:   TopicDeletionManager.enqueueTopicsForDeletion, 1.1 to 3.9; KafkaController.TopicDeletion, 1.1 to 2.2;
             KafkaController.processTopicDeletion, 2.3 to 3.9.
    """
    controller = s.brokers[b].controller
    new = newly_marked(controller, deletion_wanted(s.zk))
    if not at_work(controller) or is_empty(new):
        return False

    controller.deleting = union(controller.deleting, new)
    resume_later(controller, controller.deleting)
    return True


def resume_deletion(s, b: Broker, p: Partition):
    """A controller decides how the deletion of a topic goes on: complete it, start it (again), or wait.

    Guards:  the deletion is to be resumed; `p` is the first partition of the topic.
    Effects: if all replicas are deleted, the znodes are to be deleted. If none is being deleted, replicas whose
             deletion failed go offline; unless the topic is ineligible, those of live brokers go offline too, and are
             then stopped, and every live broker is told that there is no such topic.
    Kafka:   TopicDeletionManager.resumeDeletions, onTopicDeletion, 1.1 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != RESUMING or not is_next(controller.resuming, p):
        return False

    topic = topics_of(s.zk, only(p))
    controller.resuming = difference(controller.resuming, topic)
    if all_deleted(controller, topic):
        controller.dropping = topic
        begin_completion(controller)
    elif any_in(controller, topic, REPLICA_DELETION_STARTED):
        end_event(controller)
    else:
        controller.dropping = topic
        announce(s, b, topic)
        begin_deletion(controller)
    return True


def announce(s, b, topic):
    """Every live broker is told that a topic is deleted, unless it is ineligible for deletion."""
    if not is_ineligible(s.brokers[b].controller, topic):
        tell_topic(s, b, topic)


def stop_replicas(s, b: Broker):
    """A controller sends StopReplica(delete) for the replicas of a topic that it has taken offline.

    Guards:  they are offline.
    Effects: they are DeletionStarted; those on brokers that are not live are DeletionIneligible, and then the topic is
             ineligible.
    Kafka:   TopicDeletionManager.onTopicDeletion, ReplicaStateMachine.doHandleStateChanges, 1.1 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != STOPPING:
        return False

    for p in range(len(controller.partitions)):
        partition = controller.partitions[p]
        stopped = difference(replicas_in(partition, OFFLINE_REPLICA), offline_replicas(controller, partition))
        if contains(controller.dropping, p) and replicas_move(controller):
            put_stop(s.network, controller.epoch, p, known_as_they_are(s.zk, b, stopped))
    for p in range(len(controller.partitions)):
        if contains(controller.dropping, p):
            stop(controller, p)
    controller.dropping = 0
    end_event(controller)
    return True


def replica_stopped(s, b: Broker, p: Partition, r: Broker):
    """A controller handles the answer of a broker to StopReplica(delete).

    Guards:  it arrives; `b` is at work.
    Effects: if the deletion of the topic has started, the replica is DeletionSuccessful, or the replica and the topic are
             ineligible, and the deletions go on. A late answer whose move would be illegal changes no state.
    Kafka:   KafkaController.TopicDeletionStopReplicaResponseReceived, 1.1 to 2.2;
             KafkaController.processTopicDeletionStopReplicaResponseReceived, 2.3 to 3.9.
    """
    controller = s.brokers[b].controller
    if not at_work(controller):
        return False
    answer = answered(s.network, controller.epoch, p, r)
    if answer == NO_ANSWER:
        return False

    take_answer(s.network, controller.epoch, p, r)
    if is_heeded(controller, p, r):
        if answer == DELETED:
            move(controller, p, only(r), REPLICA_DELETION_SUCCESSFUL)
        else:
            fail_deletion(controller, p, only(r))
            controller.ineligible = union(controller.ineligible, topics_of(s.zk, only(p)))
        resume_later(controller, controller.deleting)
    return True


def delete_state(s, b: Broker, p: Partition, delivery: Delivery):
    """A controller deletes the state of a partition.

    Guards:  the deletion of its topic is to be completed; `p` is the next.
    Request: OK; FENCED; EXPIRED; LOST.
    Effects: after the last one the topic znode is next; on LOST it retries; on FENCED the term is over.
    Kafka:   TopicDeletionManager.completeDeleteTopic, KafkaZkClient.deleteTopicZNode, 1.1 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != DELETING_STATES or not is_next(controller.todo, p):
        return False

    answer = checked_delete_state(s.zk, b, p, controller.epoch, delivery)
    if answer == FENCED or answer == EXPIRED:
        give_up(s, b, answer)
    elif answer != LOST:
        controller.todo = without_member(controller.todo, p)
        if is_empty(controller.todo):
            controller.doing = DELETING_TOPIC
    return True


def delete_topic(s, b: Broker, delivery: Delivery):
    """A controller deletes the topic znode.

    Guards:  the states of its partitions are deleted.
    Request: OK; FENCED; EXPIRED; LOST.
    Effects: the configuration is next; on LOST it retries; on FENCED the term is over. (Not modelled: up to 2.6 the topic
             is off the queue before this, which shows only where the session is over, until the Expire event: no write
             succeeds then, and brokers may be told of the topic once more.)
    Kafka:   TopicDeletionManager.completeDeleteTopic, KafkaZkClient.deleteTopicZNode, 1.1 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != DELETING_TOPIC:
        return False

    answer = checked_delete_topic(s.zk, b, controller.dropping, controller.epoch, delivery)
    if answer == FENCED or answer == EXPIRED:
        give_up(s, b, answer)
    elif answer != LOST:
        controller.doing = DELETING_CONFIG
    return True


def delete_config(s, b: Broker, delivery: Delivery):
    """A controller deletes the configuration of a topic.

    Guards:  the topic znode is deleted.
    Request: OK; FENCED; EXPIRED; LOST.
    Effects: the marker is next; on LOST it retries; on FENCED the term is over.
    Kafka:   TopicDeletionManager.completeDeleteTopic, KafkaZkClient.deleteTopicConfigs, 1.1 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != DELETING_CONFIG:
        return False

    answer = checked_delete_config(s.zk, b, controller.dropping, controller.epoch, delivery)
    if answer == FENCED or answer == EXPIRED:
        give_up(s, b, answer)
    elif answer != LOST:
        controller.doing = DELETING_MARKER
    return True


def delete_marker(s, b: Broker, delivery: Delivery):
    """A controller deletes the marker of a topic that is deleted.

    Guards:  the configuration is deleted.
    Request: OK; FENCED; EXPIRED; LOST.
    Effects: the topic is forgotten, and the event goes on; on LOST it retries; on FENCED the term is over.
    Kafka:   TopicDeletionManager.completeDeleteTopic, KafkaZkClient.deleteTopicDeletions, 1.1 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != DELETING_MARKER:
        return False

    answer = checked_delete_marker(s.zk, b, controller.dropping, controller.epoch, delivery)
    if answer == FENCED or answer == EXPIRED:
        give_up(s, b, answer)
    elif answer != LOST:
        forget_topic(controller)
        end_event(controller)
    return True


def unheard(wanted, heard):
    """The partitions of marked topics that are there, but not among those that a controller has heard of."""
    return difference(wanted, heard)


def leftover_deletion(s, b: Broker):
    """A controller finds markers of topics that it does not know, and takes them for topics that do not exist.

    Guards:  one does not exist; or there is another whose marker has fired the watch. `b` is at work. (By itself the
             marker of a new topic is heard of after the topic.)
    Effects: they are to be deleted, with configurations that an earlier controller has left.
    Kafka:   KafkaController.TopicDeletion, 1.1 to 2.2; KafkaController.processTopicDeletion, 2.3 to 3.9;
             TopicDeletionManager.completeDeleteTopic, 1.1 to 3.9 (for a topic without replicas, which completes what
             a controller that died has begun).
    """
    controller = s.brokers[b].controller
    wanted = deletion_wanted(s.zk)
    lost = unheard(wanted, topics_of(s.zk, known_partitions(controller)))
    found = is_left_over(s.zk) or not is_empty(lost) and not is_empty(newly_marked(controller, wanted))
    if not at_work(controller) or not found:
        return False

    controller.dropping = lost
    controller.doing = DELETING_LEFTOVERS
    return True


def delete_leftovers(s, b: Broker, delivery: Delivery):
    """A controller deletes markers and configurations of topics that do not exist, and markers of those that it does not
    know.

    Guards:  it has found some.
    Request: OK; FENCED; EXPIRED; LOST.
    Effects: the event is over; on LOST it retries; on FENCED the term is over.
    Kafka:   KafkaZkClient.deleteTopicConfigs, deleteTopicDeletions, 1.1 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != DELETING_LEFTOVERS:
        return False

    answer = checked_delete_leftovers(s.zk, b, controller.dropping, controller.epoch, delivery)
    if answer == FENCED or answer == EXPIRED:
        give_up(s, b, answer)
    elif answer != LOST:
        controller.dropping = 0
        end_event(controller)
    return True


def drop_reassignment(s, b: Broker, p: Partition):
    """A controller finds a request to reassign a partition of a topic that is to be deleted, or that it does not know.

    Guards:  there is one; `b` is at work.
    Effects: it is to be deleted.
    Kafka:   KafkaController.maybeTriggerPartitionReassignment, 1.1 to 2.3; processZkPartitionReassignment, 2.4 to
             3.9.
    """
    controller = s.brokers[b].controller
    known = contains(known_partitions(controller), p)
    if not at_work(controller) or not is_moved(s.zk, p) or known and not is_queued(controller, p):
        return False

    controller.strategy = REASSIGN
    controller.doing = DELETING_REQUEST
    return True
