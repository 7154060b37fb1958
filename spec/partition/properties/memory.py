"""Properties of what a controller of partitions keeps, and of what processes and sessions leave behind.

These are the invariants that proofs about single events rely on: a context is empty without a term, what is left of an
event agrees with what is done next, and a broker without a process or session holds nothing. In Kafka they follow from
the single thread of ControllerEventManager and from onControllerResignation (1.1 to 3.9).
"""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step, sometimes
from kafkaproof.spec.language.sets import contains, difference, is_empty, only
from kafkaproof.spec.partition.context import MOVING, NO_EPOCH
from kafkaproof.spec.partition.faults import UNCLEAN
from kafkaproof.spec.partition.network import NOTHING, PREFERRED_TYPE, UNCLEAN_TYPE
from kafkaproof.spec.partition.properties.invariants import (
    batches_in_order,
    before_the_context,
    dead_knows_nothing,
    event_in_order,
    failover_in_order,
    is_loaded,
    machine_is_started,
    moved_were_live,
    owner_rules,
    reader_rules,
    replica_has_state,
    result_is_newer,
    result_is_to_be_written,
    taken_has_leader,
    watch_tells,
    while_states_are_read,
)
from kafkaproof.spec.partition.znodes import ARMED, FIRED, NONE
from kafkaproof.spec.partition.zookeeper import assigned, listed


def one_event(s):
    """A controller has one event in progress: what is left of it agrees with its next step, and there is a result to be
    written exactly while that step is a write.
    """
    for b in range(len(s.brokers)):
        if not event_in_order(s, b) or not failover_in_order(s, b) or not batches_in_order(s, b):
            return False
        if not result_is_to_be_written(s, b) or not moved_were_live(s, b):
            return False
        for p in range(len(s.zk.partitions)):
            if not result_is_newer(s, b, p):
                return False
    return True


def may_be_gone(s, p):
    """Whether the topic of a partition may be gone, so that a late answer is of nothing: here none goes."""
    return False


def no_context_without_term(s):
    """Without a term a controller knows nothing, and while a term begins only what it has read."""
    for b in range(len(s.brokers)):
        for p in range(len(s.zk.partitions)):
            if not before_the_context(s, b, p) or not while_states_are_read(s, b, p):
                return False
            read = is_loaded(s, b, p) and s.brokers[b].controller.partitions[p].assignment.length > 0
            if not read and not may_be_gone(s, p) and not is_empty(s.brokers[b].controller.partitions[p].failed):
                return False
    return True


def machines_started(s):
    """Partitions and replicas have states from the end of the start-up on, and not before."""
    for b in range(len(s.brokers)):
        for p in range(len(s.zk.partitions)):
            if not machine_is_started(s, b, p):
                return False
            for r in range(len(s.brokers)):
                if not replica_has_state(s, b, p, r):
                    return False
    return True


def hears_of_brokers(s):
    """A controller has its watch on /brokers/ids armed from its first listing on, and is notified of changes that it
    has not listed; without a term or a session it has no watch.
    """
    for b in range(len(s.brokers)):
        client = s.zk.clients[b]
        if not watch_tells(s, b):
            return False
        if client.watch == ARMED and client.seen != s.zk.registered:
            return False
        rules = s.brokers[b].controller.epoch > 0 and contains(s.zk.registered, b)
        if not rules and (client.watch != NONE or not is_empty(client.seen)):
            return False
    return True


def ephemerals_end_with_session(s):
    """/controller is owned by a broker with a session, which is controller in the current epoch; only controllers know
    versions.
    """
    for b in range(len(s.brokers)):
        if not owner_rules(s, b):
            return False
        if s.zk.controller == b and s.brokers[b].up and s.brokers[b].controller.epoch == 0:
            return False
        for p in range(len(s.zk.partitions)):
            if not reader_rules(s, b, p):
                return False
    return True


def ends_with_process(s):
    """When a process has ended, nothing is left of what it knew, received or asked for."""
    for b in range(len(s.brokers)):
        broker = s.brokers[b]
        for p in range(len(s.zk.partitions)):
            if not dead_knows_nothing(s, b, p) or not taken_has_leader(s, b, p):
                return False
        for r in range(len(s.brokers)):
            if not broker.up and not is_empty(broker.errors[r]):
                return False
    return True


def leader_proposes(s):
    """A broker may propose an ISR only while it believes that it leads, in the leader epoch in which it leads."""
    for b in range(len(s.brokers)):
        for p in range(len(s.zk.partitions)):
            replica = s.brokers[b].replicas[p]
            epoch = replica.leader_epoch if replica.leader == b else NO_EPOCH
            if s.network.proposals[p][b] != epoch:
                return False
    return True


def failed_is_told(s):
    """A process that has lost a log directory notifies the controller, and only such a process does."""
    for b in range(len(s.brokers)):
        lost = False
        for p in range(len(s.zk.partitions)):
            lost = lost or s.brokers[b].replicas[p].failed
        if s.brokers[b].unnotified and not lost:
            return False
    return True


def is_struck(before, after, b):
    """Whether a live process with a session loses one of them, unless it has asked to be shut down."""
    if not before.brokers[b].up or not contains(before.zk.registered, b):
        return False
    up = after.brokers[b].up == 1
    return up != contains(after.zk.registered, b)


def asks_more(before, after):
    """Whether an operator, or an administrator, asks for more than before."""
    asks = after.zk.preferred > before.zk.preferred or before.zk.deleting != after.zk.deleting
    asks = asks or not is_empty(difference(listed(after.zk), listed(before.zk)))
    asks = asks or before.network.asked == NOTHING and after.network.asked != NOTHING
    return asks or not is_empty(difference(after.network.shutdowns, before.network.shutdowns))


def faults_counted(before, after):
    """Every failure of a broker, and every request of an operator or administrator, counts as one fault."""
    raised = after.zk.faults - before.zk.faults
    struck = asks_more(before, after)
    for b in range(len(after.brokers)):
        struck = struck or is_struck(before, after, b)
        for p in range(len(after.zk.partitions)):
            struck = struck or before.brokers[b].replicas[p].failed < after.brokers[b].replicas[p].failed
    owner = before.zk.controller
    deposed = owner != NOBODY and after.zk.controller == NOBODY
    if deposed and contains(after.zk.registered, owner) and before.brokers[owner].controller.doing != MOVING:
        struck = True
    return raised == 1 if struck else 0 <= raised <= 1


def asked_once(before, after):
    """An operator asks only for what has not been asked for already."""
    return asks_more(before, after)


def election_asked_once(before, after, kind):
    """An administrator asks for an election of the given type, only while none is asked for."""
    wanted = UNCLEAN_TYPE if kind == UNCLEAN else PREFERRED_TYPE
    asked = before.network.asked == NOTHING and after.network.asked == wanted
    return asked and after.zk.ghosts.forced == (1 if kind == UNCLEAN else before.zk.ghosts.forced)


def move_asked_once(before, after, p, target):
    """A reassignment, of a partition to one of its replicas, is asked for only while no other is."""
    wanted = after.zk.targets[p]
    asked = is_empty(listed(before.zk)) and listed(after.zk) == only(p)
    return asked and wanted.length == 1 and wanted.slots[0] == target and contains(assigned(after.zk, p), target)


def directory_fails_once(before, after, b, p):
    """Only a log directory that works and holds a replica fails; then the broker is to notify the controller, if it
    notices.
    """
    failed = before.brokers[b].replicas[p].failed < after.brokers[b].replicas[p].failed
    return failed and contains(assigned(after.zk, p), b) and after.brokers[b].unnotified != before.brokers[b].deaf


def sessions_change_alone(before, after):
    """A registration that comes or goes fires every armed watch; a new process comes with a new registration, which no
    controller knows yet; a process that ends leaves its session open or closes it.
    """
    changed = before.zk.registered != after.zk.registered
    for b in range(len(after.brokers)):
        if changed and before.zk.clients[b].watch == ARMED and after.zk.clients[b].watch == ARMED:
            return False
        if before.zk.clients[b].watch != FIRED and after.zk.clients[b].watch == FIRED and not changed:
            return False
        came = contains(after.zk.registered, b) and not contains(before.zk.registered, b)
        if came and not after.brokers[b].up:
            return False
        if not before.brokers[b].up and after.brokers[b].up and not came:
            return False
        for c in range(len(after.brokers)):
            if came and contains(after.zk.clients[c].seen, b):
                return False
    return True


def orphaned_session(s):
    """A process has died, and its session is open."""
    for b in range(len(s.brokers)):
        if not s.brokers[b].up and contains(s.zk.registered, b):
            return True
    return False


def lives_without_session(s):
    """A process whose session is over is still controller."""
    for b in range(len(s.brokers)):
        if s.brokers[b].controller.epoch > 0 and not contains(s.zk.registered, b):
            return True
    return False


def election_asked_for(s):
    """An administrator asks for an election."""
    return s.network.asked != NOTHING


MEMORY = (
    always(one_event),
    always(no_context_without_term),
    always(machines_started),
    always(hears_of_brokers),
    always(ephemerals_end_with_session),
    always(ends_with_process),
    always(leader_proposes),
    always(failed_is_told),
    always_step(faults_counted),
    always_step(asked_once, of=("ask_for_preferred", "queue_deletion")),
    always_step(election_asked_once, of=("ask_for_election",)),
    always_step(move_asked_once, of=("ask_for_reassignment",)),
    always_step(directory_fails_once, of=("fail_log_dir",)),
    always_step(sessions_change_alone),
    sometimes(orphaned_session, faults=1),
    sometimes(lives_without_session, faults=1),
    sometimes(election_asked_for, faults=1),
)
