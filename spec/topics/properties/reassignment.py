"""Properties of the steps of a reassignment: how it is requested, written, sent, and completed.

Source: KafkaController.onPartitionReassignment, 2.7 to 3.9.
"""

from kafkaproof.spec.kafka.state_machines import (
    NON_EXISTENT_PARTITION,
    NON_EXISTENT_REPLICA,
    ONLINE_PARTITION,
    ONLINE_REPLICA,
    replica_move_is_legal,
)
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always_step
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty, union
from kafkaproof.spec.partition.reassignment.state import CHECKING, TELLING, WRITING_ASSIGNMENT, WRITING_TARGET
from kafkaproof.spec.topics.context import DROP_TASK, FINISH_TASK, MOVING, members
from kafkaproof.spec.topics.network import START
from kafkaproof.spec.topics.properties.invariants import is_in_znode, same_assignment
from kafkaproof.spec.topics.properties.sessions import has_session, is_refused, rests
from kafkaproof.spec.topics.properties.steps import is_left, is_written, may_write, names_all, term_ends_unwritten
from kafkaproof.spec.topics.reassignment import is_ready, origin_of
from kafkaproof.spec.topics.znodes import CANCELLATION, NOTHING


def reassignment_taken_up(before, after, b):
    """An administrator's request is taken up once; if it is valid the reassignment is to be written, else nothing is
    done.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    asked = before.network.asked
    if not rests(before, b) or asked.wanted == NOTHING or after.network.asked.wanted != NOTHING:
        return False
    partition = old.partitions[asked.partition]
    added = difference(replicas_of(asked.target), origin_of(partition))
    valid = not old.deleting and partition.assignment.length > 0
    if asked.wanted == CANCELLATION:
        valid = valid and partition.reassigned == 1
    else:
        valid = valid and is_empty(difference(added, old.live))
    return contains(new.moving, asked.partition) and new.doing == WRITING_ASSIGNMENT if valid else rests(after, b)


def assignment_written(before, after, b, p):
    """The first assignment of a reassignment is written and remembered; replicas that it no longer needs are stopped,
    else the ISR is checked.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if old.doing != WRITING_ASSIGNMENT or not contains(old.moving, p):
        return False
    if is_refused(before, b):
        return term_ends_unwritten(before, after, b, p)
    if before.zk.topic > 0 and not is_in_znode(after.zk, p, old.wanted):
        return False
    dropped = difference(members(old.partitions[p]), replicas_of(old.wanted.assignment))
    if new.partitions[p].stopping != dropped or new.partitions[p].reassigned != 1:
        return False
    goes_on = new.doing == CHECKING if is_empty(dropped) else new.task == DROP_TASK
    return goes_on and same_assignment(new.partitions[p], old.wanted) and contains(new.moving, p)


def progress_looked_at(before, after, b, p, isr):
    """A reassignment in progress goes on in the event that writes an ISR with its whole target."""
    old = before.brokers[b].controller.partitions[p]
    new = after.brokers[b].controller
    if new.epoch == 0:
        return True
    if old.reassigned == 1 and is_ready(old, isr):
        return new.doing == CHECKING and contains(new.moving, p)
    return rests(after, b)


def finished_when_ready(before, after, b, p):
    """A reassignment is completed when the whole target is in the ISR, else LeaderAndIsr is sent to its replicas."""
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if old.doing != CHECKING or not contains(old.moving, p):
        return False
    if not has_session(before, b):
        return new.epoch == 0
    if not is_ready(old.partitions[p], before.zk.partitions[p].isr):
        return new.doing == TELLING
    for r in range(len(after.brokers)):
        told = replica_move_is_legal(old.partitions[p].replicas[r], ONLINE_REPLICA)
        if told and contains(old.partitions[p].adding, r) and new.partitions[p].replicas[r] != ONLINE_REPLICA:
            return False
    return new.doing == MOVING and new.partitions[p].stopping == old.partitions[p].removing


def replicas_told(before, after, b, p):
    """LeaderAndIsr with a higher leader epoch is sent to old and new replicas of a reassignment; those that are added
    become New.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    state = before.zk.partitions[p]
    adding = old.partitions[p].adding
    if old.doing != TELLING or not contains(old.moving, p):
        return False
    if is_refused(before, b):
        return term_ends_unwritten(before, after, b, p)
    if may_write(before, b, p):
        if not is_written(before, after, b, p, state.leader, state.isr) or not names_all(before, after, b, p):
            return False
    elif not is_left(before, after, b, p):
        return False
    for r in range(len(after.brokers)):
        if contains(adding, r) and new.partitions[p].replicas[r] == NON_EXISTENT_REPLICA:
            return False
        if contains(intersection(adding, intersection(old.live, before.zk.clients[b].seen)), r):
            channel = after.network.channels[new.epoch][r][p]
            if channel.kind != START or channel.topic != old.topic:
                return False
    return not contains(new.moving, p)


def leader_moved(before, after, b, p):
    """A replica of the target leads in a higher leader epoch: the old leader if it is live and in the target, else a
    live one in the ISR; whatever the outcome, the removed replicas are then stopped.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    state = before.zk.partitions[p]
    cached = old.partitions[p]
    if old.doing != MOVING or not contains(old.moving, p):
        return False
    able = intersection(intersection(members(cached), state.isr), old.live)
    stays = cached.leader != NOBODY and contains(intersection(members(cached), old.live), cached.leader)
    possible = state.leader != NOBODY if stays else not is_empty(able)
    if possible and is_refused(before, b):
        return term_ends_unwritten(before, after, b, p)
    if new.task != FINISH_TASK or new.partitions[p].stopping != cached.stopping:
        return False
    if not possible or not may_write(before, b, p):
        return is_left(before, after, b, p)
    leader = after.zk.partitions[p].leader
    chosen = leader == state.leader if stays else contains(able, leader)
    written = is_written(before, after, b, p, leader, state.isr) and names_all(before, after, b, p)
    online = new.partitions[p].state == ONLINE_PARTITION or cached.state == NON_EXISTENT_PARTITION
    return chosen and written and online


def target_written(before, after, b, p):
    """The target is written as the assignment; then the reassignment is over, and a deletion that waited goes on."""
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if old.doing != WRITING_TARGET or not contains(old.moving, p):
        return False
    if is_refused(before, b):
        return term_ends_unwritten(before, after, b, p)
    if before.zk.topic > 0 and not is_in_znode(after.zk, p, old.wanted):
        return False
    over = not contains(new.moving, p) and not new.partitions[p].reassigned
    return over and (not old.deleting or new.started == 1)


def cancellation_asked(before, after, p):
    """A cancellation is asked for only for a partition that is being reassigned, while nothing else is asked for."""
    moves = not is_empty(union(before.zk.adding[p], before.zk.removing[p]))
    asked = before.network.asked.wanted == NOTHING and after.network.asked.wanted == CANCELLATION
    return asked and moves and after.network.asked.partition == p and after.zk.ghosts.cancelled == 1


REASSIGNMENT = (
    always_step(reassignment_taken_up, of=("reassign",)),
    always_step(assignment_written, of=("write_assignment",)),
    always_step(progress_looked_at, of=("alter_partition",)),
    always_step(finished_when_ready, of=("check",)),
    always_step(replicas_told, of=("tell_replicas",)),
    always_step(leader_moved, of=("move_leader",)),
    always_step(target_written, of=("write_target",)),
    always_step(cancellation_asked, of=("ask_for_cancellation",)),
)
