"""Invariants of the event in progress of a controller: what it has left to do is what it knows."""

from kafkaproof.spec.kafka.state_machines import (
    NEW_REPLICA,
    NON_EXISTENT_PARTITION,
    NON_EXISTENT_REPLICA,
    OFFLINE_REPLICA,
    ONLINE_REPLICA,
    REPLICA_DELETION_INELIGIBLE,
    replica_move_is_legal,
)
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains, intersection, is_empty, union
from kafkaproof.spec.partition.context import CHANGING, ELECTING, IDLE, READING_BROKERS, REMOVING, is_known
from kafkaproof.spec.partition.deletion.state import (
    DELETING_CONFIG,
    DELETING_MARKER,
    DELETING_STATES,
    DELETING_TOPIC,
    STOPPING,
)
from kafkaproof.spec.partition.reassignment.state import CHECKING, TELLING, WRITING_ASSIGNMENT, WRITING_TARGET
from kafkaproof.spec.topics.context import (
    DELETE_TASK,
    DROP_TASK,
    FINISH_TASK,
    MOVING,
    NO_EPOCH,
    NO_TASK,
    REWRITING,
    Broker,
    Partition,
    is_leaving,
    is_present,
    members,
)


def is_blank(partition):
    """Whether a partition of the context is as at the beginning."""
    if is_present(partition) or not is_empty(union(partition.adding, partition.removing)):
        return False
    for r in range(len(partition.replicas)):
        if partition.replicas[r] != NON_EXISTENT_REPLICA:
            return False
    sets = is_empty(union(partition.leaving, partition.stopping))
    unknown = partition.leader == NOBODY and partition.leader_epoch == NO_EPOCH
    return sets and unknown and partition.state == NON_EXISTENT_PARTITION and not partition.reassigned


def absent_is_blank(s, b: Broker, p: Partition):
    """Of a partition that is not in the context, nothing is known."""
    partition = s.brokers[b].controller.partitions[p]
    return is_present(partition) or is_blank(partition)


def unknown_topic_is_left_alone(s, b: Broker, p: Partition):
    """Of a topic that is not in the context there is no partition, and no event but that its remains are deleted."""
    controller = s.brokers[b].controller
    doing = controller.doing
    if controller.topic > 0:
        return True
    if is_present(controller.partitions[p]) or controller.started or controller.ineligible:
        return False
    if controller.deleting:
        return doing == DELETING_TOPIC or doing == DELETING_CONFIG or doing == DELETING_MARKER
    return doing == IDLE or doing == READING_BROKERS or doing == CHANGING or doing == DELETING_MARKER


def known_topic_has_partition(s, b: Broker):
    """A topic in the context has its first partition."""
    controller = s.brokers[b].controller
    return controller.topic == 0 or is_present(controller.partitions[0])


def begins_empty(s, b: Broker):
    """Before a term has read ZooKeeper the context is empty; without a term no event is in progress."""
    controller = s.brokers[b].controller
    if controller.epoch > 0 and controller.doing != READING_BROKERS:
        return True
    if controller.topic > 0 or controller.deleting or not is_empty(controller.live):
        return False
    return controller.doing == (READING_BROKERS if controller.epoch > 0 else IDLE)


def event_ends_clean(s, b: Broker):
    """Between events, and before the first, nothing is left to do."""
    controller = s.brokers[b].controller
    doing = controller.doing
    if doing != IDLE and doing != READING_BROKERS and doing != REWRITING and not deletes_znodes(controller):
        return True
    if doing != DELETING_STATES and not is_empty(controller.todo):
        return False
    brokers = union(controller.joined, union(controller.bounced, controller.gone))
    if is_leaving(controller) or controller.task != NO_TASK or not is_empty(brokers):
        return False
    return is_empty(controller.moving) and not controller.resuming and not controller.starting


def deletes_znodes(controller):
    """Whether the deletion is completed: states, topic, configuration and marker go."""
    doing = controller.doing
    early = doing == DELETING_STATES or doing == DELETING_TOPIC
    return early or doing == DELETING_CONFIG or doing == DELETING_MARKER


def doing_is_needed(s, b: Broker):
    """An event elects, removes or stops what is left to be elected, removed or stopped, and elects first."""
    controller = s.brokers[b].controller
    doing = controller.doing
    if doing == ELECTING:
        return not is_empty(controller.todo)
    if doing == REMOVING:
        return is_leaving(controller) and is_empty(controller.todo)
    if doing == STOPPING:
        return controller.task != NO_TASK and not is_leaving(controller) and is_empty(controller.todo)
    if is_leaving(controller) or controller.task != NO_TASK:
        return doing == ELECTING
    return is_empty(controller.todo) or doing == DELETING_STATES


def starts_while_removing(s, b: Broker):
    """While the machines start up replicas go offline, and nothing of a deletion is done."""
    controller = s.brokers[b].controller
    return not controller.starting or controller.doing == REMOVING and not controller.started


def queued_elects_not(s, b: Broker):
    """Nothing is to be elected in a topic that is queued for deletion."""
    controller = s.brokers[b].controller
    return not controller.deleting or controller.doing == DELETING_STATES or is_empty(controller.todo)


def deletes_when_queued(s, b: Broker):
    """Only what is queued is deleted, but for the marker of an unknown topic."""
    controller = s.brokers[b].controller
    if controller.deleting:
        return True
    deletes = deletes_znodes(controller) and (controller.doing != DELETING_MARKER or controller.topic > 0)
    return not deletes and not controller.started and controller.task != DELETE_TASK


def reassigns(controller):
    """Whether a reassignment is looked at, written, or finished."""
    doing = controller.doing
    looks = doing == CHECKING or doing == TELLING or doing == WRITING_ASSIGNMENT
    return looks or finishes(controller) or controller.task == DROP_TASK


def reassigns_what_is_known(s, b: Broker):
    """A reassignment is of a partition, and no broker is left that has come or gone; in what is queued none begins."""
    controller = s.brokers[b].controller
    brokers = union(controller.joined, union(controller.bounced, controller.gone))
    if controller.deleting and (controller.doing == WRITING_ASSIGNMENT or controller.task == DROP_TASK):
        return False
    return not reassigns(controller) or not is_empty(controller.moving) and is_empty(brokers)


def left_to_do_is_known(s, b: Broker, p: Partition):
    """Partitions that are to be elected or looked at are in the context."""
    controller = s.brokers[b].controller
    return is_present(controller.partitions[p]) or not contains(union(controller.todo, controller.moving), p)


def finishes(controller):
    """Whether a reassignment is being finished: in memory the target is the assignment."""
    return controller.doing == MOVING or controller.doing == WRITING_TARGET or controller.task == FINISH_TASK


def rewrites_what_is_queued(s, b: Broker):
    """Partitions are taken out of the topic znode while the topic is queued for deletion."""
    controller = s.brokers[b].controller
    return controller.doing != REWRITING or controller.deleting and controller.topic > 0


def added_exists(s, b: Broker, p: Partition, r: Broker):
    """A replica that is added exists for a controller, once it has been told so; before, nothing is deleted."""
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    if not contains(partition.adding, r) or partition.replicas[r] != NON_EXISTENT_REPLICA:
        return True
    return deletes_znodes(controller) or not controller.deleting and contains(controller.moving, p)


def replica_is_assigned(s, b: Broker, p: Partition, r: Broker):
    """A replica that exists for a controller is assigned, or is being stopped."""
    partition = s.brokers[b].controller.partitions[p]
    return partition.replicas[r] == NON_EXISTENT_REPLICA or contains(union(members(partition), partition.stopping), r)


def leaves_legally(s, b: Broker, p: Partition, r: Broker):
    """A replica that is to go offline may, and leadership of its partition is known; of a topic that is queued it was
    ineligible, unless the replicas are then stopped.
    """
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    if not contains(partition.leaving, r):
        return True
    if controller.deleting and controller.task == NO_TASK and partition.replicas[r] != REPLICA_DELETION_INELIGIBLE:
        return False
    return is_known(partition) and replica_move_is_legal(partition.replicas[r], OFFLINE_REPLICA)


def stopped_is_offline(s, b: Broker, p: Partition, r: Broker):
    """A replica that a reassignment stops is offline, or goes so first, or is deleted already."""
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    stops = controller.task == DROP_TASK or controller.task == FINISH_TASK
    if not stops or not contains(partition.stopping, r) or contains(partition.leaving, r):
        return True
    state = partition.replicas[r]
    return state != NEW_REPLICA and state != ONLINE_REPLICA and state != REPLICA_DELETION_INELIGIBLE


def stops_in_a_task(s, b: Broker, p: Partition):
    """Replicas are being stopped in a task, all of them in a deletion, or by a reassignment that is being finished."""
    controller = s.brokers[b].controller
    partition = controller.partitions[p]
    if controller.task == DELETE_TASK:
        return partition.stopping == members(partition)
    if not is_empty(intersection(partition.stopping, members(partition))):
        return False
    if controller.task != NO_TASK or is_empty(partition.stopping):
        return True
    return controller.doing == MOVING and contains(controller.moving, p)


EVENTS = (
    absent_is_blank,
    unknown_topic_is_left_alone,
    known_topic_has_partition,
    begins_empty,
    event_ends_clean,
    doing_is_needed,
    starts_while_removing,
    queued_elects_not,
    deletes_when_queued,
    reassigns_what_is_known,
    left_to_do_is_known,
    rewrites_what_is_queued,
    added_exists,
    replica_is_assigned,
    leaves_legally,
    stopped_is_offline,
    stops_in_a_task,
)
