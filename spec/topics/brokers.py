"""Brokers come and go."""

from kafkaproof.spec.kafka.deletion_moves import move_replicas
from kafkaproof.spec.kafka.state_machines import ONLINE_REPLICA
from kafkaproof.spec.language.sets import difference, intersection, is_empty, union, with_member
from kafkaproof.spec.partition.context import CHANGING, is_known
from kafkaproof.spec.partition.zookeeper import known_as_they_are
from kafkaproof.spec.topics.context import Broker, hosts, members
from kafkaproof.spec.topics.network import start
from kafkaproof.spec.topics.progress import (
    fail_deletion,
    mark_offline_leaders,
    proceed,
    replicas_in,
    take_offline,
    trigger_online,
)
from kafkaproof.spec.topics.reassignment import target_of


def broker_startup(s, b: Broker):
    """A controller takes in the brokers that came: their replicas are Online, and LeaderAndIsr is sent to them.

    Guards:  some brokers came, or bounced and were handled as failed.
    Effects: partitions that need a leader are to be elected, and reassignments to these brokers checked; a deletion is
             resumed, even if the topic was ineligible.
    Kafka:   KafkaController.onBrokerStartup, 1.0 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != CHANGING or is_empty(controller.joined):
        return False

    joined = controller.joined
    controller.joined = 0
    controller.live = union(controller.live, joined)
    for p in range(len(controller.partitions)):
        partition = controller.partitions[p]
        hosting = intersection(joined, members(partition))
        move_replicas(partition, hosting, ONLINE_REPLICA)
        if is_known(partition):
            to = known_as_they_are(s.zk, b, intersection(hosting, replicas_in(partition, ONLINE_REPLICA)))
            start(s.network, controller.epoch, p, controller.topic, to)
        if partition.reassigned and not is_empty(intersection(joined, target_of(partition))):
            controller.moving = with_member(controller.moving, p)
    trigger_online(controller)
    resume_for(controller, joined)
    proceed(controller)
    return True


def resume_for(controller, joined):
    """A deletion is resumed, if a broker that came has a replica of the topic (resumeDeletionForTopics)."""
    if controller.deleting and not is_empty(intersection(joined, hosts(controller))):
        controller.ineligible = 0
        controller.resuming = 1


def broker_failure(s, b: Broker):
    """A controller handles brokers that failed: first those that bounced, which then come again, else those that went.

    Guards:  no broker that came is left to handle.
    Effects: partitions without a live leader are Offline, and to be elected; then the replicas of those brokers
             are to go offline; if the topic is queued for deletion, they are ineligible instead.
    Kafka:   KafkaController.onBrokerFailure, onReplicasBecomeOffline, 1.0 to 3.9.
    """
    controller = s.brokers[b].controller
    if controller.doing != CHANGING or not is_empty(controller.joined):
        return False

    dead = controller.gone if is_empty(controller.bounced) else controller.bounced
    controller.joined = controller.bounced
    if is_empty(controller.bounced):
        controller.gone = 0
    controller.bounced = 0
    controller.live = difference(controller.live, dead)
    mark_offline_leaders(controller)
    trigger_online(controller)
    if controller.deleting and not is_empty(intersection(dead, hosts(controller))):
        fail_deletion(controller, dead)
    elif not controller.deleting:
        for partition in controller.partitions:
            take_offline(partition, intersection(dead, members(partition)))
    proceed(controller)
    return True
