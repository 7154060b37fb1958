"""Properties of a partitions' controller that reassigns: T3, T5 to T7, C4 and C15."""

from kafkaproof.spec.kafka.assignment import is_distinct, origin, target
from kafkaproof.spec.kafka.state_machines import NON_EXISTENT_REPLICA, OFFLINE_REPLICA, REPLICA_DELETION_STARTED
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.kafka.zookeeper import ANSWERED
from kafkaproof.spec.language.model import Property, always, always_step
from kafkaproof.spec.language.sequences import begins_with
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty, only, union
from kafkaproof.spec.partition.context import (
    DELETING_REQUEST,
    IDLE,
    NO_EPOCH,
    REASSIGN,
    WRITING_LEADER,
    WRITING_REMOVAL,
    alive,
    is_queued,
)
from kafkaproof.spec.partition.creation import properties as topic_creation
from kafkaproof.spec.partition.deletion import event_properties as deletion_events
from kafkaproof.spec.partition.deletion import properties as topic_deletion
from kafkaproof.spec.partition.deletion.progress import any_in, offline_among
from kafkaproof.spec.partition.deletion.properties import has_log, legal_replica_or_retry
from kafkaproof.spec.partition.deletion.properties import hinders as is_hindered
from kafkaproof.spec.partition.deletion.zookeeper import topics_of
from kafkaproof.spec.partition.properties import controllers as partition_controllers
from kafkaproof.spec.partition.properties import elections as partition_elections
from kafkaproof.spec.partition.properties import states as partition_states
from kafkaproof.spec.partition.properties.controllers import same_sequence
from kafkaproof.spec.partition.properties.elections import told
from kafkaproof.spec.partition.properties.writes import is_refused
from kafkaproof.spec.partition.reassignment import event_properties
from kafkaproof.spec.partition.reassignment.event_properties import EVENTS
from kafkaproof.spec.partition.reassignment.goals import ALTERATION_GOALS, GOALS
from kafkaproof.spec.partition.reassignment.memory import MEMORY
from kafkaproof.spec.partition.reassignment.network import CANCELLATION
from kafkaproof.spec.partition.reassignment.plans import origin_of, unneeded
from kafkaproof.spec.partition.reassignment.progress import is_reassigned, reassigned
from kafkaproof.spec.partition.reassignment.state import TELLING, WRITING_TARGET
from kafkaproof.spec.partition.zookeeper import is_moved, known_as_they_are


def raises_epoch(controller):
    """Whether a controller is about to write a state with another leader epoch, that of a reassignment included."""
    elects = controller.doing == WRITING_LEADER or controller.doing == WRITING_REMOVAL
    return elects or controller.doing == TELLING


def ends_reassignment(controller):
    """Whether the leader is to move because a reassignment is being completed."""
    return controller.strategy == REASSIGN


def is_assigned_so(zk, p, cached):
    """Whether a controller remembers the current assignment, with what is added and removed."""
    moved = zk.adding[p] != cached.adding or zk.removing[p] != cached.removing
    return not moved and same_sequence(zk.assignments[p], cached.assignment)


def is_changed_otherwise(before, after, p):
    """Whether the assignment of a partition changes without a reassignment that begins or ends."""
    moved = union(union(before.zk.adding[p], before.zk.removing[p]), union(after.zk.adding[p], after.zk.removing[p]))
    return (
        is_empty(moved)
        and not same_sequence(before.zk.assignments[p], after.zk.assignments[p])
        and (replicas_of(before.zk.assignments[p]) != replicas_of(after.zk.assignments[p]))
    )


def may_lose_log(s, b, p):
    """Whether the log of a broker may be deleted: it is not in the ISR, or has not received the current leader epoch,
    in which the log would be used, or the deletion of its topic is asked for.
    """
    used = contains(s.zk.partitions[p].isr, b)
    used = used and s.brokers[b].replicas[p].leader_epoch == s.zk.partitions[p].leader_epoch
    return contains(s.zk.deleting, p) or not used


def is_replica_lost_or_removed(s, b, p):
    """Whether a process has lost a replica, or it is removed, or deleted with its topic."""
    gone = may_lose_log(s, b, p) or contains(s.zk.deleted, p)
    return s.brokers[b].replicas[p].failed == 1 or gone and s.brokers[b].replicas[p].leader_epoch == NO_EPOCH


def legal_replica_or_stopped(old, new):
    """Whether a replica may be in `new` after `old`, perhaps through the states of a deletion to its end."""
    stopped = (old == OFFLINE_REPLICA or old == REPLICA_DELETION_STARTED) and new == NON_EXISTENT_REPLICA
    return stopped or legal_replica_or_retry(old, new)


def is_assigned(s, b, p):
    """Whether a broker has a replica of a partition; one whose replica was removed may not know that."""
    return contains(replicas_of(s.zk.assignments[p]), b)


def keeps_log(s, b, p):
    """Whether a broker that has a replica of a partition has a log of it; after a removal it may keep the log."""
    return has_log(s, b, p) and is_assigned(s, b, p)


def hinders(s, controller, topic):
    """Whether some replica of a topic, or a reassignment, keeps its deletion from completing."""
    waits = not is_empty(intersection(topic, reassigned(controller)))
    return waits or is_hindered(s, controller, topic)


def by_right(s, b):
    """Whether a broker is controller, and no other was elected after it."""
    return s.brokers[b].controller.epoch > 0 and s.brokers[b].controller.epoch == s.zk.epoch


def goes_at_once(s, b, p):
    """The replicas that an assignment does not have any more as soon as it is written: here none."""
    return 0


def unneeded_replicas(s, b, p):
    """The same where a reassignment may be cancelled or replaced: those that are stopped next."""
    controller = s.brokers[b].controller
    written = controller.target.length == 0
    return unneeded(controller.partitions[p]) if written and not controller.finishing else 0


def replicas_remembered(s):
    """The topic znode has every replica that the current controller knows, until that replica is stopped (T5)."""
    for b in range(len(s.brokers)):
        for p in range(len(s.zk.assignments)):
            for r in range(len(s.brokers)):
                known = s.brokers[b].controller.partitions[p].replicas[r] != NON_EXISTENT_REPLICA
                goes = contains(goes_at_once(s, b, p), r)
                if by_right(s, b) and known and not goes and not contains(replicas_of(s.zk.assignments[p]), r):
                    return False
    return True


def is_superseded(s, b, p):
    """Whether a request of an administrator takes the place of one that lists a partition: here never."""
    return False


def by_another(s, b, p):
    """The same where an administrator may ask: the partition is still being reassigned."""
    return not s.brokers[b].controller.finishing and contains(s.brokers[b].controller.moving, p)


def request_goes_last(before, after, b, delivery):
    """The request for a reassignment is deleted only when the reassignment is over (T5), or another takes its place."""
    for p in range(len(before.zk.targets)):
        goes = is_moved(before.zk, p) and not is_moved(after.zk, p) and not is_superseded(before, b, p)
        if goes and not is_empty(union(before.zk.adding[p], before.zk.removing[p])):
            return False
    return True


def altered_as_asked(before, after, b):
    """A valid request of an administrator makes its target, or for a cancellation the original replicas, the one of the
    partition, and nothing is left of what was added before (T6, T8); an invalid one changes nothing.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    asked = before.network.alteration
    p = asked.partition
    had = origin_of(old.partitions[p])
    cancels = asked.wanted == CANCELLATION
    aim = had if cancels else replicas_of(asked.target)
    planned = new.partitions[p]
    possible = is_reassigned(old.partitions[p]) if cancels else is_empty(difference(difference(aim, had), alive(old)))
    if not possible or old.partitions[p].assignment.length == 0 or is_queued(old, p):
        return new.doing == IDLE and is_assigned_alike(old.partitions[p], planned)
    exact = planned.adding == difference(aim, had) and planned.removing == difference(had, aim)
    return exact and replicas_of(planned.assignment) == union(had, aim) and new.moving == only(p)


def is_assigned_alike(one, other):
    """Whether two partitions have the same assignment, and the same reassignment."""
    moved = one.adding != other.adding or one.removing != other.removing
    return not moved and same_sequence(one.assignment, other.assignment)


def isr_assigned(s):
    """While the current controller is at rest, the ISR is a subset of the assignment (P2)."""
    for b in range(len(s.brokers)):
        for p in range(len(s.zk.partitions)):
            strangers = difference(s.zk.partitions[p].isr, replicas_of(s.zk.assignments[p]))
            if by_right(s, b) and s.brokers[b].controller.doing == IDLE and not is_empty(strangers):
                return False
    return True


def request_ends(before, after, b, delivery):
    """What was dealt with is removed from its request once, unless the answer is lost (T5)."""
    return delivery != ANSWERED or after.brokers[b].controller.doing != DELETING_REQUEST


def assignment_well_formed(s):
    """Replicas are distinct; those added and those removed are among them, and none is both (T6)."""
    for p in range(len(s.zk.assignments)):
        members = replicas_of(s.zk.assignments[p])
        if not is_distinct(s.zk.assignments[p]):
            return False
        if not is_empty(difference(union(s.zk.adding[p], s.zk.removing[p]), members)):
            return False
        if not is_empty(intersection(s.zk.adding[p], s.zk.removing[p])):
            return False
    return True


def planned_as_asked(before, after, b, p):
    """A reassignment plans the target, in its order, then the other replicas; it adds and removes what differs (T6)."""
    asked = before.zk.targets[p]
    known = before.brokers[b].controller.partitions[p]
    had = origin(known.assignment, known.adding)
    wanted = replicas_of(asked)
    planned = after.brokers[b].controller.partitions[p]
    exact = planned.adding == difference(wanted, had) and planned.removing == difference(had, wanted)
    return exact and begins_with(planned.assignment, asked) and replicas_of(planned.assignment) == union(had, wanted)


def target_order_kept(before, after, b, p, delivery):
    """The assignment that ends a reassignment is its target, in the order of the union (T6)."""
    old = before.zk.assignments[p]
    new = after.zk.assignments[p]
    if new.length == 0 or after.brokers[b].controller.doing == WRITING_TARGET or is_refused(before, b):
        return True
    marked = is_empty(union(after.zk.adding[p], after.zk.removing[p]))
    return marked and replicas_of(new) == target(old, before.zk.removing[p]) and begins_with(old, new)


def target_in_sync(before, after, b, p):
    """A reassignment removes replicas only after it has read that its target is in the ISR (T7)."""
    if before.brokers[b].controller.finishing == after.brokers[b].controller.finishing:
        return True
    known = before.brokers[b].controller.partitions[p]
    wanted = target(known.assignment, known.removing)
    return not is_reassigned(known) or is_empty(difference(wanted, before.zk.partitions[p].isr))


def stopped_out_of_isr(before, after, b, p):
    """A replica is stopped only when it is not in the ISR (D3)."""
    controller = before.brokers[b].controller
    sent = after.network.stops[controller.epoch][p].to
    newly = difference(sent, before.network.stops[controller.epoch][p].to)
    stopped = union(newly, offline_among(controller.partitions[p], controller.removed))
    return is_empty(intersection(stopped, before.zk.partitions[p].isr)) or not by_right(before, b)


def assigned_by_right(before, after, b, p, delivery):
    """Assignments are written by the last controller that was elected (C4)."""
    moved = before.zk.adding[p] != after.zk.adding[p] or before.zk.removing[p] != after.zk.removing[p]
    written = moved or not same_sequence(before.zk.assignments[p], after.zk.assignments[p])
    return not written or before.brokers[b].controller.epoch == before.zk.epoch


def replicas_told(before, after, b, p, delivery):
    """LeaderAndIsr with the leader epoch that a reassignment raises is sent to every live replica, old, new or
    remaining (C15).
    """
    controller = before.brokers[b].controller
    if after.brokers[b].controller.partitions[p].leader_epoch != controller.result.leader_epoch:
        return True
    expected = intersection(replicas_of(controller.partitions[p].assignment), controller.live)
    return told(after, b, p) == known_as_they_are(before.zk, b, expected)


def not_deleted_while_reassigned(s):
    """No replica of a topic with a partition that a controller knows to be reassigned is being deleted (T3)."""
    for broker in s.brokers:
        moved = reassigned(broker.controller)
        if not is_empty(moved) and any_in(broker.controller, moved, REPLICA_DELETION_STARTED):
            return False
    return True


def moved_topics(s, b):
    """The partitions of topics that a controller reassigns."""
    return topics_of(s.zk, reassigned(s.brokers[b].controller))


def stopped_in_leader_epoch(before, after, b, p):
    """The StopReplica of a reassignment carries the leader epoch that the controller remembers."""
    controller = before.brokers[b].controller
    old = before.network.stops[controller.epoch][p]
    new = after.network.stops[controller.epoch][p]
    for r in range(len(before.brokers)):
        sent = contains(new.to, r) and not contains(old.to, r)
        if sent and new.leader_epochs[r] != controller.partitions[p].leader_epoch:
            return False
    return True


def stopped_unless_overtaken(before, after, b, epoch, p):
    """A broker deletes the replica that it is told to stop, unless it has heard of a newer controller, its log directory
    has failed, or the replica has a newer leader epoch than the request.
    """
    broker = before.brokers[b]
    replica = broker.replicas[p]
    sent = before.network.stops[epoch][p].leader_epochs[b]
    newer = sent != NO_EPOCH and replica.leader_epoch > sent
    return newer or epoch < broker.seen_epoch or replica.failed == 1 or not has_log(after, b, p)


SAFETY = (
    always(replicas_remembered),
    always_step(request_goes_last, of=("delete_request",)),
    always_step(request_ends, of=("delete_request",)),
    always(assignment_well_formed),
    always_step(planned_as_asked, of=("reassign",)),
    always_step(target_order_kept, of=("write_target",)),
    always_step(target_in_sync, of=("check_reassignment",)),
    always_step(stopped_out_of_isr, of=("stop_removed",)),
    always_step(assigned_by_right, of=("write_assignment", "write_target")),
    always_step(replicas_told, of=("tell_replicas",)),
    always(not_deleted_while_reassigned),
    always_step(stopped_in_leader_epoch, of=("stop_removed",)),
    always_step(stopped_unless_overtaken, of=("stop_replica",)),
)
WITH_REASSIGNMENTS = {
    partition_states.raises_epoch: raises_epoch,
    partition_states.is_assigned: is_assigned,
    partition_elections.ends_something: ends_reassignment,
    partition_controllers.is_assigned_so: is_assigned_so,
    topic_creation.is_changed: is_changed_otherwise,
    topic_deletion.may_lose_log: may_lose_log,
    topic_deletion.is_replica_lost_or_deleted: is_replica_lost_or_removed,
    topic_deletion.legal_replica_or_retry: legal_replica_or_stopped,
    topic_deletion.keeps_log: keeps_log,
    topic_deletion.hinders: hinders,
    deletion_events.moved_topics: moved_topics,
}
ALTERATIONS = (
    always_step(altered_as_asked, of=("alter_reassignment",)),
    always(isr_assigned),
    *event_properties.ALTERATIONS,
    *ALTERATION_GOALS,
)
WITH_ALTERATIONS = {goes_at_once: unneeded_replicas, is_superseded: by_another}
GONE = ("reassignment_succeeds", "reassignment_fails", "moved_as_asked", "move_asked_once", "request_dropped")
"""Goals and properties of a reassignment's election, for models that have only this part of a reassignment."""


def properties(found: tuple[Property, ...]) -> tuple[Property, ...]:
    """The properties of a model with reassignments: those without, adapted, and those of reassignments."""
    kept = (p for p in topic_deletion.properties(found) if p.name not in GONE)
    return tuple(p.rebound(WITH_REASSIGNMENTS) for p in kept) + SAFETY + EVENTS + MEMORY + GOALS


def with_alterations(found: tuple[Property, ...]) -> tuple[Property, ...]:
    """The same where an administrator may ask the controller for a reassignment."""
    own = {prop.name for prop in ALTERATIONS}
    return tuple(p.rebound(WITH_ALTERATIONS) for p in properties(found) if p.name not in own) + ALTERATIONS
