"""Properties of the events of a controller that reassigns in two phases: what the step that begins or continues one must do,
and what is left of it in and between events.

Sources: KafkaController.onPartitionReassignment and what it calls, PartitionReassignment, 2.0 to 2.3.
"""

from kafkaproof.spec.kafka.state_machines import NEW_REPLICA, NON_EXISTENT_REPLICA
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty, only, union, with_member
from kafkaproof.spec.partition.context import DELETING_REQUEST, NO_EPOCH, REASSIGN, STUCK, is_known, is_queued, online
from kafkaproof.spec.partition.phases.state import RAISING
from kafkaproof.spec.partition.properties.controllers import same_sequence
from kafkaproof.spec.partition.properties.invariants import is_first
from kafkaproof.spec.partition.properties.sessions import (
    has_session,
    is_tried_again,
    is_unanswered,
    rests,
    term_goes_on,
)
from kafkaproof.spec.partition.reassignment.event_properties import in_turn, listed_once, removed_stopped
from kafkaproof.spec.partition.reassignment.memory import has_nothing_in_hand, is_elsewhere
from kafkaproof.spec.partition.reassignment.state import CHECKING, TELLING, WRITING_ASSIGNMENT, WRITING_TARGET
from kafkaproof.spec.partition.zookeeper import is_moved, listed


def is_needless(controller, p):
    """Whether a partition that is listed is not to be reassigned: it is not known, is to be deleted, or is there already."""
    partition = controller.partitions[p]
    known = partition.assignment.length > 0 and not is_queued(controller, p)
    return not known or same_sequence(partition.assignment, partition.aim)


def same_targets(aim, listed_target):
    """Whether a controller aims at the target that is listed."""
    for i in range(listed_target.length):
        if i >= aim.length or aim.slots[i] != listed_target.slots[i]:
            return False
    return aim.length == listed_target.length


def list_taken_up(before, after, b):
    """A controller at work that finds a new target on the list aims at all that are listed; each is to be checked, or taken
    off the list at once.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    news = False
    for p in range(len(new.partitions)):
        kept = same_sequence(new.partitions[p].aim, old.partitions[p].aim)
        aimed = same_targets(new.partitions[p].aim, before.zk.targets[p])
        if not (aimed if is_moved(before.zk, p) else kept):
            return False
        news = news or not kept
        if is_first(new.moving, p) and new.doing != (DELETING_REQUEST if is_needless(new, p) else CHECKING):
            return False
    return rests(before, b) and news and new.moving == listed(before.zk) and new.taken == 1


def phase_looked_at(before, after, b, p):
    """A controller at work that hears that the target of a reassignment is in the ISR checks that partition, and nothing
    else.
    """
    aim = before.brokers[b].controller.partitions[p].aim
    new = after.brokers[b].controller
    ready = aim.length > 0 and is_empty(difference(replicas_of(aim), before.zk.partitions[p].isr))
    return rests(before, b) and ready and new.doing == CHECKING and new.moving == only(p)


def is_left(before, after, b):
    """Whether a partition whose reassignment fails is taken off the list, in the event that takes that up, or left with the
    whole event: nothing more is handled in it.
    """
    new = after.brokers[b].controller
    ends = new.finishing == 0 and is_empty(new.removed) and new.result.leader_epoch == NO_EPOCH
    return ends and (new.doing == DELETING_REQUEST if before.brokers[b].controller.taken else rests(after, b))


def phase_chosen(before, after, b, p):
    """The second phase begins where the target is in the ISR that is read: its replicas are the assignment in memory, and
    the others are to be removed; where one of them leads the leader epoch is raised at once. Else the first begins.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    known = old.partitions[p]
    state = before.zk.partitions[p]
    if not in_turn(old, p, CHECKING):
        return False
    if not has_session(before, b):
        return term_goes_on(before, after, b)
    if state.leader_epoch == NO_EPOCH or not is_empty(difference(replicas_of(known.aim), state.isr)):
        return new.doing == WRITING_ASSIGNMENT and new.finishing == 0
    if not is_known(known):
        return is_left(before, after, b)
    leads = known.leader != NOBODY and contains(intersection(online(old, known), replicas_of(known.aim)), known.leader)
    removed = new.removed == difference(replicas_of(known.assignment), replicas_of(known.aim))
    ends = new.finishing == 1 and removed and same_sequence(new.partitions[p].assignment, known.aim)
    return ends and (new.doing == RAISING) == leads and contains(new.moving, p)


def union_written(before, after, b, p, delivery):
    """The assignment of the first phase is written as the controller knows it, then the leader epoch is to be raised; where
    the topic is gone the reassignment fails.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if not in_turn(old, p, WRITING_ASSIGNMENT):
        return False
    if is_unanswered(before, after, b, delivery):
        return is_tried_again(before, after, b)
    if before.zk.assignments[p].length == 0:
        return is_left(before, after, b)
    return new.doing == RAISING and same_sequence(after.zk.assignments[p], old.partitions[p].assignment)


def leader_epoch_read(before, after, b, p):
    """The state whose leader epoch is raised is read; without one, or with that of a newer controller, the reassignment
    fails.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    state = before.zk.partitions[p]
    if not in_turn(old, p, RAISING):
        return False
    if not has_session(before, b):
        return term_goes_on(before, after, b)
    if state.leader_epoch == NO_EPOCH or state.controller_epoch > old.epoch:
        return is_left(before, after, b)
    raised = new.result.leader_epoch == state.leader_epoch + 1 and new.result.isr == state.isr
    return new.doing == TELLING and raised and new.result.leader == state.leader


def raised_in_phase(before, after, b, p, delivery):
    """A raised leader epoch is written as planned, or the state is read again; in the first phase new replicas are then
    New, and the partition is left.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if not in_turn(old, p, TELLING):
        return False
    if is_unanswered(before, after, b, delivery):
        return is_tried_again(before, after, b)
    if new.doing == RAISING and contains(new.moving, p):
        return new.finishing == old.finishing and new.result.leader_epoch == NO_EPOCH
    if after.zk.partitions[p].leader_epoch != old.result.leader_epoch:
        return False
    for r in range(len(new.partitions[p].replicas)):
        absent = contains(replicas_of(old.partitions[p].aim), r)
        absent = absent and old.partitions[p].replicas[r] == NON_EXISTENT_REPLICA and new.replica_batch != STUCK
        if absent and not old.finishing and new.partitions[p].replicas[r] != NEW_REPLICA:
            return False
    return contains(new.moving, p) == (old.finishing == 1)


def target_written_in_phase(before, after, b, p, delivery):
    """When the target is written the partition is to be taken off the list; where the topic is gone the reassignment fails."""
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if not in_turn(old, p, WRITING_TARGET):
        return False
    if is_unanswered(before, after, b, delivery):
        return is_tried_again(before, after, b)
    if before.zk.assignments[p].length == 0:
        return is_left(before, after, b)
    return new.doing == DELETING_REQUEST and new.strategy == REASSIGN and new.finishing == 1


def delisted_in_turn(before, after, b, p, delivery):
    """A partition that is dealt with is taken off the list, and not aimed at any more; if its reassignment is complete, its
    topic is no longer ineligible for deletion.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if not in_turn(old, p, DELETING_REQUEST) or old.strategy != REASSIGN:
        return False
    if is_unanswered(before, after, b, delivery):
        return is_tried_again(before, after, b)
    settled = not is_moved(after.zk, p) and new.partitions[p].aim.length == 0 and not contains(new.moving, p)
    return settled and (old.finishing == 0 or not contains(new.ineligible, p))


def aims_looked_at(before, after, b):
    """When brokers have come, exactly the reassignments to one of them are to be checked besides what was."""
    old = before.brokers[b].controller
    wanted = 0
    for p in range(len(old.partitions)):
        if not is_empty(intersection(replicas_of(old.partitions[p].aim), old.joined)):
            wanted = with_member(wanted, p)
    return after.brokers[b].controller.moving == union(old.moving, wanted)


def phases_end_with_term(s):
    """Without a term no reassignment is in hand or aimed at."""
    for broker in s.brokers:
        controller = broker.controller
        for partition in controller.partitions:
            if controller.epoch == 0 and partition.aim.length > 0:
                return False
        if controller.epoch == 0 and (controller.taken or not has_nothing_in_hand(controller)):
            return False
    return True


def phases_in_order(s):
    """Between events, and before other brokers are handled or a deletion goes on, no reassignment is in hand or still to be
    checked; for the steps of one there is one.
    """
    for broker in s.brokers:
        controller = broker.controller
        doing = controller.doing
        if is_elsewhere(controller) and (controller.taken or not has_nothing_in_hand(controller)):
            return False
        moves = doing == WRITING_ASSIGNMENT or doing == CHECKING or doing == TELLING or doing == RAISING
        if is_empty(controller.moving) and (moves or doing == WRITING_TARGET):
            return False
        if doing == WRITING_TARGET and not controller.finishing:
            return False
    return True


EVENTS = (
    always_step(list_taken_up, of=("find_request",)),
    always_step(phase_looked_at, of=("caught_up",)),
    always_step(phase_chosen, of=("check_target",)),
    always_step(union_written, of=("write_union",)),
    always_step(leader_epoch_read, of=("read_leader_epoch",)),
    always_step(raised_in_phase, of=("tell_replicas",)),
    always_step(removed_stopped, of=("stop_removed",)),
    always_step(target_written_in_phase, of=("write_target",)),
    always_step(delisted_in_turn, of=("delete_listed",)),
    always_step(aims_looked_at, of=("broker_startup",)),
    always_step(listed_once, of=("ask_for_reassignment",)),
    always(phases_end_with_term),
    always(phases_in_order),
)
