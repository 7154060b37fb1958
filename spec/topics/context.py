"""What a broker holds of the topic: its logs and, while it is controller, the controller's context.

A handler is a program counter (`doing`) and the sets still to do, one ZooKeeper operation a step. Reading a state and
writing it on the version that was read is one step: a write in between only makes Kafka read again.

A topic that is deleted and created again is another incarnation. The context has the one that was read (in Kafka, from
2.8 on, the topic id); no guard in Kafka checks it.
"""

from kafkaproof.spec.kafka.state_machines import PartitionState, ReplicaState
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.domains import NOBODY, Array, Bound, Choice, Flag, Id, Number, Record, Sequence, SetOf
from kafkaproof.spec.language.sets import contains, is_empty, union
from kafkaproof.spec.partition.context import IDLE, clear, copy
from kafkaproof.spec.partition.reassignment.state import Reassigning

Broker = Id("brokers")
Partition = Id("partitions")
NO_EPOCH = -1
LeaderEpoch = Number(NO_EPOCH, Bound("leader_epochs"))
Leader = Id("brokers", nobody=True)
Replicas = Sequence(Id("brokers"), Bound("brokers"))
Incarnation = Number(0, Bound("topics"))

Doing = Choice(
    *Reassigning.names,
    "ARMING",  # must arm the watch on the topic's data (two-phase)
    "REWRITING",  # must remove partitions from the topic znode that were added while the topic is queued for deletion
    "MOVING",  # reassignment: must make a replica of the target the leader
)
ARMING, REWRITING, MOVING = range(len(Reassigning.names), len(Doing.names))
Task = Choice(
    "NO_TASK",
    "DELETE_TASK",  # the topic's replicas are to be deleted, and their answers awaited
    "DROP_TASK",  # a reassignment begins: replicas that it no longer needs are to be deleted
    "FINISH_TASK",  # a reassignment ends: replicas that it removes are to be deleted
)
NO_TASK, DELETE_TASK, DROP_TASK, FINISH_TASK = Task

ASSIGNMENT = Record(
    assignment=(Replicas, "replicas, the preferred first; with those that are added or removed while reassigned"),
    adding=(SetOf("brokers"), "adding_replicas (in the znode from 2.4 on)"),
    removing=(SetOf("brokers"), "removing_replicas (in the znode from 2.4 on)"),
)
PARTITION = Record(
    assignment=(Replicas, "its replicas, the preferred first; while it is reassigned the target, then the others"),
    adding=(SetOf("brokers"), "replicas that a reassignment adds"),
    removing=(SetOf("brokers"), "replicas that it removes"),
    state=(PartitionState, "state of the partition"),
    replicas=(Array(ReplicaState, "brokers"), "states of its replicas"),
    leader=(Leader, "leader in the leadership cache"),
    leader_epoch=(LeaderEpoch, "leader epoch in the cache, -1 when leadership is not known"),
    reassigned=(Flag(), "in partitionsBeingReassigned"),
    leaving=(SetOf("brokers"), "brokers whose replicas are still to go offline"),
    stopping=(SetOf("brokers"), "brokers whose replicas are then to be stopped and deleted"),
)
CONTROLLER = Record(
    epoch=(Number(0, Bound("epochs")), "controller epoch of the term, 0 without one"),
    doing=(Doing, "the event in progress"),
    task=(Task, "what follows when the replicas are offline"),
    starting=(Flag(), "the partition state machine has not started up yet"),
    todo=(SetOf("partitions"), "partitions still to be elected"),
    moving=(SetOf("partitions"), "partitions whose reassignment is still to be checked"),
    resuming=(Flag(), "the deletion is still to be resumed in this event"),
    joined=(SetOf("brokers"), "brokers that have come, not yet handled"),
    bounced=(SetOf("brokers"), "brokers that have gone and come unseen, not yet handled"),
    gone=(SetOf("brokers"), "brokers that have gone, not yet handled"),
    live=(SetOf("brokers"), "brokers known as registered"),
    topic=(Incarnation, "the topic in the context, 0 when it is unknown"),
    deleting=(Flag(), "in topicsToBeDeleted"),
    started=(Flag(), "in topicsWithDeletionStarted"),
    ineligible=(Flag(), "in topicsIneligibleForDeletion"),
    wanted=(ASSIGNMENT, "the assignment that the reassignment in progress writes"),
    partitions=(Array(PARTITION, "partitions"), "states and leadership of the partitions"),
)
BROKER = Record(
    up=(Flag(), "there is a process"),
    seen_epoch=(Number(0, Bound("epochs")), "highest controller epoch in an accepted request"),
    logs=(Array(Incarnation, "partitions"), "the topic of which it has a log, 0 for no log"),
    controller=(CONTROLLER, "its controller"),
)


def copy_assignment(source, target):
    """Make an assignment equal to another."""
    copy(source.assignment, target.assignment)
    target.adding = source.adding
    target.removing = source.removing


def clear_assignment(assignment):
    """No replicas."""
    clear(assignment.assignment)
    assignment.adding = 0
    assignment.removing = 0


def is_present(partition):
    """Whether a partition is in the context."""
    return partition.assignment.length > 0


def members(partition):
    """The brokers of a partition's assignment."""
    return replicas_of(partition.assignment)


def hosts(controller):
    """The brokers that have a replica of some partition."""
    found = 0
    for partition in controller.partitions:
        found = union(found, members(partition))
    return found


def has_leader(controller, partition):
    """Whether the cached leader is a live broker."""
    return partition.leader != NOBODY and contains(controller.live, partition.leader)


def is_reassigned(controller):
    """Whether some partition of the topic is being reassigned."""
    for partition in controller.partitions:
        if partition.reassigned:
            return True
    return False


def is_leaving(controller):
    """Whether some replica is still to go offline."""
    for partition in controller.partitions:
        if not is_empty(partition.leaving):
            return True
    return False


def remember_leadership(partition, leader, leader_epoch):
    """Put leader and leader epoch into the leadership cache."""
    partition.leader = leader
    partition.leader_epoch = leader_epoch


def forget_partition(partition):
    """A partition is not in the context any more."""
    clear_assignment(partition)
    partition.state = 0
    for r in range(len(partition.replicas)):
        partition.replicas[r] = 0
    remember_leadership(partition, NOBODY, NO_EPOCH)
    partition.reassigned = 0
    partition.leaving = 0
    partition.stopping = 0


def forget_topic(controller):
    """removeTopic: the topic is not in the context any more."""
    controller.topic = 0
    controller.deleting = 0
    controller.started = 0
    controller.ineligible = 0
    controller.resuming = 0
    for partition in controller.partitions:
        forget_partition(partition)


def forget(controller):
    """onControllerResignation: the context is emptied, the event in progress has ended."""
    controller.epoch = 0
    controller.doing = IDLE
    controller.task = NO_TASK
    controller.starting = 0
    controller.todo = 0
    controller.moving = 0
    controller.joined = 0
    controller.bounced = 0
    controller.gone = 0
    controller.live = 0
    clear_assignment(controller.wanted)
    forget_topic(controller)


def drop_nothing(controller):
    """An event that fails for want of a session has only begun: nothing is left of it."""
    return 0


def keep_nothing(broker):
    """There is no event queue here: an answer waits in the network."""
    return 0


def end_process(broker):
    """The process is gone with all that it knew; its logs stay."""
    broker.up = 0
    broker.seen_epoch = 0
    forget(broker.controller)
