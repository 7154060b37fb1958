"""What a deletion adds to the state of `partition`, and how it is forgotten.

A controller marks topics by their partitions: those queued for deletion (`deleting`), those ineligible, those whose
deletion is still to be resumed in the event in progress. The deletion of a topic has started
(topicsWithDeletionStarted) when its partitions are NonExistent. All that is kept of topics is which partitions belong
together. The partition of a deleted topic never belongs to another one (Kafka distinguishes topics of one name by an
id, 2.8+; here numbers are not reused).
"""

from kafkaproof.spec.language.domains import Array, Bound, Choice, Flag, Record, SetOf
from kafkaproof.spec.language.sets import contains, difference
from kafkaproof.spec.partition import context, znodes
from kafkaproof.spec.partition.context import Doing, Partition, forget_partition
from kafkaproof.spec.partition.context import drop_event as drop_rest
from kafkaproof.spec.partition.context import forget as forget_context
from kafkaproof.spec.partition.network import NETWORK
from kafkaproof.spec.partition.state import initial as begin

Deleting = Choice(
    *Doing.names,
    "RESUMING",  # must decide how the deletion of queued topics goes on
    "STOPPING",  # must send StopReplica(delete) to the replicas that it has taken offline
    "DELETING_STATES",  # must delete the states of a topic's partitions
    "DELETING_TOPIC",  # must delete the topic znode
    "DELETING_CONFIG",  # must delete the configuration of the topic
    "DELETING_MARKER",  # must delete /admin/delete_topics/t
    "DELETING_LEFTOVERS",  # must delete the markers of topics that it does not know
)
(RESUMING, STOPPING, DELETING_STATES, DELETING_TOPIC, DELETING_CONFIG, DELETING_MARKER, DELETING_LEFTOVERS) = range(
    len(Doing.names), len(Deleting.names)
)

LOG = Record(log=(Flag(), "the broker has a log of the partition, whether a process runs or not"))
REPLICA = context.REPLICA.extended(ghosts=(LOG, "history, for properties only"))
CONTROLLER = context.CONTROLLER.changed(doing=(Deleting, "the event in progress")).extended(
    ineligible=(SetOf("partitions"), "partitions of topics that are ineligible for deletion"),
    resuming=(SetOf("partitions"), "partitions whose topic's deletion is still to be resumed in this event"),
    dropping=(
        SetOf("partitions"),
        "partitions of the topic whose deletion goes on in this event, or of unknown topics",
    ),
)
BROKER = context.BROKER.changed(
    replicas=(Array(REPLICA, "partitions"), "its replicas"), controller=(CONTROLLER, "its controller")
)
STOP = Record(
    to=(SetOf("brokers"), "brokers to which StopReplica(delete) is on its way"),
    deleted=(SetOf("brokers"), "brokers whose answer is on its way: the replica is deleted"),
    failed=(SetOf("brokers"), "brokers whose answer is on its way: KAFKA_STORAGE_ERROR"),
)
STOPS = {
    "stops": (Array(Array(STOP, "partitions"), Bound("epochs", 1)), "StopReplica(delete) of each controller epoch")
}
ZOOKEEPER = znodes.ZOOKEEPER.extended(
    topics=(Array(Partition, "partitions"), "the first partition of the topic that a partition belongs to"),
    deleted=(SetOf("partitions"), "partitions of topics that were deleted"),
    stray=(Flag(), "/admin/delete_topics names a topic that never existed"),
)
STATE = Record(
    zk=(ZOOKEEPER, "ZooKeeper"),
    brokers=(Array(BROKER, "brokers"), "what each broker knows"),
    network=(NETWORK.extended(**STOPS), "requests on their way"),
)


def initial(s):
    """As without deletions, but each partition is a topic of its own."""
    begin(s)
    for p in range(len(s.zk.topics)):
        s.zk.topics[p] = p


def drop_event(controller):
    """What was left of the event is dropped, including that of deletions."""
    drop_rest(controller)
    controller.resuming = 0
    controller.dropping = 0


def forget(controller):
    """onControllerResignation: the context is emptied, including that of deletions."""
    drop_event(controller)
    forget_context(controller)
    controller.ineligible = 0


def forget_topic(controller):
    """removeTopic: the topic that was being deleted is not in the context any more."""
    controller.deleting = difference(controller.deleting, controller.dropping)
    controller.ineligible = difference(controller.ineligible, controller.dropping)
    for p in range(len(controller.partitions)):
        if contains(controller.dropping, p):
            forget_partition(controller.partitions[p])
    controller.dropping = 0
