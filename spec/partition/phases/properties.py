"""Properties of a partitions' controller that reassigns in two phases: T3, T5 to T7, C4 and C15."""

from kafkaproof.spec.kafka.assignment import is_distinct
from kafkaproof.spec.kafka.state_machines import REPLICA_DELETION_STARTED
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.kafka.zookeeper import ANSWERED
from kafkaproof.spec.language.model import Property, always, always_step, sometimes
from kafkaproof.spec.language.sequences import begins_with
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty, only, union
from kafkaproof.spec.partition.context import DELETING_REQUEST, IDLE, REASSIGN, is_queued
from kafkaproof.spec.partition.creation import properties as topic_creation
from kafkaproof.spec.partition.deletion import event_properties as deletion_events
from kafkaproof.spec.partition.deletion import properties as topic_deletion
from kafkaproof.spec.partition.deletion.progress import any_in
from kafkaproof.spec.partition.history.triggers import goes_back_if_online
from kafkaproof.spec.partition.phases.event_properties import EVENTS
from kafkaproof.spec.partition.phases.progress import is_reassigned, same
from kafkaproof.spec.partition.phases.state import RAISING
from kafkaproof.spec.partition.properties import elections as partition_elections
from kafkaproof.spec.partition.properties import states as partition_states
from kafkaproof.spec.partition.properties.controllers import same_sequence
from kafkaproof.spec.partition.properties.elections import told
from kafkaproof.spec.partition.properties.writes import is_refused
from kafkaproof.spec.partition.reassignment import goals as reassignment_goals
from kafkaproof.spec.partition.reassignment import progress
from kafkaproof.spec.partition.reassignment import properties as reassigning
from kafkaproof.spec.partition.reassignment.progress import reassigned
from kafkaproof.spec.partition.reassignment.properties import by_right
from kafkaproof.spec.partition.reassignment.state import WRITING_ASSIGNMENT, WRITING_TARGET
from kafkaproof.spec.partition.zookeeper import is_moved, known_as_they_are


def is_changed_otherwise(before, after, p):
    """Whether the assignment of a partition changes, while no controller writes that of a reassignment."""
    for broker in before.brokers:
        if broker.controller.doing == WRITING_ASSIGNMENT or broker.controller.doing == WRITING_TARGET:
            return False
    return not same_sequence(before.zk.assignments[p], after.zk.assignments[p])


def request_remembered(s):
    """While the current controller reassigns a partition, /admin/reassign_partitions lists it (T5)."""
    for b in range(len(s.brokers)):
        controller = s.brokers[b].controller
        for p in range(len(controller.partitions)):
            reassigns = by_right(s, b) and controller.doing != DELETING_REQUEST
            if reassigns and is_reassigned(controller.partitions[p]) and not is_moved(s.zk, p):
                return False
    return True


def request_goes_last(before, after, b, p, delivery):
    """A partition is taken off the list only when its assignment is the target, or its topic is queued for deletion
    (T5).
    """
    if not is_moved(before.zk, p) or is_moved(after.zk, p) or is_queued(before.brokers[b].controller, p):
        return True
    there = before.zk.assignments[p].length > 0
    return not there or same(before.zk.assignments[p], before.zk.targets[p])


def request_ends(before, after, b, p, delivery):
    """What was dealt with is taken off the list once, unless the answer is lost (T5)."""
    controller = after.brokers[b].controller
    again = contains(controller.moving, p) or is_empty(controller.moving)
    return delivery != ANSWERED or controller.doing != DELETING_REQUEST or not again


def assignment_well_formed(s):
    """Replicas are distinct (T6)."""
    for p in range(len(s.zk.assignments)):
        if not is_distinct(s.zk.assignments[p]):
            return False
    return True


def planned_as_asked(before, after, b, p):
    """The first phase is to write the target, in its order, then the other replicas (T6)."""
    known = before.brokers[b].controller.partitions[p]
    planned = after.brokers[b].controller.partitions[p].assignment
    if after.brokers[b].controller.doing != WRITING_ASSIGNMENT:
        return True
    whole = union(replicas_of(known.assignment), replicas_of(known.aim))
    return begins_with(planned, known.aim) and replicas_of(planned) == whole


def target_written(before, after, b, p, delivery):
    """The assignment that ends a reassignment is its target, in its order (T6)."""
    if after.zk.assignments[p].length == 0 or after.brokers[b].controller.doing != DELETING_REQUEST:
        return True
    return same_sequence(after.zk.assignments[p], before.brokers[b].controller.partitions[p].aim)


def target_in_sync(before, after, b, p):
    """The second phase begins only after the controller has read that the target is in the ISR (T7)."""
    if not after.brokers[b].controller.finishing:
        return True
    aim = before.brokers[b].controller.partitions[p].aim
    return is_empty(difference(replicas_of(aim), before.zk.partitions[p].isr))


def assigned_by_right(before, after, b, p, delivery):
    """Assignments are written by the last controller that was elected (C4)."""
    written = not same_sequence(before.zk.assignments[p], after.zk.assignments[p])
    return not written or before.brokers[b].controller.epoch == before.zk.epoch


def listed_by_right(before, after, b, p, delivery):
    """The list of partitions to reassign is written by the last controller that was elected (C4)."""
    for q in range(len(before.zk.targets)):
        written = not same_sequence(before.zk.targets[q], after.zk.targets[q])
        if written and before.brokers[b].controller.epoch != before.zk.epoch:
            return False
    return True


def replicas_told(before, after, b, p, delivery):
    """LeaderAndIsr with the leader epoch that a reassignment raises reaches every live replica that it names: old or new in
    the first phase, those of the target in the second (C15).
    """
    controller = before.brokers[b].controller
    if delivery != ANSWERED or after.brokers[b].controller.doing == RAISING or is_refused(before, b):
        return True
    expected = intersection(replicas_of(controller.partitions[p].assignment), controller.live)
    return told(after, b, p) == known_as_they_are(before.zk, b, expected)


def not_deleted_while_reassigned(s):
    """No replica of a topic with a partition that a controller reassigns is being deleted, unless the partition is just
    being taken off the list, since the topic is queued for deletion (T3).
    """
    for broker in s.brokers:
        controller = broker.controller
        for p in range(len(controller.partitions)):
            drops = controller.doing == DELETING_REQUEST and contains(controller.moving, p)
            if is_reassigned(controller.partitions[p]) and not drops:
                if any_in(controller, only(p), REPLICA_DELETION_STARTED):
                    return False
    return True


def may_go_back_now(controller, partition):
    """Whether the automatic rebalance may move a partition: nothing is being reassigned, and its preferred replica is
    online.
    """
    return is_empty(reassigned(controller)) and goes_back_if_online(controller, partition)


def counts_if_assigned(s, b, p, r):
    """Whether a controller heeds the answer to StopReplica up to 2.2: it was sent for the deletion of a topic, to a replica
    that is assigned.
    """
    controller = s.brokers[b].controller
    return is_queued(controller, p) and contains(replicas_of(controller.partitions[p].assignment), r)


def end_when_completed(controller, topic):
    """Up to 2.0 the partitions of a topic are NonExistent only when its deletion is completed."""
    return True


def is_resumed(s):
    """A controller begins the first phase of a reassignment that an earlier one had begun."""
    for broker in s.brokers:
        if broker.controller.epoch > 1 and broker.controller.doing == WRITING_ASSIGNMENT:
            for p in range(len(s.zk.assignments)):
                if s.zk.assignments[p].length > 0 and same_sequence(
                    broker.controller.partitions[p].assignment, s.zk.assignments[p]
                ):
                    return True
    return False


def is_asked_again(s):
    """A reassignment is complete, and another controller takes its request off the list."""
    for broker in s.brokers:
        ends = broker.controller.epoch > 1 and broker.controller.doing == DELETING_REQUEST
        if ends and broker.controller.strategy == REASSIGN and not broker.controller.finishing:
            return True
    return False


def is_failed(s):
    """A reassignment fails in the event that takes it up: it is to be taken off the list, half done."""
    for broker in s.brokers:
        controller = broker.controller
        for p in range(len(controller.partitions)):
            ends = controller.doing == DELETING_REQUEST and controller.strategy == REASSIGN and not controller.finishing
            partition = controller.partitions[p]
            known = partition.assignment.length > 0 and not is_queued(controller, p)
            if ends and contains(controller.moving, p) and known:
                if not same_sequence(partition.aim, partition.assignment):
                    return True
    return False


def waits_for_dead(s):
    """A reassignment waits for a broker that is not live."""
    for broker in s.brokers:
        for partition in broker.controller.partitions:
            absent = difference(replicas_of(partition.aim), broker.controller.live)
            if broker.controller.doing == IDLE and is_reassigned(partition) and not is_empty(absent):
                return True
    return False


def is_reassigned_wholly(s):
    """All replicas of a partition have moved to other brokers, and no request is left."""
    for p in range(len(s.zk.assignments)):
        settled = s.zk.assignments[p].length > 0 and not is_moved(s.zk, p)
        if settled and not contains(replicas_of(s.zk.assignments[p]), 1 if p > 1 else 0):
            return True
    return False


SAFETY = (
    always(reassigning.replicas_remembered),
    always(request_remembered),
    always_step(request_goes_last, of=("delete_listed",)),
    always_step(request_ends, of=("delete_listed",)),
    always(assignment_well_formed),
    always_step(planned_as_asked, of=("check_target",)),
    always_step(target_written, of=("write_target",)),
    always_step(target_in_sync, of=("check_target",)),
    always_step(reassigning.stopped_out_of_isr, of=("stop_removed",)),
    always_step(assigned_by_right, of=("write_union", "write_target")),
    always_step(listed_by_right, of=("delete_listed",)),
    always_step(replicas_told, of=("tell_replicas",)),
    always(not_deleted_while_reassigned),
)
GOALS = (
    sometimes(is_reassigned_wholly, leader_epochs=2),
    sometimes(is_resumed, epochs=2, faults=2),
    sometimes(reassignment_goals.is_completed_by_another, epochs=2, faults=2),
    sometimes(is_asked_again, epochs=2, faults=2),
    sometimes(is_failed, faults=2),
    sometimes(waits_for_dead, faults=2),
    sometimes(reassignment_goals.moves_leader, leader_epochs=2),
    sometimes(reassignment_goals.keeps_leader, replicas=2),
)
IN_PHASES = {progress.is_reassigned: is_reassigned}
WITH_PHASES = {
    partition_states.raises_epoch: reassigning.raises_epoch,
    partition_states.is_assigned: reassigning.is_assigned,
    partition_elections.ends_something: reassigning.ends_reassignment,
    partition_elections.may_go_back: may_go_back_now,
    topic_creation.is_changed: is_changed_otherwise,
    topic_deletion.may_lose_log: reassigning.may_lose_log,
    topic_deletion.is_replica_lost_or_deleted: reassigning.is_replica_lost_or_removed,
    topic_deletion.legal_replica_or_retry: reassigning.legal_replica_or_stopped,
    topic_deletion.keeps_log: reassigning.keeps_log,
    topic_deletion.hinders: reassigning.hinders,
    deletion_events.moved_topics: reassigning.moved_topics,
}


def properties(found: tuple[Property, ...]) -> tuple[Property, ...]:
    """The properties of a model with reassignments in two phases: those without, adapted, and those of reassignments."""
    kept = (p for p in topic_deletion.properties(found) if p.name not in reassigning.GONE)
    adapted = tuple(p.rebound(WITH_PHASES) for p in kept) + SAFETY + EVENTS + GOALS
    return tuple(p.rebound(IN_PHASES) for p in adapted)
