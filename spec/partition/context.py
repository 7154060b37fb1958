"""What a broker holds of partitions: its own replicas, and, while it rules, the controller's context.

A handler is a program counter (`doing`) and the sets still to do, one partition and one ZooKeeper operation
a step; what needs no operation happens at the end of the step before. What is read is kept in `result`,
turned there into what is to be written, and written in the next step.

The context's assignment is the topic's, which nobody changes here. Of its versions only whether it is
the present one matters, and ZooKeeper's part says that (`readers`).
"""

from spec.language.domains import NOBODY, Array, Bound, Choice, Flag, Id, Number, Record, Sequence, SetOf
from spec.language.sequences import push
from spec.language.sets import contains, difference, everybody, intersection, is_empty, with_member, without_member
from spec.partition.legal import (
    NEW_PARTITION, OFFLINE_PARTITION, OFFLINE_REPLICA, ONLINE_PARTITION, ONLINE_REPLICA,
    REPLICA_DELETION_INELIGIBLE, PartitionState, ReplicaState,
)
from spec.partition.strategies import replicas_of

Broker = Id("brokers")
Partition = Id("partitions")
NO_EPOCH = -1
LeaderEpoch = Number(NO_EPOCH, Bound("leader_epochs"))
Leader = Id("brokers", nobody=True)

Doing = Choice(
    "IDLE",
    "READING_BROKERS",  # a reign begins: must list /brokers/ids
    "READING_STATES",  # must read the state of each partition
    "ELECTING",  # must read a partition's state, or create the first, and elect
    "WRITING_LEADER",  # must write the election's result
    "REMOVING",  # must read a partition's state, and remove a replica from its ISR
    "WRITING_REMOVAL",  # must write it without the replica
    "CHANGING",  # brokers have come or gone, and are still to be handled
    "DELETING_REQUEST",  # must delete /admin/preferred_replica_election
)
(
    IDLE, READING_BROKERS, READING_STATES, ELECTING, WRITING_LEADER, REMOVING, WRITING_REMOVAL, CHANGING,
    DELETING_REQUEST,
) = Doing
Strategy = Choice("OFFLINE", "PREFERRED", "PREFERRED_BY_ZNODE", "CONTROLLED_SHUTDOWN")
OFFLINE, PREFERRED, PREFERRED_BY_ZNODE, CONTROLLED_SHUTDOWN = Strategy

REPLICA = Record(
    leader=(Leader, "leader that the last accepted LeaderAndIsr named"),
    leader_epoch=(LeaderEpoch, "its leader epoch, -1 before any"),
)
RESULT = Record(
    leader=(Leader, "leader read, or to be written"),
    isr=(SetOf("brokers"), "ISR read, or to be written"),
    leader_epoch=(LeaderEpoch, "leader epoch read, or to be written; -1 when nothing is"),
    unclean=(Flag(), "unclean.leader.election.enable of the topic, as read"),
)
PARTITION = Record(
    state=(PartitionState, "state of the partition"),
    replicas=(Array(ReplicaState, "brokers"), "states of its replicas"),
    leader=(Leader, "leader in the leadership cache"),
    isr=(SetOf("brokers"), "ISR in the cache"),
    leader_epoch=(LeaderEpoch, "leader epoch in the cache, -1 when leadership is not known"),
)
CONTROLLER = Record(
    epoch=(Number(0, Bound("epochs")), "controller epoch of the reign, 0 without one"),
    doing=(Doing, "the event in progress"),
    starting=(Flag(), "the partition state machine has not started up yet"),
    strategy=(Strategy, "how the event in progress elects"),
    todo=(SetOf("partitions"), "partitions still to be read or elected"),
    removing=(SetOf("partitions"), "partitions from whose ISR the lowest of `replicas` is still to be removed"),
    replicas=(SetOf("brokers"), "brokers whose replicas are still to go offline"),
    joined=(SetOf("brokers"), "brokers that have come, not yet handled"),
    bounced=(SetOf("brokers"), "brokers that have gone and come unseen, not yet handled"),
    gone=(SetOf("brokers"), "brokers that have gone, not yet handled"),
    live=(SetOf("brokers"), "brokers known as registered, those that are shutting down included"),
    leaving=(SetOf("brokers"), "brokers that are shutting down"),
    result=(RESULT, "what was read, or is to be written"),
    partitions=(Array(PARTITION, "partitions"), "states and leadership of the partitions"),
)
BROKER = Record(
    up=(Flag(), "there is a process"),
    seen_epoch=(Number(0, Bound("epochs")), "highest controller epoch in an accepted request"),
    assignment=(Sequence(Id("brokers"), Bound("replicas")), "replicas of every partition, the preferred first"),
    replicas=(Array(REPLICA, "partitions"), "its replicas"),
    controller=(CONTROLLER, "its controller"),
)


def union(broker, members, others):
    """The ids that are in at least one of two sets of brokers."""
    everyone = everybody(len(broker.controller.partitions[0].replicas))
    return difference(everyone, difference(difference(everyone, members), others))


def is_next(members, x):
    """Whether `x` is the lowest member of a set."""
    return contains(members, x) and is_empty(intersection(members, everybody(x)))


def online(controller):
    """The brokers that are live and not shutting down."""
    return difference(controller.live, controller.leaving)


def start_process(broker):
    """A process begins, with nothing in memory but the assignment."""
    broker.up = 1
    forget(broker.controller)
    for replica in broker.replicas:
        replica.leader = NOBODY
        replica.leader_epoch = NO_EPOCH


def end_process(broker):
    """The process is gone with all that it knew."""
    start_process(broker)
    broker.up = 0
    broker.seen_epoch = 0


def assign(broker):
    """The replicas are brokers 0, 1, 2 ..."""
    for i in range(len(broker.assignment.slots) - 1):
        push(broker.assignment, i)


def forget(controller):
    """onControllerResignation: the context is emptied, the event in progress has ended."""
    controller.epoch = 0
    controller.doing = IDLE
    controller.starting = 0
    controller.strategy = OFFLINE
    controller.todo = 0
    controller.removing = 0
    controller.replicas = 0
    controller.joined = 0
    controller.bounced = 0
    controller.gone = 0
    controller.live = 0
    controller.leaving = 0
    drop_result(controller)
    for partition in controller.partitions:
        partition.state = 0
        remember_leadership(partition, NOBODY, 0, NO_EPOCH)
        for r in range(len(partition.replicas)):
            partition.replicas[r] = 0


def drop_result(controller):
    """Forget what was read."""
    controller.result.leader = NOBODY
    controller.result.isr = 0
    controller.result.leader_epoch = NO_EPOCH
    controller.result.unclean = 0


def remember_leadership(partition, leader, isr, leader_epoch):
    """Put leader, ISR and leader epoch into the leadership cache."""
    partition.leader = leader
    partition.isr = isr
    partition.leader_epoch = leader_epoch


def remember_result(controller, partition):
    """Put what was read, or written, into the leadership cache."""
    result = controller.result
    remember_leadership(partition, result.leader, result.isr, result.leader_epoch)
    drop_result(controller)


def has_leader(controller, partition):
    """Whether the cached leader is somebody who is online."""
    return partition.leader != NOBODY and contains(online(controller), partition.leader)


def trigger_online(controller):
    """triggerOnlinePartitionStateChange: every partition that is New or Offline is to be elected."""
    controller.strategy = OFFLINE
    controller.todo = 0
    for p in range(len(controller.partitions)):
        state = controller.partitions[p].state
        if state == NEW_PARTITION or state == OFFLINE_PARTITION:
            controller.todo = with_member(controller.todo, p)


def start_replicas(broker):
    """ReplicaStateMachine.startup: replicas of live brokers are Online, the others are to go Offline."""
    controller = broker.controller
    for partition in controller.partitions:
        for r in range(len(partition.replicas)):
            if contains(replicas_of(broker.assignment), r):
                online_now = contains(online(controller), r)
                partition.replicas[r] = ONLINE_REPLICA if online_now else REPLICA_DELETION_INELIGIBLE
    controller.replicas = difference(replicas_of(broker.assignment), controller.live)
    controller.starting = 1


def start_partitions(controller):
    """PartitionStateMachine.startup: New without a state znode, Online or Offline as the leader is."""
    for partition in controller.partitions:
        if partition.leader_epoch == NO_EPOCH:
            partition.state = NEW_PARTITION
        else:
            partition.state = ONLINE_PARTITION if has_leader(controller, partition) else OFFLINE_PARTITION
    controller.starting = 0
    trigger_online(controller)


def next_removal(controller):
    """Choose the partitions of the next replica; where leadership is not known it is Offline at once."""
    for r in range(len(controller.partitions[0].replicas)):
        if contains(controller.replicas, r) and is_empty(controller.removing):
            for p in range(len(controller.partitions)):
                if controller.partitions[p].leader_epoch == NO_EPOCH:
                    controller.partitions[p].replicas[r] = OFFLINE_REPLICA
                else:
                    controller.removing = with_member(controller.removing, p)
            if is_empty(controller.removing):
                controller.replicas = without_member(controller.replicas, r)


def end_removal(controller, p, r):
    """Replica `r` of partition `p` is done with."""
    controller.removing = without_member(controller.removing, p)
    if is_empty(controller.removing):
        controller.replicas = without_member(controller.replicas, r)
    drop_result(controller)
    proceed(controller)


def end_election(controller, p):
    """Partition `p` is done with, elected or not."""
    controller.todo = without_member(controller.todo, p)
    drop_result(controller)
    proceed(controller)


def proceed(controller):
    """Go on with the event: elect, then take replicas offline (a new reign: before), then what is left."""
    if is_empty(controller.todo):
        next_removal(controller)
    if controller.starting and is_empty(controller.replicas):
        start_partitions(controller)
    if not is_empty(controller.todo):
        controller.doing = ELECTING
    elif not is_empty(controller.replicas):
        controller.doing = REMOVING
    elif controller.strategy == PREFERRED_BY_ZNODE:
        controller.doing = DELETING_REQUEST
    elif is_empty(controller.joined) and is_empty(controller.bounced) and is_empty(controller.gone):
        controller.doing = IDLE
        controller.strategy = OFFLINE
    else:
        controller.doing = CHANGING
