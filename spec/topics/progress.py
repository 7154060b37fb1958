"""How an event goes on: what is to be elected, which replicas go offline or are stopped, and what comes next.

Kafka runs one event to its end. Here each event ends with: elect, take replicas offline, stop them, handle the next
brokers, check reassignments, resume the deletion.
"""

from kafkaproof.spec.kafka.deletion_moves import end_partition, move_partition, move_replicas
from kafkaproof.spec.kafka.state_machines import (
    NEW_PARTITION,
    NON_EXISTENT_REPLICA,
    OFFLINE_PARTITION,
    OFFLINE_REPLICA,
    ONLINE_PARTITION,
    ONLINE_REPLICA,
    REPLICA_DELETION_INELIGIBLE,
    REPLICA_DELETION_STARTED,
    REPLICA_DELETION_SUCCESSFUL,
    replica_move_is_legal,
)
from kafkaproof.spec.language.sets import (
    contains,
    difference,
    intersection,
    is_empty,
    union,
    with_member,
    without_member,
)
from kafkaproof.spec.partition.context import CHANGING, ELECTING, IDLE, REMOVING, is_known
from kafkaproof.spec.partition.deletion.state import DELETING_STATES, DELETING_TOPIC, STOPPING
from kafkaproof.spec.partition.progress import is_next
from kafkaproof.spec.partition.reassignment.state import CHECKING
from kafkaproof.spec.topics.context import DELETE_TASK, NO_TASK, has_leader, hosts, is_leaving, is_present, members


def leaves_next(controller, p, r):
    """Whether replica `r` of partition `p` is the next to go offline."""
    for q in range(p):
        if not is_empty(controller.partitions[q].leaving):
            return False
    return is_next(controller.partitions[p].leaving, r)


def replicas_in(partition, state):
    """The brokers whose replicas of a partition are in a state."""
    found = 0
    for r in range(len(partition.replicas)):
        if partition.replicas[r] == state and contains(members(partition), r):
            found = with_member(found, r)
    return found


def take_offline(partition, brokers):
    """Replicas on some brokers are to go offline; where leadership is not known they are Offline at once."""
    for r in range(len(partition.replicas)):
        if contains(brokers, r) and replica_move_is_legal(partition.replicas[r], OFFLINE_REPLICA):
            if is_known(partition):
                partition.leaving = with_member(partition.leaving, r)
            else:
                partition.replicas[r] = OFFLINE_REPLICA


def trigger_online(controller):
    """triggerOnlinePartitionStateChange: every partition that needs a leader is to be elected."""
    for p in range(len(controller.partitions)):
        state = controller.partitions[p].state
        waits = state == NEW_PARTITION or state == OFFLINE_PARTITION
        if waits and not controller.deleting:
            controller.todo = with_member(controller.todo, p)


def mark_offline_leaders(controller):
    """partitionsWithOfflineLeader go Offline; those of a topic that is queued for deletion do not count."""
    for partition in controller.partitions:
        if is_known(partition) and not has_leader(controller, partition) and not controller.deleting:
            move_partition(partition, OFFLINE_PARTITION)


def dead_hosts(controller):
    """The brokers whose replicas go offline when a term begins: those that are not live."""
    return difference(hosts(controller), controller.live)


def start_replicas(controller):
    """ReplicaStateMachine.startup: replicas of live brokers are Online, the others are to go Offline."""
    for partition in controller.partitions:
        for r in range(len(partition.replicas)):
            if contains(members(partition), r):
                lives = contains(controller.live, r)
                partition.replicas[r] = ONLINE_REPLICA if lives else REPLICA_DELETION_INELIGIBLE
        take_offline(partition, intersection(dead_hosts(controller), members(partition)))
    controller.starting = 1


def start_partitions(controller):
    """PartitionStateMachine.startup: New without a state znode, Online or Offline as the leader is."""
    for partition in controller.partitions:
        if is_present(partition) and not is_known(partition):
            partition.state = NEW_PARTITION
        elif is_present(partition):
            partition.state = ONLINE_PARTITION if has_leader(controller, partition) else OFFLINE_PARTITION
    controller.starting = 0
    trigger_online(controller)


def end_election(controller, p):
    """Partition `p` is done, elected or not."""
    controller.todo = without_member(controller.todo, p)
    proceed(controller)


def end_removal(controller, p, r):
    """Replica `r` of partition `p` is done."""
    controller.partitions[p].leaving = without_member(controller.partitions[p].leaving, r)
    proceed(controller)


def proceed(controller):
    """Go on with the event."""
    if controller.starting and not is_leaving(controller):
        start_partitions(controller)
    if not is_empty(controller.todo):
        controller.doing = ELECTING
    elif is_leaving(controller):
        controller.doing = REMOVING
    elif controller.task != NO_TASK:
        controller.doing = STOPPING
    elif not is_empty(union(controller.joined, union(controller.bounced, controller.gone))):
        controller.doing = CHANGING
    elif not is_empty(controller.moving):
        controller.doing = CHECKING
    else:
        rest(controller)
        if controller.resuming:
            resume_deletion(controller)


def rest(controller):
    """The event is over; the controller waits for the next."""
    controller.doing = IDLE


def any_in(controller, state):
    """Whether some replica of the topic is in a state."""
    for partition in controller.partitions:
        if not is_empty(replicas_in(partition, state)):
            return True
    return False


def is_deleted(partition):
    """Whether all replicas of a partition are DeletionSuccessful."""
    return is_empty(difference(members(partition), replicas_in(partition, REPLICA_DELETION_SUCCESSFUL)))


def all_deleted(controller):
    """Whether all replicas of the topic are DeletionSuccessful; true for a topic without replicas."""
    for partition in controller.partitions:
        if not is_deleted(partition):
            return False
    return True


def resume_deletion(controller):
    """TopicDeletionManager.resumeDeletions: complete, retry or start the deletion, or wait."""
    controller.resuming = 0
    if controller.deleting and all_deleted(controller):
        begin_completion(controller)
    elif controller.deleting and not any_in(controller, REPLICA_DELETION_STARTED):
        for partition in controller.partitions:
            take_offline(partition, replicas_in(partition, REPLICA_DELETION_INELIGIBLE))
        if not controller.ineligible:
            begin_deletion(controller)
        if is_leaving(controller):
            controller.doing = REMOVING
        elif controller.task != NO_TASK:
            controller.doing = STOPPING


def begin_completion(controller):
    """completeDeleteTopic: the replicas are NonExistent; the znodes are to be deleted."""
    for partition in controller.partitions:
        move_replicas(partition, members(partition), NON_EXISTENT_REPLICA)
        end_partition(partition)
    controller.doing = DELETING_STATES if controller.topic > 0 else DELETING_TOPIC
    for p in range(len(controller.partitions)):
        if is_present(controller.partitions[p]):
            controller.todo = with_member(controller.todo, p)


def begin_deletion(controller):
    """onTopicDeletion: the partitions no longer exist, and the replicas of live brokers are to go offline."""
    if not controller.started:
        start_marks(controller)
    for partition in controller.partitions:
        dead = difference(members(partition), controller.live)
        move_replicas(partition, difference(dead, partition.leaving), REPLICA_DELETION_INELIGIBLE)
        alive = difference(
            intersection(members(partition), controller.live), replicas_in(partition, REPLICA_DELETION_SUCCESSFUL)
        )
        take_offline(partition, alive)
        partition.stopping = members(partition)
    controller.started = 1
    controller.task = DELETE_TASK


def start_marks(controller):
    """The partitions of a topic whose deletion starts are NonExistent (2.1+)."""
    for partition in controller.partitions:
        end_partition(partition)


def fail_deletion(controller, brokers):
    """failReplicaDeletion: the replicas of some brokers are ineligible, and so is the topic; the rest goes on."""
    for partition in controller.partitions:
        move_replicas(partition, intersection(brokers, members(partition)), REPLICA_DELETION_INELIGIBLE)
    controller.ineligible = 1
    controller.resuming = 1
