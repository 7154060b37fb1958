"""Properties of control requests: C6, C9, C11, C15, C16, P6, P8, T4 as far as it concerns them, and L3 as a safety
property.
"""

from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty, union
from kafkaproof.spec.partition.context import (
    CONTROLLED_SHUTDOWN,
    NO_EPOCH,
    has_leader,
    is_queued,
    online,
    online_or_leaving,
)
from kafkaproof.spec.partition.deletion.properties import is_replica_lost_or_deleted
from kafkaproof.spec.partition.progress import at_work
from kafkaproof.spec.partition.properties.states import (
    is_replica_lost,
    local_epoch,
    local_epoch_never_falls,
    unique_leader,
)
from kafkaproof.spec.partition.zookeeper import assigned, brokers_changed
from kafkaproof.spec.requests.batch import (
    DELETE,
    DROPPED,
    LEADER_AND_ISR,
    STOP_REPLICA,
    UPDATE_METADATA,
    has_leader_and_isr,
    has_stop,
)
from kafkaproof.spec.requests.network import (
    ANSWERED,
    LATE,
    arriving,
    has_arrived,
    is_current,
    is_led_in,
    leader_epoch_in,
    leader_in,
    stop_epoch_in,
    stop_in,
    update_in,
)


def seen_never_falls(before, after):
    """The controller epochs of the requests that a process accepts never decrease (C6)."""
    for b in range(len(after.brokers)):
        if before.brokers[b].up and after.brokers[b].up:
            if after.brokers[b].seen_epoch < before.brokers[b].seen_epoch:
                return False
    return True


def epoch_bound(s):
    """No broker has seen a controller epoch that has not been written yet (C9)."""
    for broker in s.brokers:
        if broker.seen_epoch > s.zk.epoch:
            return False
    return True


def is_replica_same(old, new):
    """Whether control requests have changed nothing of a replica."""
    same = old.leader == new.leader and old.leader_epoch == new.leader_epoch
    return same and old.stopped == new.stopped and old.ghosts.log == new.ghosts.log


def is_cache_same(old, new):
    """Whether UpdateMetadata has changed nothing."""
    for p in range(len(old.partitions)):
        was = old.partitions[p]
        is_now = new.partitions[p]
        same = was.leader == is_now.leader and was.leader_epoch == is_now.leader_epoch and was.isr == is_now.isr
        if not same or was.known != is_now.known:
            return False
    return old.alive == new.alive


def differs(old, new):
    """Whether control requests have changed anything at a broker."""
    for p in range(len(old.replicas)):
        if not is_replica_same(old.replicas[p], new.replicas[p]):
            return True
    return not is_cache_same(old.metadata, new.metadata) or old.seen_epoch != new.seen_epoch


def former_changes_nothing(before, after, b, epoch, delivery):
    """A request that was sent to a former registration of its receiver changes nothing (C11)."""
    return is_current(before.network, epoch, b, delivery) or not differs(before.brokers[b], after.brokers[b])


def is_told(queue, p, leader_epoch):
    """Whether the newest batch has LeaderAndIsr of a leader epoch."""
    if queue.length == 0:
        return False
    last = queue.slots[queue.length - 1].partitions[p]
    return last.leader_and_isr == 1 and last.leader_epoch == leader_epoch


def told_of_election(before, after, b, p, delivery):
    """After an election LeaderAndIsr is sent to every replica that is online, in a controlled shutdown also to those that
    are shutting down, and to no other broker (C15).
    """
    if after.zk.partitions[p].leader_epoch == before.zk.partitions[p].leader_epoch:
        return True
    controller = before.brokers[b].controller
    partition = controller.partitions[p]
    leaving = controller.strategy == CONTROLLED_SHUTDOWN
    members = online_or_leaving(controller, partition) if leaving else online(controller, partition)
    to = intersection(replicas_of(partition.assignment), members)
    for r in range(len(after.brokers)):
        queue = after.network.channels[controller.epoch][r].queue
        if is_told(queue, p, after.zk.partitions[p].leader_epoch) != contains(to, r):
            return False
    return True


def only_replicas_told(s):
    """LeaderAndIsr is on its way to replicas only (C15)."""
    for p in range(len(s.zk.partitions)):
        for epoch in range(len(s.network.channels)):
            for r in range(len(s.brokers)):
                for batch in s.network.channels[epoch][r].queue.slots:
                    was_deleted = s.zk.assignments[p].length == 0
                    if batch.partitions[p].leader_and_isr and not was_deleted and not contains(assigned(s.zk, p), r):
                        return False
    return True


def metadata_first(before, after, b):
    """The first request of a term to each broker, also to one that comes again, is UpdateMetadata (C16)."""
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    for r in range(len(after.brokers)):
        if new.epoch > 0 and contains(difference(new.live, old.live), r):
            first = after.network.channels[new.epoch][r].queue.slots[0]
            if has_leader_and_isr(first) or not first.update or has_stop(first):
                return False
    return True


def no_stale_stop(before, after, b, epoch, delivery):
    """No replica is stopped by a decision of an older leader epoch than its own, except for deletion (T4)."""
    for p in range(len(after.zk.partitions)):
        old = before.brokers[b].replicas[p]
        new = after.brokers[b].replicas[p]
        ends = new.stopped and not old.stopped or new.leader_epoch != old.leader_epoch
        decided = stop_epoch_in(before.network, epoch, b, delivery, p)
        if ends and decided != NO_EPOCH and decided < old.leader_epoch:
            return False
    return True


def log_kept(before, after):
    """A log is deleted only when the topic is to be deleted, or was deleted (T4)."""
    for p in range(len(after.zk.partitions)):
        for b in range(len(after.brokers)):
            lost = before.brokers[b].replicas[p].ghosts.log and not after.brokers[b].replicas[p].ghosts.log
            if lost and not contains(union(before.zk.deleting, before.zk.deleted), p):
                return False
    return True


def takes_away(s, b, epoch, delivery, p):
    """Whether a request that broker `b` will accept takes a partition away from it, which it leads."""
    broker = s.brokers[b]
    kind = arriving(s.network, epoch, b, delivery)
    if epoch < broker.seen_epoch or broker.replicas[p].leader != b:
        return False
    if kind == LEADER_AND_ISR and is_led_in(s.network, epoch, b, delivery, p):
        leader = leader_in(s.network, epoch, b, delivery, p)
        known = leader != NOBODY and leader != b and contains(broker.metadata.alive, leader)
        return known and leader_epoch_in(s.network, epoch, b, delivery, p) > broker.replicas[p].leader_epoch
    return kind == STOP_REPLICA and stop_in(s.network, epoch, b, delivery, p) == DELETE


def waits_to_take_away(s, b, p):
    """Whether such a request has arrived, and waits."""
    for epoch in range(len(s.network.channels)):
        if has_arrived(s.network, epoch, b, ANSWERED) and takes_away(s, b, epoch, ANSWERED, p):
            return True
        if has_arrived(s.network, epoch, b, LATE) and takes_away(s, b, epoch, LATE, p):
            return True
    return False


def control_requests_first(before, after, b):
    """No produce request is answered with success while a control request that takes the partition away
    from the broker has arrived there, and waits (KIP-291).
    """
    for p in range(len(before.zk.partitions)):
        if waits_to_take_away(before, b, p):
            return False
    return True


def tells_of_deletion(s, b, epoch, delivery, p):
    """Whether a request that broker `b` will accept has arrived, waits, and says that the topic is deleted."""
    if not has_arrived(s.network, epoch, b, delivery) or epoch < s.brokers[b].seen_epoch:
        return False
    kind = arriving(s.network, epoch, b, delivery)
    if kind == UPDATE_METADATA:
        return update_in(s.network, epoch, b, delivery, p) == DROPPED
    return kind == STOP_REPLICA and stop_in(s.network, epoch, b, delivery, p) == DELETE


def nothing_for_the_deleted(before, after, b):
    """No produce request is answered with success while a control request has arrived at the broker, and waits, that
    tells it that the topic is deleted (KIP-291). A broker that has dropped the topic from its metadata refuses
    (0.10.1+).
    """
    broker = before.brokers[b]
    for p in range(len(before.zk.partitions)):
        for epoch in range(len(before.network.channels)):
            told = tells_of_deletion(before, b, epoch, ANSWERED, p) or tells_of_deletion(before, b, epoch, LATE, p)
            if told and broker.replicas[p].leader == b and broker.metadata.partitions[p].known:
                return False
    return True


def is_answered(s, b, r):
    """Whether broker `r` has answered all that the controller of `b` has sent to it in its term."""
    return s.network.channels[s.brokers[b].controller.epoch][r].queue.length == 0


def has_heard_all(s, b):
    """Whether `b` is the current controller, has handled every event, and every request of its term was answered."""
    controller = s.brokers[b].controller
    if not at_work(controller) or controller.epoch != s.zk.epoch or s.zk.controller != b:
        return False
    if brokers_changed(s.zk, b) or not is_empty(union(s.zk.log_dir_events, s.zk.log_dir_read)):
        return False
    if not is_empty(difference(intersection(s.network.shutdowns, controller.live), controller.leaving)):
        return False
    for r in range(len(s.brokers)):
        if not is_empty(s.network.errors[b][r]) or not is_answered(s, b, r):
            return False
    return True


def has_settled(s, b, p):
    """Whether, in addition, a partition has an online leader, and its topic is not to be deleted."""
    controller = s.brokers[b].controller
    deleted = contains(union(s.zk.deleting, s.zk.deleted), p) or is_queued(controller, p)
    return has_heard_all(s, b) and has_leader(controller, controller.partitions[p]) and not deleted


def expected_to_follow(s, b, r, p):
    """Whether broker `r` hosts a replica for the controller of `b`: registered, not shutting down, directory works."""
    working = contains(s.zk.registered, r) and not s.brokers[r].replicas[p].failed
    staying = not contains(s.brokers[b].controller.leaving, r)
    return working and staying and contains(assigned(s.zk, p), r)


def obeys(s, r, p):
    """Whether a replica of `r` has the leader and the leader epoch that ZooKeeper has, and was not told to stop since."""
    replica = s.brokers[r].replicas[p]
    written = s.zk.partitions[p]
    return replica.leader == written.leader and replica.leader_epoch == written.leader_epoch and not replica.stopped


def is_blamed(s, b, r, p):
    """Whether the controller of `b` takes the log directory of a replica for failed."""
    return contains(s.brokers[b].controller.partitions[p].failed, r)


def replicas_converge(s):
    """When the current controller has handled everything, and all that it sent is answered, every replica has the
    leader and the leader epoch that ZooKeeper has; except where it has handled a storage error, from a former process,
    of a replica whose log directory works (L3).
    """
    for p in range(len(s.zk.partitions)):
        for b in range(len(s.brokers)):
            for r in range(len(s.brokers)):
                if has_settled(s, b, p) and expected_to_follow(s, b, r, p):
                    if not is_blamed(s, b, r, p) and not obeys(s, r, p):
                        return False
    return True


def knows(s, r, p):
    """Whether broker `r` knows the live brokers, and the leader of a partition."""
    metadata = s.brokers[r].metadata
    known = metadata.partitions[p]
    written = s.zk.partitions[p]
    same = known.leader == written.leader and known.leader_epoch == written.leader_epoch and known.isr == written.isr
    return metadata.alive == s.zk.registered and known.known == 1 and same


def metadata_converges(s):
    """Then every live broker knows the live brokers, and of each partition what ZooKeeper has (L3)."""
    for p in range(len(s.zk.partitions)):
        for b in range(len(s.brokers)):
            for r in range(len(s.brokers)):
                if has_settled(s, b, p) and contains(s.zk.registered, r) and not knows(s, r, p):
                    return False
    return True


HANDLERS = ("leader_and_isr", "update_metadata", "stop_replica")
SAFETY = (
    always_step(seen_never_falls, "applied_never_fall"),
    always(epoch_bound),
    always_step(former_changes_nothing, of=HANDLERS),
    always_step(told_of_election, of=("elect_leader",)),
    always(only_replicas_told),
    always_step(metadata_first, of=("elect", "broker_startup")),
    always(unique_leader),
    always(local_epoch),
    always_step(local_epoch_never_falls).rebound({is_replica_lost: is_replica_lost_or_deleted}),
    always_step(no_stale_stop, of=("stop_replica",)),
    always_step(log_kept),
    always_step(control_requests_first, of=("answer_produce",)),
    always_step(nothing_for_the_deleted, of=("answer_produce",)),
    always(replicas_converge),
    always(metadata_converges),
)
