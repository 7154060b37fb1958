"""What a broker knows of partitions: its own replicas and, while it is controller, the controller's context.

A handler is a program counter (`doing`) and the sets still to do, one partition and one ZooKeeper operation a step;
what needs no operation happens at the end of the previous step (see `progress`). What is read is kept in `result`,
becomes there what is to be written, and is written in the next step.

A partition's assignment comes from the topic and is read when a term begins; nothing changes it here. All that matters
of a state's version is whether it is the current one, and ZooKeeper's part keeps that (`readers`).
"""

from kafkaproof.spec.kafka.state_machines import PartitionState, ReplicaState
from kafkaproof.spec.language.domains import NOBODY, Array, Bound, Choice, Flag, Id, Number, Record, Sequence, SetOf
from kafkaproof.spec.language.sets import contains, difference

Broker = Id("brokers")
Partition = Id("partitions")
NO_EPOCH = -1
LeaderEpoch = Number(NO_EPOCH, Bound("leader_epochs"))
Leader = Id("brokers", nobody=True)
Assignment = Sequence(Id("brokers"), Bound("replicas"))

Doing = Choice(
    "IDLE",
    "READING_BROKERS",  # a term begins: must list /brokers/ids
    "READING_STATES",  # must read the state of each partition
    "ELECTING",  # must read a partition's state, or create the first, and elect
    "WRITING_LEADER",  # must write the election's result
    "REMOVING",  # must read a partition's state, and remove a replica from its ISR
    "WRITING_REMOVAL",  # must write the state without the replica
    "CHANGING",  # brokers have come or gone, and are still to be handled
    "DELETING_REQUEST",  # must delete the request in ZooKeeper that it has dealt with
    "DELETING_EVENTS",  # must delete the notifications of failed log directories that it has dealt with
    "READING_REQUEST",  # a term begins: must read the operator's request for preferred leaders
    "MOVING",  # the failover has failed: must give up /controller
    "LAPSED",  # the failover has failed in a session that is over: the Expire event is to end the term
)
(
    IDLE,
    READING_BROKERS,
    READING_STATES,
    ELECTING,
    WRITING_LEADER,
    REMOVING,
    WRITING_REMOVAL,
    CHANGING,
    DELETING_REQUEST,
    DELETING_EVENTS,
    READING_REQUEST,
    MOVING,
    LAPSED,
) = Doing
Strategy = Choice(
    "OFFLINE",
    "PREFERRED",
    "PREFERRED_BY_ZNODE",  # preferred, requested in ZooKeeper, where the request is then deleted
    "CONTROLLED_SHUTDOWN",
    "FORCED",  # offline, and unclean even if the topic does not allow it: an administrator asks for it
    "REASSIGN",
)
OFFLINE, PREFERRED, PREFERRED_BY_ZNODE, CONTROLLED_SHUTDOWN, FORCED, REASSIGN = Strategy

Batch = Choice(
    "EMPTY",
    "WRITTEN",  # states are written in a round of elections that is not over: their requests are collected at its end
    "COLLECTED",  # requests are collected, and sent when the state machine has done what it was asked for
    "STUCK",  # requests were collected in a former term and never sent: the state machine does nothing any more
)
EMPTY, WRITTEN, COLLECTED, STUCK = Batch

REPLICA = Record(
    leader=(Leader, "leader that the last accepted LeaderAndIsr named"),
    leader_epoch=(LeaderEpoch, "its leader epoch, -1 before any"),
    failed=(Flag(), "its log directory has failed: it is lost to the process"),
)
RESULT = Record(
    leader=(Leader, "leader read, or to be written"),
    isr=(SetOf("brokers"), "ISR read, or to be written"),
    leader_epoch=(LeaderEpoch, "leader epoch read, or to be written; -1 for neither"),
    unclean=(Flag(), "unclean.leader.election.enable of the topic, as read"),
)
PARTITION = Record(
    assignment=(Assignment, "its replicas, the preferred first; empty without a term"),
    state=(PartitionState, "state of the partition"),
    replicas=(Array(ReplicaState, "brokers"), "states of its replicas"),
    failed=(SetOf("brokers"), "brokers whose log directory of it is known to have failed"),
    leader=(Leader, "leader in the leadership cache"),
    isr=(SetOf("brokers"), "ISR in the cache"),
    leader_epoch=(LeaderEpoch, "leader epoch in the cache, -1 when leadership is not known"),
)
CONTROLLER = Record(
    epoch=(Number(0, Bound("epochs")), "controller epoch of the term, 0 without one"),
    doing=(Doing, "the event in progress"),
    starting=(Flag(), "the partition state machine has not started up yet"),
    failing_over=(Flag(), "the failover is not over: the state machines are starting up"),
    overlooked=(Flag(), "a request for preferred leaders has failed in this term: its watch does not report it again"),
    strategy=(Strategy, "how the event in progress elects"),
    target=(Assignment, "the target of the reassignment in progress"),
    todo=(SetOf("partitions"), "partitions still to be read or elected"),
    another_round=(Flag(), "a write of this round of elections met another version: there is another round"),
    next_round=(SetOf("partitions"), "partitions that are elected again in the next round, if there is one"),
    removing=(SetOf("partitions"), "partitions from whose ISR the lowest of `replicas` is still to be removed"),
    replicas=(SetOf("brokers"), "brokers whose replicas are still to go offline"),
    joined=(SetOf("brokers"), "brokers that have come, not yet handled"),
    bounced=(SetOf("brokers"), "brokers that have gone and come unseen, not yet handled"),
    gone=(SetOf("brokers"), "brokers that have gone, not yet handled"),
    live=(SetOf("brokers"), "brokers known as registered, including those shutting down"),
    leaving=(SetOf("brokers"), "brokers that are shutting down"),
    deleting=(SetOf("partitions"), "partitions whose topic is queued for deletion, as far as known"),
    result=(RESULT, "what was read, or is to be written"),
    partitions=(Array(PARTITION, "partitions"), "states and leadership of the partitions"),
    partition_batch=(Batch, "requests of the partition state machine; of the process, not of the term"),
    replica_batch=(Batch, "requests of the replica state machine; of the process, not of the term"),
)
BROKER = Record(
    up=(Flag(), "there is a process"),
    seen_epoch=(Number(0, Bound("epochs")), "highest controller epoch in an accepted request"),
    replicas=(Array(REPLICA, "partitions"), "its replicas"),
    unnotified=(Flag(), "a log directory has failed, and the controller is still to be notified"),
    deaf=(Flag(), "the thread that notifies of failed log directories has ended: none that fails now is noticed"),
    errors=(Array(SetOf("partitions"), "brokers"), "storage errors in its event queue, by the broker that answered"),
    controller=(CONTROLLER, "its controller"),
)


def alive(controller):
    """The brokers that are registered and not shutting down."""
    return difference(controller.live, controller.leaving)


def online(controller, partition):
    """The brokers on which a replica is online: alive, and its log directory is not known to have failed."""
    return difference(alive(controller), partition.failed)


def online_or_leaving(controller, partition):
    """The same, including brokers that are shutting down."""
    return difference(controller.live, partition.failed)


def has_leader(controller, partition):
    """Whether the cached leader is an online broker."""
    return partition.leader != NOBODY and contains(online(controller, partition), partition.leader)


def is_known(partition):
    """Whether the leadership of a partition is known: there is a state."""
    return partition.leader_epoch != NO_EPOCH


def is_without_state(controller, p):
    """Whether a partition is in the context, and its leadership is not known: nobody could be elected yet."""
    partition = controller.partitions[p]
    return partition.assignment.length > 0 and not is_known(partition)


def is_queued(controller, p):
    """Whether the topic of a partition is queued for deletion, as far as the controller knows."""
    return contains(controller.deleting, p)


def partitions_move(controller):
    """Whether the partition state machine works. It does not while its batch holds requests of a former term.

    Kafka: ControllerBrokerRequestBatch.newBatch, 0.8 to 2.2; AbstractControllerBrokerRequestBatch.newBatch, 2.3 to 3.9
           (it throws, which the state machine logs).
    """
    return controller.partition_batch != STUCK


def replicas_move(controller):
    """Whether the replica state machine works, in the same way."""
    return controller.replica_batch != STUCK


def copy(source, sequence):
    """Make `sequence` equal to another."""
    sequence.length = source.length
    for i in range(len(source.slots)):
        sequence.slots[i] = source.slots[i]


def clear(sequence):
    """Empty a sequence."""
    sequence.length = 0
    for i in range(len(sequence.slots)):
        sequence.slots[i] = 0


def start_process(broker):
    """A process begins, with nothing in memory, and log directories that work."""
    broker.up = 1
    broker.unnotified = 0
    broker.deaf = 0
    empty_queue(broker)
    forget(broker.controller)
    broker.controller.partition_batch = EMPTY
    broker.controller.replica_batch = EMPTY
    for replica in broker.replicas:
        lose_replica(replica)
        replica.failed = 0


def empty_queue(broker):
    """No answer waits in the event queue."""
    for r in range(len(broker.errors)):
        broker.errors[r] = 0


def end_process(broker):
    """The process is gone with all that it knew."""
    start_process(broker)
    broker.up = 0
    broker.seen_epoch = 0


def lose_replica(replica):
    """Forget what LeaderAndIsr has said of a replica."""
    replica.leader = NOBODY
    replica.leader_epoch = NO_EPOCH


def drop_event(controller):
    """The event in progress has ended, and what was left of it is dropped."""
    controller.doing = IDLE
    controller.starting = 0
    controller.failing_over = 0
    controller.strategy = OFFLINE
    clear(controller.target)
    controller.todo = 0
    controller.another_round = 0
    controller.next_round = 0
    controller.removing = 0
    controller.replicas = 0
    controller.joined = 0
    controller.bounced = 0
    controller.gone = 0
    drop_result(controller)


def forget(controller):
    """onControllerResignation: the context is emptied, the event in progress has ended. A dead state machine stays so."""
    drop_event(controller)
    controller.epoch = 0
    controller.overlooked = 0
    controller.live = 0
    controller.leaving = 0
    controller.deleting = 0
    if controller.partition_batch != STUCK:
        controller.partition_batch = EMPTY
    for partition in controller.partitions:
        forget_partition(partition)


def forget_partition(partition):
    """A partition is not in the context any more."""
    clear(partition.assignment)
    partition.state = 0
    partition.failed = 0
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
