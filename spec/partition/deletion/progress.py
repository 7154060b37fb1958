"""How a deletion goes on, at the end of any event that may have changed it (TopicDeletionManager).

Topics are handled one after another. The replicas of the topic in hand (`dropping`) go offline like any others, then
StopReplica is sent to the live ones; when all have answered, the znodes are deleted.
"""

from kafkaproof.spec.kafka.deletion_moves import end_partition, move_replicas
from kafkaproof.spec.kafka.state_machines import (
    NON_EXISTENT_REPLICA,
    OFFLINE_REPLICA,
    REPLICA_DELETION_INELIGIBLE,
    REPLICA_DELETION_STARTED,
    REPLICA_DELETION_SUCCESSFUL,
)
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty, union, with_member
from kafkaproof.spec.partition.context import online, partitions_move, replicas_move
from kafkaproof.spec.partition.deletion.state import DELETING_STATES, RESUMING, STOPPING
from kafkaproof.spec.partition.progress import at_work, hosted_by, proceed
from kafkaproof.spec.partition.progress import end_event as rest
from kafkaproof.spec.partition.progress import to_take_offline as to_take_offline_else


def replicas_in(partition, state):
    """The brokers whose replicas of a partition are in a state."""
    found = 0
    for r in range(len(partition.replicas)):
        if partition.replicas[r] == state and contains(replicas_of(partition.assignment), r):
            found = with_member(found, r)
    return found


def any_in(controller, topic, state):
    """Whether some replica of a topic is in a state."""
    for p in range(len(controller.partitions)):
        if contains(topic, p) and not is_empty(replicas_in(controller.partitions[p], state)):
            return True
    return False


def all_deleted(controller, topic):
    """Whether all replicas of a topic are DeletionSuccessful."""
    for p in range(len(controller.partitions)):
        partition = controller.partitions[p]
        deleted = replicas_in(partition, REPLICA_DELETION_SUCCESSFUL)
        if contains(topic, p) and not is_empty(difference(replicas_of(partition.assignment), deleted)):
            return False
    return True


def is_ineligible(controller, topic):
    """Whether a topic is ineligible for deletion."""
    return not is_empty(intersection(controller.ineligible, topic))


def offline_replicas(controller, partition):
    """The replicas of a partition that are on brokers that are dead or shutting down, or whose directory has failed."""
    return difference(replicas_of(partition.assignment), online(controller, partition))


def goes_offline(controller, p, r):
    """Whether a replica of the topic in hand goes offline: its deletion failed before, or it is to be deleted."""
    partition = controller.partitions[p]
    if contains(replicas_in(partition, REPLICA_DELETION_INELIGIBLE), r):
        return True
    deleted = contains(replicas_in(partition, REPLICA_DELETION_SUCCESSFUL), r)
    return not contains(controller.ineligible, p) and contains(online(controller, partition), r) and not deleted


def to_take_offline(controller, r):
    """The partitions whose replicas on broker `r` go offline: of the topic in hand, if there is one."""
    if is_empty(controller.dropping):
        return to_take_offline_else(controller, r)
    found = 0
    for p in range(len(controller.partitions)):
        if contains(intersection(controller.dropping, hosted_by(controller, r)), p) and goes_offline(controller, p, r):
            found = with_member(found, p)
    return found


def end_event(controller):
    """The event is over, unless replicas wait to be stopped, or the deletion of some topic is to be resumed."""
    rest(controller)
    if is_ineligible(controller, controller.dropping):
        controller.dropping = 0
    if not is_empty(controller.dropping):
        controller.doing = STOPPING
    elif not is_empty(controller.resuming):
        controller.doing = RESUMING


def resume_later(controller, topics):
    """The deletion of some topics is to be resumed, at once if no event is in progress."""
    controller.resuming = union(controller.resuming, topics)
    if at_work(controller) and not is_empty(controller.resuming):
        controller.doing = RESUMING


def move(controller, p, brokers, state):
    """The replica state machine moves replicas of a partition, each if that is legal; a dead one moves none.

    Kafka: ReplicaStateMachine.handleStateChanges, 1.1 to 2.2; ZkReplicaStateMachine.handleStateChanges, 2.3 to 3.9.
    """
    if replicas_move(controller):
        move_replicas(controller.partitions[p], brokers, state)


def fail_deletion(controller, p, brokers):
    """failReplicaDeletion: replicas of a partition on some brokers are ineligible."""
    move(
        controller,
        p,
        intersection(brokers, replicas_of(controller.partitions[p].assignment)),
        REPLICA_DELETION_INELIGIBLE,
    )


def end_unless_stuck(controller, p):
    """A partition goes Offline, then NonExistent; a dead state machine leaves it as it is."""
    if partitions_move(controller):
        end_partition(controller.partitions[p])


def begin_completion(controller):
    """completeDeleteTopic: the replicas of the topic in hand are NonExistent; its znodes are to be deleted."""
    for p in range(len(controller.partitions)):
        if contains(controller.dropping, p):
            move(controller, p, replicas_of(controller.partitions[p].assignment), NON_EXISTENT_REPLICA)
            end_unless_stuck(controller, p)
    controller.todo = controller.dropping
    controller.doing = DELETING_STATES


def ended_at_start(controller):
    """The partitions that no longer exist once the deletion of their topic starts: those of an eligible one.

    Kafka: TopicDeletionManager.onTopicDeletion, 2.1 to 3.9.
    """
    return difference(controller.dropping, controller.ineligible)


def begin_deletion(controller):
    """onTopicDeletion: the partitions no longer exist; replicas of live brokers, and those that failed, go offline."""
    ended = ended_at_start(controller)
    for p in range(len(controller.partitions)):
        if contains(ended, p):
            end_unless_stuck(controller, p)
        for r in range(len(controller.partitions[p].replicas)):
            if contains(controller.dropping, p) and goes_offline(controller, p, r):
                controller.replicas = with_member(controller.replicas, r)
    proceed(controller)


def stop(controller, p):
    """Replicas that are offline are DeletionStarted; those on brokers that are not live are ineligible, and so is the
    topic.
    """
    partition = controller.partitions[p]
    gone = offline_replicas(controller, partition)
    move(controller, p, gone, REPLICA_DELETION_INELIGIBLE)
    move(controller, p, difference(replicas_in(partition, OFFLINE_REPLICA), gone), REPLICA_DELETION_STARTED)
    if not is_empty(gone):
        controller.ineligible = union(controller.ineligible, controller.dropping)
