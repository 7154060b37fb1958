"""Properties of a partitions' controller that deletes topics: T1 to T4, C4, and when a deletion waits."""

from kafkaproof.spec.kafka.state_machines import (
    NON_EXISTENT_PARTITION,
    OFFLINE_REPLICA,
    ONLINE_REPLICA,
    REPLICA_DELETION_STARTED,
    REPLICA_DELETION_SUCCESSFUL,
    partition_move_is_legal,
    replica_move_is_legal,
)
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.model import Property, always, always_step, sometimes
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty, only, union
from kafkaproof.spec.partition.context import IDLE, NO_EPOCH, is_queued, online
from kafkaproof.spec.partition.creation import properties as topic_creation
from kafkaproof.spec.partition.deletion.broker_properties import BROKERS
from kafkaproof.spec.partition.deletion.event_properties import EVENTS
from kafkaproof.spec.partition.deletion.memory import MEMORY
from kafkaproof.spec.partition.deletion.network import NO_ANSWER, answered, stop_arrives
from kafkaproof.spec.partition.deletion.progress import any_in, is_ineligible, replicas_in
from kafkaproof.spec.partition.deletion.state import DELETING_MARKER, DELETING_STATES
from kafkaproof.spec.partition.deletion.zookeeper import deletion_wanted, is_left_over, topics_of
from kafkaproof.spec.partition.properties.controllers import is_none, legal_partition, legal_replica, rules
from kafkaproof.spec.partition.properties.memory import may_be_gone
from kafkaproof.spec.partition.properties.states import exists, is_replica_lost


def rules_and_has_heard(s, b):
    """Whether `b` is the current controller, waits for events, and has handled every event, including requested
    deletions.
    """
    heard = is_empty(difference(deletion_wanted(s.zk), s.brokers[b].controller.deleting))
    return rules(s, b) and heard and not is_left_over(s.zk)


def is_none_any_more(controller, p):
    """Whether there is no such partition for a controller, or its deletion has started."""
    return is_queued(controller, p) or controller.partitions[p].assignment.length == 0


def is_replica_lost_or_deleted(s, b, p):
    """Whether a process has lost a replica, or its topic is to be deleted or was deleted."""
    ends = contains(union(s.zk.deleting, s.zk.deleted), p)
    return s.brokers[b].replicas[p].failed == 1 or ends and s.brokers[b].replicas[p].leader_epoch == NO_EPOCH


def legal_partition_or_end(old, new):
    """Whether a partition may be in `new` after `old`, perhaps through Offline to its end."""
    return new == old or new == NON_EXISTENT_PARTITION or partition_move_is_legal(old, new)


def legal_replica_or_retry(old, new):
    """Whether a replica may be in `new` after `old`, perhaps through DeletionIneligible, where none leads yet."""
    retried = old == REPLICA_DELETION_STARTED and new == OFFLINE_REPLICA
    return new == old or retried or replica_move_is_legal(old, new)


def has_log(s, b, p):
    """Whether a broker has a log of a partition."""
    return s.brokers[b].replicas[p].ghosts.log == 1


def keeps_log(s, b, p):
    """Whether a broker has a log of a partition that exists."""
    return has_log(s, b, p)


def is_deleted_topic(s, p):
    """Whether a partition belonged to a topic that is deleted."""
    return contains(s.zk.deleted, p)


def has_topic(s, p):
    """Whether a partition belongs to a topic."""
    return s.zk.assignments[p].length > 0


def may_go(s, p):
    """Whether the deletion of a partition is asked for, and no broker has a log of it."""
    for b in range(len(s.brokers)):
        if keeps_log(s, b, p):
            return False
    return contains(s.zk.deleting, p)


def removed_when_deleted(before, after):
    """A topic is removed only while its deletion is asked for, and when no broker has a log of it (T1)."""
    for p in range(len(before.zk.assignments)):
        if has_topic(before, p) and not has_topic(after, p) and not may_go(before, p):
            return False
    return True


def completed_when_deleted(before, after, b, p):
    """The znodes of a topic are deleted only when all its replicas are DeletionSuccessful for the controller (T1)."""
    if after.brokers[b].controller.doing != DELETING_STATES:
        return True
    for q in range(len(before.zk.topics)):
        partition = before.brokers[b].controller.partitions[q]
        for r in range(len(before.brokers)):
            assigned = contains(replicas_of(partition.assignment), r) and before.zk.topics[q] == before.zk.topics[p]
            if assigned and partition.replicas[r] != REPLICA_DELETION_SUCCESSFUL:
                return False
    return True


def state_goes_with_topic(before, after):
    """The state of a partition is deleted only when no broker has a log of it, and its deletion is asked for (T1)."""
    for p in range(len(before.zk.partitions)):
        if exists(before.zk.partitions[p]) and not exists(after.zk.partitions[p]) and not may_go(before, p):
            return False
    return True


def marker_last(before, after):
    """The marker of a topic is removed only after the topic and its states (T2)."""
    for p in range(len(before.zk.assignments)):
        if contains(before.zk.deleting, p) and not contains(after.zk.deleting, p):
            if has_topic(before, p) or exists(before.zk.partitions[p]):
                return False
    return True


def deleted_by_right(before, after, b, delivery):
    """Topics and their markers are deleted by the last controller that was elected (C4)."""
    deleted = after.zk.deleted != before.zk.deleted or after.zk.deleting != before.zk.deleting
    return not deleted or before.brokers[b].controller.epoch == before.zk.epoch


def state_deleted_by_right(before, after, b, p, delivery):
    """States are deleted by the last controller that was elected (C4)."""
    deleted = exists(before.zk.partitions[p]) and not exists(after.zk.partitions[p])
    return not deleted or before.brokers[b].controller.epoch == before.zk.epoch


def may_lose_log(s, b, p):
    """Whether the log of a broker may be deleted: the deletion of its topic is asked for."""
    return contains(s.zk.deleting, p)


def log_goes_with_topic(before, after, b, epoch, p):
    """A log is deleted only while the deletion of its topic is asked for (T4)."""
    goes = has_log(before, b, p) and not has_log(after, b, p)
    return not goes or may_lose_log(before, b, p)


def answered_as_done(before, after, b, epoch, p):
    """A broker answers that its replica is deleted only when it has no log of it, and that it could not be deleted only
    when it keeps what it had.
    """
    old = before.network.stops[epoch][p]
    new = after.network.stops[epoch][p]
    if contains(difference(new.deleted, old.deleted), b):
        return not has_log(after, b, p)
    return not contains(difference(new.failed, old.failed), b) or has_log(after, b, p) == has_log(before, b, p)


def at_rest(s, b):
    """Whether `b` is the current controller, and no event is in progress."""
    controller = s.brokers[b].controller
    return controller.epoch > 0 and s.zk.controller == b and controller.doing == IDLE


def is_awaited(s, b, p):
    """Whether an answer to a StopReplica of broker `b` for a partition is awaited or has arrived."""
    controller = s.brokers[b].controller
    for r in range(len(s.brokers)):
        arrives = stop_arrives(s.network, controller.epoch, p, r)
        if arrives or answered(s.network, controller.epoch, p, r) != NO_ANSWER:
            return True
    return any_in(controller, only(p), REPLICA_DELETION_STARTED)


def waits_with(s, b, p):
    """Whether the topic of a partition is ineligible for deletion, or an answer of a broker about it is awaited."""
    topic = topics_of(s.zk, only(p))
    waits = is_ineligible(s.brokers[b].controller, only(p))
    for q in range(len(s.zk.topics)):
        waits = waits or contains(topic, q) and is_awaited(s, b, q)
    return waits


def deletion_goes_on(s):
    """At rest, the deletion of a topic that is queued, and not ineligible, waits for a broker (T3)."""
    for b in range(len(s.brokers)):
        for p in range(len(s.zk.topics)):
            if at_rest(s, b) and is_queued(s.brokers[b].controller, p) and not waits_with(s, b, p):
                return False
    return True


def waits_for_somebody(s):
    """If the current controller has handled every event, a topic that is ineligible for deletion has a replica that is
    not deleted, and that is not online, or whose process or log directory has failed (T3).
    """
    for b in range(len(s.brokers)):
        controller = s.brokers[b].controller
        for p in range(len(s.zk.topics)):
            if rules_and_has_heard(s, b) and is_ineligible(controller, only(p)):
                if not hinders(s, controller, topics_of(s.zk, only(p))):
                    return False
    return True


def hinders(s, controller, topic):
    """Whether some replica of a topic keeps its deletion from completing."""
    for p in range(len(controller.partitions)):
        partition = controller.partitions[p]
        kept = difference(replicas_of(partition.assignment), replicas_in(partition, REPLICA_DELETION_SUCCESSFUL))
        for r in range(len(s.brokers)):
            if contains(topic, p) and contains(kept, r):
                if partition.replicas[r] != ONLINE_REPLICA or not contains(online(controller, partition), r):
                    return True
                if s.brokers[r].replicas[p].failed or not s.brokers[r].up:
                    return True
    return False


def is_deleted(s):
    """A topic is deleted, and its marker with it."""
    return not is_empty(difference(s.zk.deleted, s.zk.deleting))


def waits(s):
    """The deletion of a topic waits for a broker that is not live, while others have deleted their replicas."""
    for broker in s.brokers:
        controller = broker.controller
        for partition in controller.partitions:
            some = not is_empty(replicas_in(partition, REPLICA_DELETION_SUCCESSFUL))
            if controller.doing == IDLE and not is_empty(controller.ineligible) and some:
                return True
    return False


def is_taken_over(s):
    """A controller deletes the znodes of a topic whose deletion an earlier one had begun."""
    for broker in s.brokers:
        deletes = broker.controller.doing == DELETING_STATES or broker.controller.doing == DELETING_MARKER
        if broker.controller.epoch > 1 and deletes:
            return True
    return False


def is_left_behind(s):
    """Another controller finds the marker of a topic that no longer exists."""
    return not is_empty(intersection(s.zk.deleting, s.zk.deleted)) and s.zk.epoch > 1


SAFETY = (
    always_step(removed_when_deleted),
    always_step(completed_when_deleted, of=("resume_deletion",)),
    always_step(state_goes_with_topic),
    always_step(marker_last),
    always_step(deleted_by_right, of=("delete_topic", "delete_marker", "delete_leftovers")),
    always_step(state_deleted_by_right, of=("delete_state",)),
    always_step(log_goes_with_topic, of=("stop_replica",)),
    always_step(answered_as_done, of=("stop_replica",)),
    always(deletion_goes_on),
    always(waits_for_somebody),
)
GOALS = (
    sometimes(is_deleted),
    sometimes(waits, replicas=2, faults=1),
    sometimes(is_taken_over, epochs=2),
    sometimes(is_left_behind, epochs=2),
)
WITH_DELETIONS = {
    rules: rules_and_has_heard,
    is_none: is_none_any_more,
    is_replica_lost: is_replica_lost_or_deleted,
    legal_partition: legal_partition_or_end,
    legal_replica: legal_replica_or_retry,
    topic_creation.is_gone: is_deleted_topic,
    may_be_gone: is_deleted_topic,
}
WITHOUT_DELETION = (
    "one_event",
    "machines_started",
    "faults_counted",
    "asked_once",
    "deletion_is_heard",
    "notifications_read",
    "newcomers_taken_in",
    "states_read",
    "request_deleted",
    "first_state_written",
)
"""Replacements where a deletion is part of an event, and the topic of a request or a state may be gone."""


def properties(found: tuple[Property, ...]) -> tuple[Property, ...]:
    """The properties of a model without deletions as they are with them, and those of deletions."""
    kept = (p for p in found if p.name not in WITHOUT_DELETION)
    return tuple(p.rebound(WITH_DELETIONS) for p in kept) + SAFETY + EVENTS + BROKERS + MEMORY + GOALS
