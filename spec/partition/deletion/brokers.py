"""How topic deletions react when terms begin, brokers come and go, and log directories fail."""

from kafkaproof.spec.kafka.deletion_moves import move_replicas
from kafkaproof.spec.kafka.state_machines import ONLINE_REPLICA
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.combine import then
from kafkaproof.spec.language.sets import (
    contains,
    difference,
    intersection,
    is_empty,
    only,
    union,
    with_member,
    without_member,
)
from kafkaproof.spec.partition import failover
from kafkaproof.spec.partition.brokers import broker_failure as lose_brokers
from kafkaproof.spec.partition.brokers import broker_startup as take_in_brokers
from kafkaproof.spec.partition.context import READING_STATES, Broker, replicas_move
from kafkaproof.spec.partition.creation.creation import known_partitions
from kafkaproof.spec.partition.deletion.progress import fail_deletion, offline_replicas, replicas_in, resume_later
from kafkaproof.spec.partition.deletion.zookeeper import topics_of
from kafkaproof.spec.partition.log_dirs import storage_error as lose_replicas


def start_on(controller, partition, members):
    """Replicas of some brokers are Online, unless they are being deleted; returns the live brokers that have one. A dead
    state machine moves none.
    """
    if not replicas_move(controller):
        return 0
    hosting = intersection(members, replicas_of(partition.assignment))
    move_replicas(partition, hosting, ONLINE_REPLICA)
    return intersection(intersection(hosting, replicas_in(partition, ONLINE_REPLICA)), controller.live)


def queued_on(controller, brokers):
    """The partitions of topics queued for deletion that have a replica on some of the brokers."""
    found = 0
    for p in range(len(controller.partitions)):
        hosting = intersection(replicas_of(controller.partitions[p].assignment), brokers)
        if contains(controller.deleting, p) and not is_empty(hosting):
            found = with_member(found, p)
    return found


def with_offline_replicas(controller):
    """The partitions of topics queued for deletion that have a replica that is not online."""
    found = 0
    for p in range(len(controller.partitions)):
        if contains(controller.deleting, p) and not is_empty(offline_replicas(controller, controller.partitions[p])):
            found = with_member(found, p)
    return found


def resume_deletions(s, b):
    """After the last state the deletion of the queued topics is resumed; those with a replica that is not online are
    ineligible (KafkaController.fetchTopicDeletionsInProgress, TopicDeletionManager.tryTopicDeletion).
    """
    controller = s.brokers[b].controller
    controller.deleting = intersection(controller.deleting, known_partitions(controller))
    if controller.epoch > 0 and controller.doing != READING_STATES:
        controller.ineligible = topics_of(s.zk, with_offline_replicas(controller))
        resume_later(controller, controller.deleting)


load_state = then(failover.load_state, resume_deletions)


def broker_startup(s, b: Broker):
    """A controller takes in the brokers that came.

    Guards:  those of `brokers.broker_startup`.
    Effects: its effects; topics queued for deletion that have a replica there are no longer ineligible; if there are
             any, the deletion of all that are queued is resumed.
    Kafka:   KafkaController.onBrokerStartup, TopicDeletionManager.resumeDeletionForTopics, 1.1 to 3.9.
    """
    controller = s.brokers[b].controller
    joined = controller.joined
    if not take_in_brokers(s, b):
        return False

    topics = topics_of(s.zk, queued_on(controller, joined))
    controller.ineligible = difference(controller.ineligible, topics)
    resume_later(controller, controller.deleting if not is_empty(topics) else 0)
    return True


def broker_failure(s, b: Broker):
    """A controller handles brokers that failed: first those that bounced, which then come again, else those that went.

    Guards:  those of `brokers.broker_failure`.
    Effects: its effects; replicas of topics queued for deletion are ineligible instead, and so are these topics.
    Kafka:   KafkaController.onReplicasBecomeOffline, TopicDeletionManager.failReplicaDeletion, 1.1 to 3.9.
    """
    controller = s.brokers[b].controller
    dead = controller.gone if is_empty(controller.bounced) else controller.bounced
    if not lose_brokers(s, b):
        return False

    failed = queued_on(controller, dead)
    for p in range(len(controller.partitions)):
        if contains(failed, p):
            fail_deletion(controller, p, dead)
    controller.ineligible = union(controller.ineligible, topics_of(s.zk, failed))
    resume_later(controller, controller.deleting if not is_empty(failed) else 0)
    return True


def storage_error(s, b: Broker, r: Broker):
    """A controller learns from the answer of broker `r` which replicas are lost.

    Guards:  those of `log_dirs.storage_error`.
    Effects: its effects; replicas of topics queued for deletion are ineligible instead, and so are these topics.
    Kafka:   KafkaController.onReplicasBecomeOffline, TopicDeletionManager.failReplicaDeletion, 1.1 to 3.9.
    """
    controller = s.brokers[b].controller
    lost = intersection(controller.deleting, s.brokers[b].errors[r])
    for p in range(len(controller.partitions)):
        if contains(controller.partitions[p].failed, r):
            lost = without_member(lost, p)
    if not lose_replicas(s, b, r):
        return False

    for p in range(len(controller.partitions)):
        if contains(lost, p):
            fail_deletion(controller, p, only(r))
    controller.ineligible = union(controller.ineligible, topics_of(s.zk, lost))
    resume_later(controller, controller.deleting if not is_empty(lost) else 0)
    return True
