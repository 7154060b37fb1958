"""Properties of control requests: C6, C9, C11, C15, C16, P6, P8, T4 as far as it concerns them, and L3 as a safety
property.
"""

from dataclasses import replace

from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step
from kafkaproof.spec.language.rebind import rebind
from kafkaproof.spec.language.sets import contains, difference, is_empty
from kafkaproof.spec.requests.batch import (
    DELETE,
    DROPPING,
    LEADER_AND_ISR,
    NO_STOP,
    NO_UPDATE,
    NOTHING,
    STOP_REPLICA,
    UPDATE_METADATA,
)
from kafkaproof.spec.requests.context import NO_EPOCH, NOT_DELETED, is_settled, recipients
from kafkaproof.spec.requests.network import (
    ANSWERED,
    FAILED,
    HANDLED,
    HEALED,
    LATE,
    arriving,
    broker_epoch_in,
    has_arrived,
    leader_epoch_in,
    leader_in,
    stop_in,
    update_in,
)
from kafkaproof.spec.requests.zookeeper import brokers_changed, ids_changed


def applied_never_fall(before, after):
    """The controller epochs of the requests that a process accepts never decrease (C6)."""
    for b in range(len(after.brokers)):
        if before.brokers[b].up and after.brokers[b].up:
            if after.brokers[b].ghosts.applied < before.brokers[b].ghosts.applied:
                return False
    return True


def epoch_bound(s):
    """No broker has seen a controller epoch that has not been written yet (C9)."""
    for broker in s.brokers:
        if broker.seen_epoch > s.zk.epoch:
            return False
    return True


def differs(old, new):
    """Whether control requests have changed anything at a broker."""
    metadata = old.alive != new.alive or old.known_leader != new.known_leader
    replica = old.replica.leader != new.replica.leader or old.replica.leader_epoch != new.replica.leader_epoch
    return metadata or replica or old.replica.log != new.replica.log or old.seen_epoch != new.seen_epoch


def former_changes_nothing(before, after, b, epoch, delivery):
    """A request that was sent to a former registration of its receiver changes nothing (C11)."""
    if broker_epoch_in(before.network, epoch, b, delivery) >= before.zk.epochs[b]:
        return True
    return not differs(before.brokers[b], after.brokers[b])


def is_told(queue, leader_epoch):
    """Whether the newest batch has LeaderAndIsr of a leader epoch."""
    if queue.length == 0:
        return False
    last = queue.slots[queue.length - 1]
    return last.leader_and_isr == 1 and last.leader_epoch == leader_epoch


def told_of_election(before, after, b, leader):
    """After an election LeaderAndIsr is sent to every live replica whose log directory works, and to no other broker
    (C15).
    """
    if after.zk.leader_epoch == before.zk.leader_epoch:
        return True
    channels = after.network.channels[after.brokers[b].controller.epoch]
    to = recipients(before.brokers[b])
    for r in range(len(after.brokers)):
        if is_told(channels[r].queue, after.zk.leader_epoch) != contains(to, r):
            return False
    return True


def only_replicas_told(s):
    """LeaderAndIsr is on its way to replicas only (C15)."""
    for epoch in range(len(s.network.channels)):
        for r in range(len(s.brokers)):
            if not contains(replicas_of(s.brokers[r].assignment), r):
                for batch in s.network.channels[epoch][r].queue.slots:
                    if batch.leader_and_isr:
                        return False
    return True


def metadata_first(before, after, b):
    """The first request of a term to each broker, also to one that comes again, is UpdateMetadata (C16)."""
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    for r in range(len(after.brokers)):
        if new.epoch > 0 and contains(difference(new.live, old.live), r):
            first = after.network.channels[new.epoch][r].queue.slots[0]
            if first.leader_and_isr or first.update == NO_UPDATE or first.stop != NO_STOP:
                return False
    return True


def unique_leader(s):
    """All that know a leader epoch, brokers or ZooKeeper, know the same leader for it (P6)."""
    for a in range(len(s.brokers)):
        mine = s.brokers[a].replica
        if mine.leader_epoch == s.zk.leader_epoch and mine.leader != s.zk.leader:
            return False
        for b in range(a):
            yours = s.brokers[b].replica
            if mine.leader_epoch == yours.leader_epoch and mine.leader != yours.leader:
                return False
    return True


def local_epoch(s):
    """No broker has a leader epoch that was never written (P8)."""
    for broker in s.brokers:
        if broker.replica.leader_epoch > s.zk.leader_epoch:
            return False
    return True


def local_epoch_never_falls(before, after):
    """The leader epoch of a replica never decreases, as long as it is hosted (P8)."""
    for b in range(len(after.brokers)):
        new = after.brokers[b].replica.leader_epoch
        if new != NO_EPOCH and new < before.brokers[b].replica.leader_epoch:
            return False
    return True


def no_stale_stop(before, after, b, epoch, delivery):
    """No replica is stopped by a decision of an older leader epoch than its own, except for deletion (T4)."""
    old = before.brokers[b].replica.leader_epoch
    if old == NO_EPOCH or after.brokers[b].replica.leader_epoch != NO_EPOCH:
        return True
    return (
        stop_in(before.network, epoch, b, delivery) == DELETE
        or leader_epoch_in(before.network, epoch, b, delivery) >= old
    )


def log_kept(before, after):
    """A log is deleted only when the topic is to be deleted (T4)."""
    for b in range(len(after.brokers)):
        if before.brokers[b].replica.log and not after.brokers[b].replica.log and not before.zk.deleting:
            return False
    return True


def takes_away(s, b, epoch, delivery):
    """Whether a request takes the partition away from broker `b`, which leads."""
    broker = s.brokers[b]
    kind = arriving(s.network, epoch, b, delivery)
    if epoch < broker.seen_epoch or kind == NOTHING:
        return False
    if kind == LEADER_AND_ISR:
        leader = leader_in(s.network, epoch, b, delivery)
        known = leader != NOBODY and leader != b and contains(broker.alive, leader)
        return known and leader_epoch_in(s.network, epoch, b, delivery) > broker.replica.leader_epoch
    return kind == STOP_REPLICA


def control_requests_first(before, after, b):
    """No produce request is answered with success while a control request that takes the partition away
    from the broker has arrived there, and waits (KIP-291).
    """
    if before.brokers[b].replica.leader != b:
        return True
    for epoch in range(len(before.network.channels)):
        if has_arrived(before.network, epoch, b, ANSWERED) and takes_away(before, b, epoch, ANSWERED):
            return False
        if has_arrived(before.network, epoch, b, LATE) and takes_away(before, b, epoch, LATE):
            return False
    return True


def tells_of_deletion(s, b, epoch, delivery):
    """Whether a request that broker `b` will accept has arrived, waits, and says that the topic is deleted."""
    if not has_arrived(s.network, epoch, b, delivery) or epoch < s.brokers[b].seen_epoch:
        return False
    kind = arriving(s.network, epoch, b, delivery)
    if kind == UPDATE_METADATA:
        return update_in(s.network, epoch, b, delivery) == DROPPING
    return kind == STOP_REPLICA and stop_in(s.network, epoch, b, delivery) == DELETE


def nothing_for_the_deleted(before, after, b):
    """No produce request is answered with success while a control request has arrived at the broker, and waits, that
    tells it that the topic is deleted (KIP-291). A broker that has dropped the topic from its metadata refuses
    (0.10.1+).
    """
    broker = before.brokers[b]
    if broker.replica.leader != b or broker.known_leader == NOBODY:
        return True
    for epoch in range(len(before.network.channels)):
        if tells_of_deletion(before, b, epoch, ANSWERED) or tells_of_deletion(before, b, epoch, LATE):
            return False
    return True


def has_heard_all(s, b):
    """Whether `b` is the current controller, has handled every event, and every request of its term was answered."""
    controller = s.brokers[b].controller
    if controller.epoch == 0 or controller.epoch != s.zk.epoch or s.zk.controller != b:
        return False
    if brokers_changed(s.zk, controller) or not is_empty(controller.joined) or not is_empty(s.zk.dir_events):
        return False
    for r in range(len(s.brokers)):
        waits = s.network.answers[b][r] == FAILED or s.network.answers[b][r] == HEALED
        if waits or s.network.channels[controller.epoch][r].queue.length > 0:
            return False
    return True


def has_settled(s, b):
    """Whether, in addition, there is an online leader, and no deletion."""
    controller = s.brokers[b].controller
    settled = has_heard_all(s, b) and controller.leader != NOBODY and is_settled(s.brokers[b])
    return settled and not s.zk.deleting and controller.deletion == NOT_DELETED


def expected_to_follow(s, b, r):
    """Whether broker `r` hosts a replica for the controller of `b`: registered, not shutting down, directory works."""
    working = contains(s.zk.registered, r) and not s.brokers[r].dir_failed
    staying = not contains(s.brokers[b].controller.leaving, r)
    return working and staying and contains(replicas_of(s.brokers[r].assignment), r)


def obeys(s, r):
    """Whether the replica of `r` has the leader and the leader epoch that ZooKeeper has."""
    replica = s.brokers[r].replica
    return replica.leader == s.zk.leader and replica.leader_epoch == s.zk.leader_epoch


def replicas_converge(s):
    """When the current controller has handled everything, and all that it sent is answered, every replica has the
    leader and the leader epoch that ZooKeeper has; except where it has handled a storage error, from a former process,
    of a replica whose log directory works (L3).
    """
    for b in range(len(s.brokers)):
        if has_settled(s, b):
            for r in range(len(s.brokers)):
                blamed = s.network.answers[b][r] == HANDLED
                if expected_to_follow(s, b, r) and not blamed and not obeys(s, r):
                    return False
    return True


def metadata_converges(s):
    """Then every live broker knows the leader and the live brokers (L3)."""
    for b in range(len(s.brokers)):
        if has_settled(s, b):
            for r in range(len(s.brokers)):
                same = s.brokers[r].alive == s.zk.registered and s.brokers[r].known_leader == s.zk.leader
                if contains(s.zk.registered, r) and not same:
                    return False
    return True


HANDLERS = ("leader_and_isr", "update_metadata", "stop_replica")
SAFETY = (
    always_step(applied_never_fall),
    always(epoch_bound),
    always_step(former_changes_nothing, of=HANDLERS),
    always_step(told_of_election, of=("change_leader",)),
    always(only_replicas_told),
    always_step(metadata_first, of=("elect", "broker_startup")),
    always(unique_leader),
    always(local_epoch),
    always_step(local_epoch_never_falls),
    always_step(no_stale_stop, of=("stop_replica",)),
    always_step(log_kept),
    always_step(control_requests_first, of=("answer_produce",)),
    always_step(nothing_for_the_deleted, of=("answer_produce",)),
    always(replicas_converge),
    always(metadata_converges),
)
WITHOUT_BROKER_EPOCHS = tuple(replace(p, predicate=rebind(p.predicate, {brokers_changed: ids_changed})) for p in SAFETY)
