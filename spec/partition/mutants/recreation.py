"""Mutants of topics that are created again: one deliberate mistake each, on the variant `recreating` of partitions."""

from kafkaproof.spec.kafka.zookeeper import EXPIRED, OK, outcome
from kafkaproof.spec.language.mutants.omission import omitting
from kafkaproof.spec.language.sets import difference, without_member
from kafkaproof.spec.partition.context import forget_partition as forget_any
from kafkaproof.spec.partition.deletion import deletion, network, progress
from kafkaproof.spec.partition.deletion.state import DELETING_CONFIG
from kafkaproof.spec.partition.mutants.partition_mutant import mutant, mutant_within
from kafkaproof.spec.partition.recreation import network as recreation_network
from kafkaproof.spec.partition.recreation import recreation, replica, zookeeper
from kafkaproof.spec.partition.recreation.model import scope
from kafkaproof.spec.partition.recreation.network import drop_others
from kafkaproof.spec.partition.recreation.zookeeper import delete_all_leftovers, join_any
from kafkaproof.spec.partition.zookeeper import session_open

CALM = scope(replicas=1, epochs=1, leader_epochs=1, faults=0)
TWO_FAULTS = scope(replicas=1, epochs=1, leader_epochs=1, faults=2)
TWO_REPLICAS, REMOVED = scope(epochs=1, leader_epochs=1), scope(epochs=1, leader_epochs=3)
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


def keep_id(partition):
    """A controller remembers the id of a topic that is deleted."""
    forget_any(partition)


def name_the_next(network, epoch, p, topic):
    """LeaderAndIsr has the id of the topic that is created next."""
    network.requests[epoch][p].topic = topic + 1


def overtake_the_same(network, epoch, p, topic):
    """What is on its way about a topic is dropped when it is told again."""
    network.requests[epoch][p].to = 0
    network.requests[epoch][p].topic = topic


def drop_late_never(network, b):
    """A StopReplica that was sent again reaches the next process."""
    drop_others(network, b)


def configure_nothing(zk, p, other):
    """A topic that is created has no configuration."""
    join_any(zk, p, other)
    if p == other:
        zk.created += 1
    zk.ids[p] = zk.created if p == other else zk.ids[other]
    zk.deleted = without_member(zk.deleted, p)


def delete_config_without_session(zk, b, unknown, delivery):
    """Configurations are deleted although the session is over."""
    answer = delete_all_leftovers(zk, b, unknown, delivery)
    zk.configured = difference(zk.configured, zk.deleted)
    return answer


def hear_of_all(wanted, heard):
    """The marker of a topic that the controller has not heard of stays until it has."""
    return 0


def obey_another(replica, topic):
    """A broker refuses LeaderAndIsr of the topic of its log, and obeys that of another."""
    return replica.topic != 0 and replica.topic == topic


OMITTED = tuple(
    omitting(transition, kills, CALM)
    for transition, kills in (
        (recreation.topic_gone, "gone_forgotten"),
        (recreation.send_stop_again, "sent_again_once"),
        (replica.late_stop_replica, "late_taken_once"),
        (replica.refuse_topic, "another_refused"),
    )
)
MUTANTS = OMITTED + (
    mutant("id-remembered", "id_with_assignment", {recreation.forget_partition: keep_id}, CALM),
    mutant("next-id-sent", "sent_of_topic", {recreation_network.identify: name_the_next}, CALM),
    mutant_within(
        "same-overtaken-by-start",
        "sent_besides",
        "broker_startup",
        {recreation_network.identify: overtake_the_same},
        TWO_REPLICAS,
    ),
    mutant_within(
        "same-overtaken-by-removal",
        "removed_besides",
        "read_for_removal",
        {recreation_network.identify: overtake_the_same},
        REMOVED,
    ),
    mutant(
        "late-after-death", "late_ends_with_process", {recreation_network.drop_requests: drop_late_never}, TWO_FAULTS
    ),
    mutant("unconfigured", "configured_with_topic", {zookeeper.join_topic: configure_nothing}, CALM),
    mutant(
        "config-goes-anyhow",
        "config_goes_with_topic",
        {zookeeper.delete_leftovers: delete_config_without_session},
        STRAY,
    ),
    mutant("unheard-waits", "leftovers_found", {deletion.unheard: hear_of_all}, TWO_FAULTS),
    mutant("another-obeyed", "own_obeyed", {replica.is_of_another: obey_another}, STRAY),
    mutant("stop-obeyed-again", "own_logs_deleted", {network.take_stop: keep_stop}, CALM),
    mutant("partition-kept", "cache_of_this_topic", {recreation.forget_partition: keep_partition}, CALM),
    mutant("topic-id-not-looked-at", "log_of_this_topic", {replica.is_of_another: never_another}, STRAY),
    mutant("config-deleted-first", "configured", {progress.begin_completion: config_first}, CALM),
    mutant("config-kept", "config_goes_before_marker", {zookeeper.delete_config: keep_config}, CALM),
)
