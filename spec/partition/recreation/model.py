"""The partition system with topics that are created again, and what is known of it."""

from dataclasses import replace

from kafkaproof.spec.kafka import declarations as declared
from kafkaproof.spec.kafka.declarations import BROKER, acting
from kafkaproof.spec.language.model import Model, concerning
from kafkaproof.spec.partition import context, telling, zookeeper
from kafkaproof.spec.partition import model as partition
from kafkaproof.spec.partition.creation.model import creating
from kafkaproof.spec.partition.deletion import model as partition_deletion
from kafkaproof.spec.partition.deletion import network as deletion_network
from kafkaproof.spec.partition.deletion import replica as deletion_replica
from kafkaproof.spec.partition.deletion import zookeeper as deletion_zookeeper
from kafkaproof.spec.partition.metadata.model import OFF_WITH_DELETIONS
from kafkaproof.spec.partition.model import FENCED, reading
from kafkaproof.spec.partition.recreation import network, properties, recreation, replica, state
from kafkaproof.spec.partition.recreation import zookeeper as recreation_zookeeper

CONTROLLER = reading(recreation.topic_gone)
BROKERS = acting(replica.leader_and_isr, deletion_replica.stop_replica, replica.late_stop_replica, replica.refuse_topic)
TWICE = declared.faults(recreation.send_stop_again, lane=BROKER)
WITH_IDS = {
    deletion_zookeeper.is_taken: recreation_zookeeper.is_taken,
    deletion_zookeeper.join_topic: recreation_zookeeper.join_topic,
    deletion_zookeeper.delete_config: recreation_zookeeper.delete_config,
    deletion_zookeeper.delete_leftovers: recreation_zookeeper.delete_leftovers,
    zookeeper.read_assignment: recreation_zookeeper.read_assignment,
    context.forget_partition: recreation.forget_partition,
    telling.send_leadership: recreation.send_leadership,
    deletion_network.drop_requests: network.drop_requests,
    deletion_replica.delete_log: replica.delete_log,
}
SIZES = partition.SIZES | {"topics": "creations of topics; those of the beginning count as one"}


def scope(*, topics=2, **sizes):
    """A scope of `partition`, and how often topics may be created; `SIZES` says what each size means or bounds."""
    return partition.scope(**sizes) | {"topics": topics}


def with_ids(model: Model, **changes) -> Model:
    """A model that creates and deletes topics, with `BROKERS` and `CONTROLLER` among its transitions, with topic ids."""
    asked = concerning(properties.properties(model.properties), model.transitions)
    return model.rebound(WITH_IDS, properties=asked, **changes)


KEPT = tuple(each for each in FENCED.transitions if each.function.__name__ not in OFF_WITH_DELETIONS)
CREATED_AND_DELETED = partition_deletion.deleting(
    creating(replace(FENCED, transitions=KEPT), "recreating", ""), "recreating", "", BROKERS + CONTROLLER + TWICE
)
ONE_FAULT, TWO_FAULTS = (scope(replicas=1, epochs=1, leader_epochs=1, faults=faults) for faults in (1, 2))
TWO_TOPICS = scope(replicas=1, partitions=2, epochs=1, leader_epochs=1, faults=0)
TWO_TERMS = scope(replicas=1, leader_epochs=2)
STOPPED_TWICE = {"own_logs_deleted": 24, "local_epoch_never_falls": 24}
"""A StopReplica that is sent again arrives when the topic has been created again."""
RECREATING = with_ids(
    CREATED_AND_DELETED,
    story="A topic is deleted, and created again under the same name. LeaderAndIsr has the id of the topic (KIP-516), and "
    "StopReplica has none: one that the controller has sent twice deletes the log of the new topic.",
    state=state.STATE,
    initial=state.initial,
    scope=ONE_FAULT,
    largest=CREATED_AND_DELETED.largest | {"topics": 3},
    sizes=SIZES,
    expected={
        scope(replicas=1, epochs=1, leader_epochs=1, faults=0): {},
        TWO_TOPICS: {},
        ONE_FAULT: STOPPED_TWICE,
        TWO_FAULTS: {
            "own_logs_deleted": 20,
            "local_epoch_never_falls": 20,
            "marker_last": 23,
            "config_goes_before_marker": 23,
            "log_goes_with_topic": 26,
            "state_goes_with_topic": 35,
            "local_epoch": 35,
            "removed_when_deleted": 36,
        },
        TWO_TERMS: STOPPED_TWICE
        | {"state_goes_with_topic": 25, "removed_when_deleted": 26, "log_goes_with_topic": 29, "local_epoch": 41},
    },
    others={"quick": ONE_FAULT, "deep": TWO_FAULTS, "two-terms": TWO_TERMS, "two-topics": TWO_TOPICS},
)
MODELS = (RECREATING,)
