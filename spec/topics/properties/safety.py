"""Properties of topics: T1 to T10 and, as far as they concern this system, P2, C4, C13 and C14."""

from kafkaproof.spec.kafka.assignment import target
from kafkaproof.spec.kafka.state_machines import (
    NEW_PARTITION,
    NON_EXISTENT_PARTITION,
    NON_EXISTENT_REPLICA,
    OFFLINE_REPLICA,
    ONLINE_PARTITION,
    REPLICA_DELETION_STARTED,
    partition_move_is_legal,
    replica_move_is_legal,
)
from kafkaproof.spec.kafka.strategies import new_topic_leader, offline_leader, replicas_of
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step
from kafkaproof.spec.language.sequences import begins_with
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty, union
from kafkaproof.spec.partition.context import IDLE, READING_BROKERS, is_known
from kafkaproof.spec.partition.reassignment.state import WRITING_ASSIGNMENT, WRITING_TARGET
from kafkaproof.spec.partition.znodes import FIRED
from kafkaproof.spec.topics.context import ARMING, DROP_TASK, MOVING, NO_EPOCH, is_present, is_reassigned
from kafkaproof.spec.topics.network import DELETE, DELETED, FAILED, kind_of
from kafkaproof.spec.topics.properties.writes import WRITES
from kafkaproof.spec.topics.reassignment import origin_of
from kafkaproof.spec.topics.znodes import CANCELLATION, REASSIGNMENT


def by_right(s, b):
    """Whether a broker is controller, and no other was elected after it."""
    return s.brokers[b].controller.epoch > 0 and s.brokers[b].controller.epoch == s.zk.epoch


def at_rest(s, b):
    """Whether it is the current controller, and no event is in progress."""
    return by_right(s, b) and s.brokers[b].controller.doing == IDLE


def has_state(s, p):
    """Whether a partition's state znode exists."""
    return s.zk.partitions[p].leader_epoch != NO_EPOCH


def removed_when_deleted(before, after):
    """The topic znode is removed only while the deletion is asked for, and when no replica has a log of it (T1)."""
    topic = before.zk.topic
    if topic == 0 or after.zk.topic == topic:
        return True
    for p in range(len(before.zk.assignments)):
        for b in range(len(before.brokers)):
            if contains(replicas_of(before.zk.assignments[p]), b) and before.brokers[b].logs[p] == topic:
                return False
    return before.zk.marker == 1


def marker_last(before, after, b):
    """A controller removes the marker only when tree and configuration are gone, or it does not know the topic (T2)."""
    if before.zk.marker == 0 or after.zk.marker == 1:
        return True
    if before.zk.topic > 0:
        return before.brokers[b].controller.topic == 0
    return before.zk.config == 0


def configured(s):
    """A topic that exists has its configuration (T2)."""
    return s.zk.topic == 0 or s.zk.config == 1


def not_deleted_while_reassigned(s):
    """The deletion of a topic with a partition that is being reassigned has not started (T3)."""
    for b in range(len(s.brokers)):
        controller = s.brokers[b].controller
        if controller.started and is_reassigned(controller):
            return False
    return True


def queued_elects_nothing(before, after, b, p):
    """No leader is elected, and no first state created, for a topic that is queued for deletion (T3)."""
    return before.brokers[b].controller.deleting == 0


def queued_begins_nothing(before, after, b):
    """No reassignment begins in a topic that is queued for deletion (T3)."""
    return before.brokers[b].controller.deleting == 0 or after.brokers[b].controller.doing == IDLE


def own_logs_deleted(before, after, b, epoch, p):
    """A broker deletes a log only if the controller's request is for this incarnation of the topic (T4)."""
    log = before.brokers[b].logs[p]
    if log == 0 or after.brokers[b].logs[p] == log:
        return True
    return before.network.channels[epoch][b][p].topic == log


def replicas_remembered(s):
    """The topic znode has every replica that the current controller knows, unless it is being removed at this moment
    (T5).
    """
    for b in range(len(s.brokers)):
        controller = s.brokers[b].controller
        if by_right(s, b) and s.zk.topic > 0 and controller.task != DROP_TASK:
            for p in range(len(s.zk.assignments)):
                for r in range(len(s.brokers)):
                    known = controller.partitions[p].replicas[r] != NON_EXISTENT_REPLICA
                    if known and not contains(replicas_of(s.zk.assignments[p]), r):
                        return False
    return True


def request_remembered(s):
    """While the current controller reassigns a partition, /admin/reassign_partitions lists it (T5)."""
    for b in range(len(s.brokers)):
        for p in range(len(s.zk.assignments)):
            listed = s.zk.request.wanted == REASSIGNMENT and s.zk.request.partition == p
            if by_right(s, b) and s.brokers[b].controller.partitions[p].reassigned and not listed:
                return False
    return True


def assignment_well_formed(s):
    """Replicas are distinct; those added and those removed are among them, and none is both (T6)."""
    for p in range(len(s.zk.assignments)):
        replicas = s.zk.assignments[p]
        for i in range(replicas.length):
            for j in range(i):
                if replicas.slots[i] == replicas.slots[j]:
                    return False
        if not is_empty(difference(union(s.zk.adding[p], s.zk.removing[p]), replicas_of(replicas))):
            return False
        if not is_empty(intersection(s.zk.adding[p], s.zk.removing[p])):
            return False
    return True


def planned_as_asked(before, after, b):
    """A reassignment plans the target, in its order, then the other replicas; it adds and removes what differs (T6)."""
    wanted = after.brokers[b].controller.wanted
    asked = before.network.asked
    if asked.wanted != REASSIGNMENT or after.brokers[b].controller.doing != WRITING_ASSIGNMENT:
        return True
    origin = origin_of(before.brokers[b].controller.partitions[asked.partition])
    target = replicas_of(asked.target)
    exact = wanted.adding == difference(target, origin) and wanted.removing == difference(origin, target)
    return (
        exact
        and begins_with(wanted.assignment, asked.target)
        and (replicas_of(wanted.assignment) == union(origin, target))
    )


def target_order_kept(before, after, b, p):
    """The assignment at the end of a reassignment is the target with which the union began, in that order (T6)."""
    old = before.zk.assignments[p]
    new = after.zk.assignments[p]
    if after.brokers[b].controller.doing == WRITING_TARGET or after.brokers[b].controller.epoch == 0:
        return True
    if before.zk.topic == 0:
        return True
    marked = is_empty(union(after.zk.adding[p], after.zk.removing[p]))
    return marked and replicas_of(new) == target(old, before.zk.removing[p]) and begins_with(old, new)


def origin_kept(before, after, b, p):
    """When a reassignment replaces another, the original replicas stay known (T6)."""
    old = before.brokers[b].controller.partitions[p]
    new = after.brokers[b].controller.partitions[p]
    return after.brokers[b].controller.epoch == 0 or origin_of(old) == origin_of(new)


def target_in_sync(before, after, b, p):
    """A reassignment removes replicas only after it has read that its target is in the ISR (T7)."""
    controller = after.brokers[b].controller
    if controller.doing != MOVING or is_empty(controller.partitions[p].stopping):
        return True
    return is_empty(difference(replicas_of(controller.wanted.assignment), before.zk.partitions[p].isr))


def cancelled_to_origin(before, after, b):
    """A cancellation has the original replicas as its target (T8)."""
    if before.network.asked.wanted != CANCELLATION or after.brokers[b].controller.doing != WRITING_ASSIGNMENT:
        return True
    old = before.brokers[b].controller.partitions[before.network.asked.partition]
    wanted = after.brokers[b].controller.wanted
    return replicas_of(wanted.assignment) == origin_of(old) and is_empty(wanted.adding) and is_empty(wanted.removing)


def first_state(before, after, b, p):
    """The first ISR has the live replicas, and the first of them leads, in leader epoch 0 (T9)."""
    if has_state(before, p) or not has_state(after, p):
        return True
    controller = before.brokers[b].controller
    assigned = controller.partitions[p].assignment
    state = after.zk.partitions[p]
    leads = state.leader == new_topic_leader(assigned, controller.live) and state.leader_epoch == 0
    return leads and state.isr == intersection(replicas_of(assigned), controller.live)


def cache_of_this_topic(s):
    """The cache of the current controller, at rest, agrees with the states of this incarnation (T10)."""
    for b in range(len(s.brokers)):
        controller = s.brokers[b].controller
        for p in range(len(s.zk.partitions)):
            cached = controller.partitions[p]
            state = s.zk.partitions[p]
            if at_rest(s, b) and is_known(cached):
                if cached.leader_epoch != state.leader_epoch or cached.leader != state.leader:
                    return False
                if controller.topic != s.zk.topic:
                    return False
    return True


def partitions_known(s):
    """The current controller, at rest, knows the partitions of its topic, or will be notified of them (C12)."""
    for b in range(len(s.brokers)):
        controller = s.brokers[b].controller
        hears = s.zk.clients[b].topic_watch == FIRED or controller.deleting or controller.topic != s.zk.topic
        for p in range(len(s.zk.assignments)):
            exists = s.zk.assignments[p].length > 0
            if at_rest(s, b) and not hears and exists and not is_present(controller.partitions[p]):
                return False
    return True


def no_partition_undone(s):
    """No controller writes the topic znode over partitions that it does not know."""
    return not s.zk.ghosts.undone


def isr_assigned(s):
    """While the current controller is at rest, the ISR is a subset of the assignment (P2)."""
    for b in range(len(s.brokers)):
        for p in range(len(s.zk.partitions)):
            assigned = replicas_of(s.zk.assignments[p])
            if at_rest(s, b) and not is_empty(difference(s.zk.partitions[p].isr, assigned)):
                return False
    return True


def force_elects(s):
    """While the current controller is at rest and a replica is live, a forced election finds a leader."""
    for b in range(len(s.brokers)):
        controller = s.brokers[b].controller
        for p in range(len(s.zk.partitions)):
            assigned = s.zk.assignments[p]
            live = not is_empty(intersection(replicas_of(assigned), controller.live))
            leads = s.zk.partitions[p].leader != NOBODY and contains(controller.live, s.zk.partitions[p].leader)
            if at_rest(s, b) and has_state(s, p) and live and not leads and not controller.deleting:
                if offline_leader(assigned, s.zk.partitions[p].isr, controller.live, 1) == NOBODY:
                    return False
    return True


def is_composed(old, new):
    """Whether a step may move a replica by several legal moves: it is stopped, or its deletion fails or ends."""
    return (old == OFFLINE_REPLICA or old == REPLICA_DELETION_STARTED) and (
        new == NON_EXISTENT_REPLICA or new == OFFLINE_REPLICA
    )


def moves_legal(before, after):
    """Within a term and a topic, partitions and replicas move as the tables say (C13)."""
    for b in range(len(after.brokers)):
        old = before.brokers[b].controller
        new = after.brokers[b].controller
        goes_on = old.epoch > 0 and old.epoch == new.epoch and old.doing != READING_BROKERS and old.doing != ARMING
        if goes_on and old.topic > 0 and old.topic == new.topic:
            for p in range(len(new.partitions)):
                was = old.partitions[p].state
                now = new.partitions[p].state
                ends = now == NON_EXISTENT_PARTITION or old.starting > new.starting
                if was != now and not ends and not partition_move_is_legal(was, now):
                    return False
                for r in range(len(after.brokers)):
                    x = old.partitions[p].replicas[r]
                    y = new.partitions[p].replicas[r]
                    if x != y and not replica_move_is_legal(x, y) and not is_composed(x, y):
                        return False
    return True


def state_tells(s):
    """At rest, an Online partition has a leader, a New one has no state, and only one being deleted is NonExistent
    (C14).
    """
    for b in range(len(s.brokers)):
        controller = s.brokers[b].controller
        for p in range(len(s.zk.partitions)):
            partition = controller.partitions[p]
            if at_rest(s, b) and is_present(partition):
                if partition.state == ONLINE_PARTITION and partition.leader == NOBODY:
                    return controller.deleting == 1
                if partition.state == NEW_PARTITION and has_state(s, p):
                    return False
                if partition.state == NON_EXISTENT_PARTITION and not controller.deleting:
                    return False
    return True


def deletion_goes_on(s):
    """At rest, a topic that is queued and not ineligible waits for a broker."""
    for b in range(len(s.brokers)):
        controller = s.brokers[b].controller
        waits = is_reassigned(controller) or controller.ineligible or not controller.deleting
        for p in range(len(s.zk.partitions)):
            for r in range(len(s.brokers)):
                kind = kind_of(s.network, controller.epoch, r, p)
                started = controller.partitions[p].replicas[r] == REPLICA_DELETION_STARTED
                waits = waits or started or kind == DELETE or kind == DELETED or kind == FAILED
        if at_rest(s, b) and not waits:
            return False
    return True


COMMON = (
    always_step(removed_when_deleted),
    always_step(marker_last, of=("delete_topic_marker",)),
    always(configured),
    always(not_deleted_while_reassigned),
    always_step(queued_elects_nothing, of=("elect_leader", "create_first_state")),
    always_step(own_logs_deleted, of=("stop_replica",)),
    always(replicas_remembered),
    always(assignment_well_formed),
    always_step(target_in_sync, of=("check", "check_target")),
    always_step(first_state, of=("create_first_state",)),
    always(cache_of_this_topic),
    always(partitions_known),
    always(no_partition_undone),
    always(isr_assigned),
    always(force_elects),
    always_step(moves_legal),
    always(state_tells),
    always(deletion_goes_on),
)
KIP455 = (
    always_step(queued_begins_nothing, of=("reassign",)),
    always_step(planned_as_asked, of=("reassign",)),
    always_step(target_order_kept, of=("write_target",)),
    always_step(origin_kept, of=("write_assignment",)),
    always_step(cancelled_to_origin, of=("reassign",)),
)
SAFETY = COMMON + KIP455 + WRITES
TWO_PHASE = COMMON + (always(request_remembered),)
