"""Properties of the events of a controller that reassigns: what the step that begins or continues one must do.

Sources: KafkaController.onPartitionReassignment and what it calls, processZkPartitionReassignment, 2.7 to 3.9.
"""

from kafkaproof.spec.kafka.assignment import target
from kafkaproof.spec.kafka.state_machines import NEW_REPLICA, NON_EXISTENT_REPLICA, OFFLINE_REPLICA
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.model import always_step
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty, only, union, with_member
from kafkaproof.spec.partition.context import (
    DELETING_REQUEST,
    ELECTING,
    IDLE,
    MOVING,
    NO_EPOCH,
    REASSIGN,
    REMOVING,
    STUCK,
    is_queued,
)
from kafkaproof.spec.partition.deletion.event_properties import is_counted
from kafkaproof.spec.partition.properties.controllers import same_sequence
from kafkaproof.spec.partition.properties.invariants import is_first
from kafkaproof.spec.partition.properties.sessions import (
    has_session,
    is_tried_again,
    is_unanswered,
    rests,
    term_goes_on,
)
from kafkaproof.spec.partition.reassignment.network import CANCELLATION, NOTHING_WANTED, REASSIGNMENT
from kafkaproof.spec.partition.reassignment.state import (
    CHECKING,
    STOPPING_REMOVED,
    TELLING,
    WRITING_ASSIGNMENT,
    WRITING_TARGET,
)
from kafkaproof.spec.partition.zookeeper import is_moved, known_as_they_are, listed


def is_moving(partition):
    """Whether a partition has replicas to add or to remove."""
    return not is_empty(union(partition.adding, partition.removing))


def in_turn(controller, p, doing):
    """Whether the next step of a controller is this one, for this partition."""
    return controller.doing == doing and is_first(controller.moving, p)


def taken_up_in_turn(before, after, b, p):
    """A reassignment that is listed begins when its controller is at work and its topic is not queued for deletion: its
    assignment is to be written, or if it is known already to be checked, alone.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if (
        not rests(before, b)
        or not is_moved(before.zk, p)
        or is_queued(old, p)
        or old.partitions[p].assignment.length == 0
    ):
        return False
    known = same_sequence(old.partitions[p].assignment, new.partitions[p].assignment)
    known = known and old.partitions[p].adding == new.partitions[p].adding
    known = known and old.partitions[p].removing == new.partitions[p].removing
    return new.moving == only(p) and new.doing == (CHECKING if known else WRITING_ASSIGNMENT)


def assignment_written(before, after, b, p, delivery):
    """The assignment with which a reassignment begins is written as the controller knows it; replicas that are not in it
    any more are to be removed, then the ISR is to be read.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if not in_turn(old, p, WRITING_ASSIGNMENT):
        return False
    if is_unanswered(before, after, b, delivery):
        return is_tried_again(before, after, b)
    partition = old.partitions[p]
    gone = 0
    for r in range(len(partition.replicas)):
        if partition.replicas[r] != NON_EXISTENT_REPLICA and not contains(replicas_of(partition.assignment), r):
            gone = with_member(gone, r)
    there = before.zk.assignments[p].length > 0
    written = not there or same_sequence(after.zk.assignments[p], partition.assignment)
    written = written and (not there or after.zk.adding[p] == partition.adding)
    written = written and (not there or after.zk.removing[p] == partition.removing)
    goes_on = new.doing == REMOVING or new.doing == STOPPING_REMOVED or is_empty(gone) and new.doing == CHECKING
    return written and goes_on and new.removed == gone and new.target.length == 0


def looked_at_in_turn(before, after, b, p, sender, isr, delivery):
    """A controller that has written an ISR with the whole target of a reassignment reads the state next; else it rests."""
    old = before.brokers[b].controller.partitions[p]
    new = after.brokers[b].controller
    written = old.isr != new.partitions[p].isr
    ready = is_moving(old) and is_empty(difference(target(old.assignment, old.removing), new.partitions[p].isr))
    if not written or not ready:
        return rests(after, b)
    return new.doing == CHECKING and new.moving == only(p)


def checked_as_read(before, after, b, p):
    """A controller that reads the state of a partition that it reassigns completes the reassignment if the target is in the
    ISR, and else tells all replicas of a raised leader epoch; without a state, or with that of a newer controller, it
    fails (see `failed_as_read`).
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    state = before.zk.partitions[p]
    if not in_turn(old, p, CHECKING):
        return False
    if not has_session(before, b):
        return term_goes_on(before, after, b)
    if state.leader_epoch == NO_EPOCH or state.controller_epoch > old.epoch:
        return failed_as_read(before, after, b, p)
    known = old.partitions[p]
    ready = is_empty(difference(target(known.assignment, known.removing), state.isr)) or not is_moving(known)
    raised = new.doing == TELLING and new.result.leader_epoch == state.leader_epoch + 1 and new.result.isr == state.isr
    raised = raised and new.result.leader == state.leader
    if old.finishing or not ready:
        return raised and new.finishing == old.finishing
    ends = new.finishing == 1 and new.removed == known.removing and not is_moving(new.partitions[p])
    elects = new.doing == ELECTING and new.strategy == REASSIGN and new.todo == only(p)
    idle = new.doing == REMOVING or new.doing == STOPPING_REMOVED or new.doing == WRITING_TARGET
    return ends and (raised or elects or idle)


def failed_as_read(before, after, b, p):
    """Without a state that it can write a failover has failed; another event removes the partition from the request that
    lists it, or leaves it.
    """
    new = after.brokers[b].controller
    if before.brokers[b].controller.failing_over:
        return new.doing == MOVING
    if is_moved(before.zk, p):
        return new.doing == DELETING_REQUEST and new.strategy == REASSIGN and new.target.length == 0
    return not contains(new.moving, p) and new.doing != TELLING


def raised_in_turn(before, after, b, p, delivery):
    """A raised leader epoch is written as planned and remembered, or read again; in the first part of a reassignment new
    replicas are then New, and the partition is left.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if not in_turn(old, p, TELLING):
        return False
    if is_unanswered(before, after, b, delivery):
        return is_tried_again(before, after, b)
    if new.doing == CHECKING and contains(new.moving, p):
        return new.finishing == old.finishing and new.result.leader_epoch == NO_EPOCH
    if new.partitions[p].leader_epoch != old.result.leader_epoch:
        return False
    if after.zk.partitions[p].leader_epoch != old.result.leader_epoch:
        return False
    for r in range(len(new.partitions[p].replicas)):
        begins = contains(old.partitions[p].adding, r) and not old.finishing and new.replica_batch != STUCK
        absent = old.partitions[p].replicas[r] == NON_EXISTENT_REPLICA
        if begins and absent and new.partitions[p].replicas[r] != NEW_REPLICA:
            return False
    return contains(new.moving, p) if old.finishing else not contains(new.moving, p)


def removed_stopped(before, after, b, p):
    """Replicas that a reassignment removes are NonExistent if they were Offline, and sent StopReplica, unless the state
    machine of replicas is dead; then the target is to be written, or the ISR to be read.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if not in_turn(old, p, STOPPING_REMOVED) or not is_empty(new.removed):
        return False
    gone = 0
    for r in range(len(old.partitions[p].replicas)):
        offline = contains(old.removed, r) and old.partitions[p].replicas[r] == OFFLINE_REPLICA
        if offline:
            gone = with_member(gone, r)
        stays = new.partitions[p].replicas[r] != NON_EXISTENT_REPLICA
        if offline and stays and old.replica_batch != STUCK:
            return False
    live = known_as_they_are(before.zk, b, intersection(gone, old.live))
    told = is_empty(difference(live, after.network.stops[old.epoch][p].to))
    next_step = new.doing == (WRITING_TARGET if old.finishing else CHECKING)
    return next_step and (told or old.replica_batch == STUCK)


def target_written_in_turn(before, after, b, p, delivery):
    """When the target is written nothing is added or removed any more; a topic that is queued for deletion is eligible, and
    the partition is taken off the list if that has exactly this target.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if not in_turn(old, p, WRITING_TARGET):
        return False
    if is_unanswered(before, after, b, delivery):
        return is_tried_again(before, after, b)
    listed = is_moved(before.zk, p) and same_sequence(before.zk.targets[p], old.partitions[p].assignment)
    ends = new.doing == DELETING_REQUEST and new.strategy == REASSIGN and contains(new.moving, p)
    ends = ends if listed else not contains(new.moving, p) and new.finishing == 0
    settled = is_empty(union(after.zk.adding[p], after.zk.removing[p]))
    return ends and settled and not contains(new.ineligible, p)


def newcomers_looked_at(before, after, b):
    """When brokers have come, exactly the reassignments to one of them are to be checked besides what was."""
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    wanted = 0
    for p in range(len(old.partitions)):
        aim = target(old.partitions[p].assignment, old.partitions[p].removing)
        if is_moving(old.partitions[p]) and not is_empty(intersection(aim, old.joined)):
            wanted = with_member(wanted, p)
    return new.moving == union(old.moving, wanted)


def dropped_in_turn(before, after, b, p):
    """A partition that is listed, and not reassigned, is to be taken off the list if its topic is queued for deletion or
    not known.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    unknown = old.partitions[p].assignment.length == 0 or is_queued(old, p)
    possible = rests(before, b) and is_moved(before.zk, p) and unknown and not is_moving(old.partitions[p])
    return possible and new.moving == only(p) and new.doing == DELETING_REQUEST and new.strategy == REASSIGN


def unknown_dropped(before, after, b):
    """A listed partition that there never was is to be taken off the list."""
    new = after.brokers[b].controller
    asked = rests(before, b) and before.zk.unknown_listed == 1
    return asked and new.doing == DELETING_REQUEST and new.strategy == REASSIGN and is_empty(new.moving)


def unknown_listed_once(before, after):
    """An operator lists a partition that there never was, once, which is a fault."""
    once = before.zk.unknown_listed == 0 and after.zk.unknown_listed == 1
    return once and is_counted(before, after)


def listed_once(before, after, moved, first, others):
    """An operator lists partitions where none is listed, which is a fault."""
    none = is_empty(listed(before.zk)) and not is_empty(listed(after.zk))
    return none and is_counted(before, after)


def alteration_in_turn(before, after, b):
    """An administrator's request is taken up when the controller is at work, once: it begins, after the partition has been
    taken off the list, or changes nothing.
    """
    new = after.brokers[b].controller
    asked = before.network.alteration
    if not rests(before, b) or asked.wanted == after.network.alteration.wanted:
        return False
    if new.doing == IDLE:
        return is_empty(new.moving)
    delists = is_moved(before.zk, asked.partition)
    if delists != (new.doing == DELETING_REQUEST):
        return False
    return delists or new.doing == WRITING_ASSIGNMENT or new.doing == CHECKING


def alteration_asked(before, after, p, first, others):
    """An administrator asks for a reassignment while nothing is asked for, which is a fault."""
    request = after.network.alteration
    once = before.network.alteration.wanted == NOTHING_WANTED and request.wanted == REASSIGNMENT
    aimed = request.target.slots[0] == first and replicas_of(request.target) == with_member(others, first)
    return once and aimed and request.partition == p and is_counted(before, after)


def cancellation_asked(before, after, p):
    """An administrator asks for a reassignment to be cancelled while nothing is asked for, which is a fault."""
    once = before.network.alteration.wanted == NOTHING_WANTED and after.network.alteration.wanted == CANCELLATION
    return once and after.network.alteration.partition == p and is_counted(before, after)


EVENTS = (
    always_step(taken_up_in_turn, of=("reassign",)),
    always_step(assignment_written, of=("write_assignment",)),
    always_step(looked_at_in_turn, of=("alter_partition",)),
    always_step(checked_as_read, of=("check_reassignment",)),
    always_step(raised_in_turn, of=("tell_replicas",)),
    always_step(removed_stopped, of=("stop_removed",)),
    always_step(target_written_in_turn, of=("write_target",)),
    always_step(newcomers_looked_at, of=("broker_startup",)),
    always_step(dropped_in_turn, of=("drop_reassignment",)),
    always_step(unknown_dropped, of=("drop_unknown",)),
    always_step(unknown_listed_once, of=("ask_for_unknown_reassignment",)),
    always_step(listed_once, of=("ask_for_reassignment",)),
)
ALTERATIONS = (
    always_step(alteration_in_turn, of=("alter_reassignment",)),
    always_step(alteration_asked, of=("ask_for_alteration",)),
    always_step(cancellation_asked, of=("ask_for_cancellation",)),
)
