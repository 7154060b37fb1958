"""How an event goes on: what is to be elected, which replicas are to go offline, and what comes next.

triggerOnlinePartitionStateChange, the start-up of both state machines, and the order within
onReplicasBecomeOffline: elect first, then take replicas offline.
"""

from kafkaproof.spec.kafka.state_machines import (
    NEW_PARTITION,
    OFFLINE_PARTITION,
    OFFLINE_REPLICA,
    ONLINE_PARTITION,
    ONLINE_REPLICA,
    REPLICA_DELETION_INELIGIBLE,
    replica_move_is_legal,
)
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.kafka.zookeeper import FENCED
from kafkaproof.spec.language.sets import (
    contains,
    difference,
    everybody,
    intersection,
    is_empty,
    only,
    union,
    with_member,
    without_member,
)
from kafkaproof.spec.partition.context import (
    CHANGING,
    CONTROLLED_SHUTDOWN,
    DELETING_REQUEST,
    ELECTING,
    IDLE,
    LAPSED,
    OFFLINE,
    PREFERRED_BY_ZNODE,
    REASSIGN,
    REMOVING,
    alive,
    clear,
    drop_event,
    drop_result,
    forget,
    has_leader,
    is_known,
    is_queued,
    is_without_state,
    partitions_move,
    replicas_move,
)
from kafkaproof.spec.partition.zookeeper import disconnect


def at_work(controller):
    """Whether the broker is controller and waits for events."""
    return controller.epoch > 0 and controller.doing == IDLE


def give_up(s, b, answer):
    """A request of the event in progress is refused. On FENCED (a ControllerMovedException) the term is over, unless the
    event answers whoever asked for it with the exception, as a controlled shutdown does; on EXPIRED the event fails, and
    the Expire event, which comes next, ends the term.

    Kafka: ControllerEventThread.doWork, 1.1 to 3.9; KafkaController.maybeResign, 2.1 to 3.9;
           KafkaController.ControlledShutdown, 0.11 to 2.2; KafkaController.processControlledShutdown, 2.3 to 3.9.
    """
    controller = s.brokers[b].controller
    if answer == FENCED and controller.strategy != CONTROLLED_SHUTDOWN:
        disconnect(s.zk, b)
        forget(controller)
    else:
        drop_event(controller)


def lapse(controller, answer):
    """A failover fails in a session that is over: whether /controller is its own cannot be read either, so the term lasts
    until the Expire event. (What was read of the context is dropped here at once.)

    Kafka: KafkaController.triggerControllerMove, 2.1 to 3.9.
    """
    epoch = controller.epoch
    forget(controller)
    controller.epoch = epoch
    controller.doing = LAPSED


def is_at_machines(controller):
    """Whether an election or a removal of the event in progress is still to be done."""
    return not is_empty(controller.todo) or not is_empty(controller.replicas)


def is_next(members, x):
    """Whether `x` is the lowest member of a set."""
    return contains(members, x) and is_empty(intersection(members, everybody(x)))


def hosts(controller):
    """The brokers that have a replica of some partition."""
    found = 0
    for partition in controller.partitions:
        found = union(found, replicas_of(partition.assignment))
    return found


def wants_leader(controller, p):
    """Whether a partition is New or Offline, and its topic not queued for deletion."""
    state = controller.partitions[p].state
    return (state == NEW_PARTITION or state == OFFLINE_PARTITION) and not is_queued(controller, p)


def trigger_online(controller):
    """triggerOnlinePartitionStateChange: every partition that needs a leader is to be elected."""
    controller.strategy = OFFLINE
    controller.todo = 0
    for p in range(len(controller.partitions)):
        if wants_leader(controller, p) and partitions_move(controller):
            controller.todo = with_member(controller.todo, p)


def mark_offline_leaders(controller):
    """partitionsWithOfflineLeader go Offline; those of a topic that is queued for deletion do not count.

    Kafka: KafkaController.onReplicasBecomeOffline, 1.0 to 3.9.
    """
    for p in range(len(controller.partitions)):
        partition = controller.partitions[p]
        leaderless = is_known(partition) and not has_leader(controller, partition)
        if leaderless and not is_queued(controller, p) and partitions_move(controller):
            partition.state = OFFLINE_PARTITION


def dead_hosts(controller):
    """The brokers whose replicas are to go offline when a term begins: those that are not live.

    Kafka: ReplicaStateMachine.startup, 2.3 to 3.9.
    """
    return difference(hosts(controller), controller.live)


def start_replicas(controller):
    """ReplicaStateMachine.startup: replicas of live brokers are Online, the others are to go Offline."""
    for partition in controller.partitions:
        for r in range(len(partition.replicas)):
            if contains(replicas_of(partition.assignment), r):
                lives = contains(alive(controller), r)
                partition.replicas[r] = ONLINE_REPLICA if lives else REPLICA_DELETION_INELIGIBLE
    controller.replicas = dead_hosts(controller)
    controller.starting = 1
    controller.failing_over = 1


def start_partitions(controller):
    """PartitionStateMachine.startup: New without a state znode, Online or Offline as the leader is."""
    for partition in controller.partitions:
        if not is_known(partition):
            partition.state = NEW_PARTITION
        else:
            partition.state = ONLINE_PARTITION if has_leader(controller, partition) else OFFLINE_PARTITION
    controller.starting = 0
    trigger_online(controller)


def take_offline(controller, r, partitions):
    """Replicas of broker `r` are to go offline, if they may; where leadership is not known they are Offline at once."""
    for p in range(len(controller.partitions)):
        may = replica_move_is_legal(controller.partitions[p].replicas[r], OFFLINE_REPLICA)
        if contains(partitions, p) and may and replicas_move(controller):
            if is_known(controller.partitions[p]):
                controller.removing = with_member(controller.removing, p)
                controller.replicas = union(controller.replicas, only(r))
            else:
                controller.partitions[p].replicas[r] = OFFLINE_REPLICA


def hosted_by(controller, r):
    """The partitions that have a replica on broker `r`."""
    found = 0
    for p in range(len(controller.partitions)):
        if contains(replicas_of(controller.partitions[p].assignment), r):
            found = with_member(found, p)
    return found


def to_take_offline(controller, r):
    """The partitions whose replicas on broker `r` go offline: all of them when a term begins, later none that are
    queued for deletion.
    """
    hosted = hosted_by(controller, r)
    return hosted if controller.starting else difference(hosted, controller.deleting)


def next_removal(controller):
    """Choose the partitions of the next broker whose replicas are to go offline."""
    for r in range(len(controller.partitions[0].replicas)):
        if contains(controller.replicas, r) and is_empty(controller.removing):
            controller.replicas = without_member(controller.replicas, r)
            take_offline(controller, r, to_take_offline(controller, r))


def end_removal(controller, p, r):
    """Replica `r` of partition `p` is done."""
    controller.removing = without_member(controller.removing, p)
    if is_empty(controller.removing):
        controller.replicas = without_member(controller.replicas, r)
    drop_result(controller)
    proceed(controller)


def proceed(controller):
    """Go on with the event: elect, then take replicas offline (first, when a term begins), then the rest."""
    if not partitions_move(controller):
        controller.todo = 0
    if is_empty(controller.todo):
        next_removal(controller)
    if controller.starting and is_empty(controller.replicas):
        start_partitions(controller)
    if not is_empty(controller.todo):
        controller.doing = ELECTING
    elif not is_empty(controller.replicas):
        controller.doing = REMOVING
    else:
        go_on(controller)


def lacks_a_state(controller):
    """Whether some partition in the context has no state, and its topic is not queued for deletion."""
    for p in range(len(controller.partitions)):
        if is_without_state(controller, p) and not is_queued(controller, p):
            return True
    return False


def go_on(controller):
    """No election and no removal is left: go on with the rest of the event. A request for preferred leaders is not
    deleted while a partition has no state: the event fails.

    Kafka: KafkaController.removePartitionsFromPreferredReplicaElection, 0.8 to 3.9.
    """
    if controller.strategy == PREFERRED_BY_ZNODE and lacks_a_state(controller):
        controller.overlooked = 1
        controller.strategy = OFFLINE
    if controller.strategy == PREFERRED_BY_ZNODE or controller.strategy == REASSIGN:
        controller.doing = DELETING_REQUEST
    elif is_empty(controller.joined) and is_empty(controller.bounced) and is_empty(controller.gone):
        end_event(controller)
    else:
        controller.doing = CHANGING


def end_event(controller):
    """The event is over; the controller waits for the next."""
    controller.doing = IDLE
    controller.strategy = OFFLINE
    clear(controller.target)
