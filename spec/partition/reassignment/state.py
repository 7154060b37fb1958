"""What a reassignment adds to the state of `partition`, and how it is forgotten.

A partition is being reassigned (partitionsBeingReassigned) when its assignment has replicas to add or to remove. A
target has no more replicas than the scope says; together with the old replicas it may span all brokers.
"""

from kafkaproof.spec.language.domains import Array, Bound, Choice, Flag, Id, Record, Sequence, SetOf
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition.context import NO_EPOCH, PARTITION, LeaderEpoch
from kafkaproof.spec.partition.deletion import state as deletion
from kafkaproof.spec.partition.deletion.state import Deleting
from kafkaproof.spec.partition.deletion.state import drop_event as drop_rest
from kafkaproof.spec.partition.deletion.state import forget as forget_rest
from kafkaproof.spec.partition.deletion.state import forget_topic as forget_deleted
from kafkaproof.spec.partition.deletion.state import initial as begin
from kafkaproof.spec.partition.network import NETWORK
from kafkaproof.spec.partition.reassignment.network import ALTERATION

Replicas = Sequence(Id("brokers"), Bound("brokers"))
Reassigning = Choice(
    *Deleting.names,
    "WRITING_ASSIGNMENT",  # must write the assignment that a reassignment begins with
    "CHECKING",  # must read whether the target is in the ISR
    "TELLING",  # must raise the leader epoch, and send LeaderAndIsr
    "STOPPING_REMOVED",  # must send StopReplica(delete) to the replicas that are removed
    "WRITING_TARGET",  # must write the target as the assignment
)
WRITING_ASSIGNMENT, CHECKING, TELLING, STOPPING_REMOVED, WRITING_TARGET = range(
    len(Deleting.names), len(Reassigning.names)
)

MOVED = {
    "adding": (SetOf("brokers"), "replicas that a reassignment adds"),
    "removing": (SetOf("brokers"), "replicas that it removes"),
}
KNOWN = PARTITION.changed(
    assignment=(Replicas, "its replicas, the preferred first; while it is reassigned the target, then the others")
).extended(**MOVED)
CONTROLLER = deletion.CONTROLLER.changed(
    doing=(Reassigning, "the event in progress"),
    target=(Replicas, "the target of the reassignment in hand"),
    partitions=(Array(KNOWN, "partitions"), "states and leadership of the partitions"),
).extended(
    moving=(SetOf("partitions"), "partitions whose reassignment is still to be checked in this event"),
    finishing=(Flag(), "the reassignment of the first of them is being completed"),
    removed=(SetOf("brokers"), "replicas that it removes, still to be stopped"),
)
BROKER = deletion.BROKER.changed(controller=(CONTROLLER, "its controller"))
STOP = deletion.STOP.extended(
    leader_epochs=(Array(LeaderEpoch, "brokers"), "leader epoch in it; -1 for the deletion of a topic")
)
STOPS = {
    "stops": (Array(Array(STOP, "partitions"), Bound("epochs", 1)), "StopReplica(delete) of each controller epoch")
}
ZOOKEEPER = deletion.ZOOKEEPER.changed(
    assignments=(Array(Replicas, "partitions"), "the assignment of each partition, in the topic znode")
).extended(
    adding=(Array(SetOf("brokers"), "partitions"), "adding_replicas of each partition, in the topic znode"),
    removing=(Array(SetOf("brokers"), "partitions"), "removing_replicas of each partition, in the topic znode"),
    unknown_listed=(Flag(), "/admin/reassign_partitions lists a partition that there never was"),
)
ALTERATIONS = {"alteration": (ALTERATION, "the reassignment that an administrator asks for")}
STATE = Record(
    zk=(ZOOKEEPER, "ZooKeeper"),
    brokers=(Array(BROKER, "brokers"), "what each broker knows"),
    network=(NETWORK.extended(**STOPS), "requests on their way"),
)
WITH_ALTERATIONS = STATE.changed(network=(NETWORK.extended(**STOPS, **ALTERATIONS), "requests on their way"))


def initial(s):
    """As without reassignments, but each partition has as many replicas as the scope says."""
    begin(s)
    keep_replicas(s)
    number_stops(s)


def keep_replicas(s):
    """Each partition keeps the first of its replicas, as many as a target may have."""
    size = len(s.zk.targets[0].slots) - 1
    for assignment in s.zk.assignments:
        assignment.length = min(assignment.length, size)
        for i in range(len(assignment.slots)):
            if i >= size:
                assignment.slots[i] = 0


def number_stops(s):
    """No StopReplica is on its way: none has a leader epoch."""
    for epoch in range(len(s.network.stops) - 1):
        for stop in s.network.stops[epoch]:
            for r in range(len(stop.leader_epochs)):
                stop.leader_epochs[r] = NO_EPOCH


def drop_event(controller):
    """What was left of the event is dropped, including that of reassignments."""
    drop_rest(controller)
    controller.moving = 0
    controller.finishing = 0
    controller.removed = 0


def forget(controller):
    """onControllerResignation: the context is emptied, including that of reassignments."""
    drop_event(controller)
    forget_rest(controller)
    for partition in controller.partitions:
        forget_moved(partition)


def forget_moved(partition):
    """A partition has no replicas to add, or to remove."""
    partition.adding = 0
    partition.removing = 0


def forget_topic(controller):
    """removeTopic: the topic that was being deleted is not in the context any more."""
    for p in range(len(controller.partitions)):
        if contains(controller.dropping, p):
            forget_moved(controller.partitions[p])
    forget_deleted(controller)
