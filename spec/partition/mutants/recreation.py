"""Mutants of topics that are created again: one deliberate mistake each, on the variant `recreating` of partitions."""

from kafkaproof.spec.kafka.zookeeper import EXPIRED, OK, outcome
from kafkaproof.spec.partition.deletion import network, progress
from kafkaproof.spec.partition.deletion.state import DELETING_CONFIG
from kafkaproof.spec.partition.mutants.partition_mutant import mutant
from kafkaproof.spec.partition.recreation import recreation, replica, zookeeper
from kafkaproof.spec.partition.recreation.model import scope
from kafkaproof.spec.partition.zookeeper import session_open

CALM = scope(replicas=1, epochs=1, leader_epochs=1, faults=0)
STRAY = scope(replicas=1, leader_epochs=2)


def keep_partition(partition):
    """A partition of a topic that is deleted stays in the context."""
    return 0


def keep_stop(network, epoch, p, b):
    """A StopReplica that was obeyed arrives again."""
    return 0


def never_another(replica, topic):
    """A broker does not look at the id of the topic in LeaderAndIsr."""
    return False


def config_first(controller):
    """The configuration of a topic whose replicas are deleted is deleted first."""
    controller.doing = DELETING_CONFIG


def keep_config(zk, b, topic, delivery):
    """The configuration of a topic that is deleted stays."""
    return outcome(zk, OK, delivery) if session_open(zk, b) else EXPIRED


MUTANTS = (
    mutant("stop-obeyed-again", "own_logs_deleted", {network.take_stop: keep_stop}, CALM),
    mutant("partition-kept", "cache_of_this_topic", {recreation.forget_partition: keep_partition}, CALM),
    mutant("topic-id-not-looked-at", "log_of_this_topic", {replica.is_of_another: never_another}, STRAY),
    mutant("config-deleted-first", "configured", {progress.begin_completion: config_first}, CALM),
    mutant("config-kept", "config_goes_before_marker", {zookeeper.delete_config: keep_config}, CALM),
)
