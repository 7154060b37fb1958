"""What brokers tell clients: it converges (L3), it is what was written, and it may be old."""

from kafkaproof.spec.election.requests import is_stale
from kafkaproof.spec.kafka.state_machines import NON_EXISTENT_PARTITION, OFFLINE_REPLICA
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.kafka.zookeeper import ANSWERED
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step, sometimes
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty
from kafkaproof.spec.partition.context import NO_EPOCH, is_known, is_queued
from kafkaproof.spec.partition.metadata.cache import is_early
from kafkaproof.spec.partition.metadata.memory import is_of_context
from kafkaproof.spec.partition.metadata.network import leader_epoch_told, update_arrives
from kafkaproof.spec.partition.network import arriving, leader_epoch_in, leader_in
from kafkaproof.spec.partition.progress import at_work
from kafkaproof.spec.partition.properties.sessions import has_session, rests
from kafkaproof.spec.partition.replica import is_news
from kafkaproof.spec.partition.zookeeper import brokers_changed, known_as_they_are


def has_told_all(s, b):
    """Whether `b` rules, has handled all that it was notified of, and waits for events."""
    controller = s.brokers[b].controller
    rules = s.zk.controller == b and controller.epoch == s.zk.epoch and at_work(controller)
    return rules and not brokers_changed(s.zk, b)


def has_heard_all(s, b, r):
    """Whether broker `r` is registered and runs, and no UpdateMetadata of controller `b` is on its way to it."""
    runs = s.brokers[r].up and contains(s.zk.registered, r)
    return runs and not update_arrives(s.network, s.brokers[b].controller.epoch, r)


def is_same(cached, partition):
    """Whether a broker knows of a partition what the controller knows, if that knows anything."""
    if not is_known(partition):
        return True
    same = cached.leader == partition.leader and cached.leader_epoch == partition.leader_epoch
    return cached.known == 1 and same and cached.isr == partition.isr


def metadata_converges(s):
    """When the controller has handled all that it was notified of, a broker that has taken all its requests tells clients
    of exactly the live brokers, and of each partition what the controller knows, if it knows any, unless its topic is queued
    for deletion (L3).
    """
    for b in range(len(s.brokers)):
        for r in range(len(s.brokers)):
            if has_told_all(s, b) and has_heard_all(s, b, r):
                if s.brokers[r].metadata.alive != s.brokers[b].controller.live:
                    return False
                for p in range(len(s.zk.partitions)):
                    controller = s.brokers[b].controller
                    same = is_same(s.brokers[r].metadata.partitions[p], controller.partitions[p])
                    if not same and not is_queued(controller, p):
                        return False
    return True


def told_as_written(s):
    """No broker tells clients of a leader epoch that ZooKeeper has not had, or of another leader in its leader epoch."""
    for broker in s.brokers:
        for p in range(len(s.zk.partitions)):
            cached = broker.metadata.partitions[p]
            written = s.zk.partitions[p]
            if cached.known and cached.leader_epoch > written.leader_epoch:
                return False
            if cached.known and cached.leader_epoch == written.leader_epoch and cached.leader != written.leader:
                return False
    return True


def is_unchanged(old, new):
    """Whether two brokers tell clients the same."""
    for p in range(len(old.metadata.partitions)):
        was = old.metadata.partitions[p]
        is_now = new.metadata.partitions[p]
        same = was.leader == is_now.leader and was.leader_epoch == is_now.leader_epoch and was.isr == is_now.isr
        if not same or was.known != is_now.known:
            return False
    return old.metadata.alive == new.metadata.alive


def deposed_tells_nothing(before, after, b, epoch):
    """An UpdateMetadata of a lower controller epoch than its receiver has seen changes nothing there; any other is
    remembered.
    """
    if is_stale(before.brokers[b], epoch):
        return is_unchanged(before.brokers[b], after.brokers[b]) and (
            before.brokers[b].seen_epoch == after.brokers[b].seen_epoch
        )
    return after.brokers[b].seen_epoch == epoch


def follows_the_living(before, after, b, epoch, p):
    """A broker becomes leader, or the follower of a leader that it was told is alive; of another one, or where nobody leads,
    it takes nothing over: whoever led leads on, in its leader epoch.
    """
    old = before.brokers[b]
    new = after.brokers[b].replicas[p]
    named = leader_in(before.network, epoch, p)
    if named == b or named != NOBODY and contains(old.metadata.alive, named):
        return True
    return new.leader == old.replicas[p].leader and new.leader_epoch == old.replicas[p].leader_epoch


def are_told(s, b, p):
    """Whether every live broker whose registration a controller knows is sent what the controller knows of a partition."""
    controller = s.brokers[b].controller
    live = known_as_they_are(s.zk, b, controller.live)
    if not is_known(controller.partitions[p]):
        return is_empty(difference(live, s.network.live[controller.epoch].to))
    update = s.network.updates[controller.epoch][p]
    return is_of_context(controller, p, update) and is_empty(difference(live, update.to))


def told_when_altered(before, after, b, p, sender, isr, delivery):
    """When a controller has dealt with an ISR that a leader proposes, written or not, every live broker is told of the
    partition, unless another controller has been elected.
    """
    is_fenced = has_session(before, b) and before.brokers[b].controller.epoch != before.zk.epoch
    return delivery != ANSWERED or is_fenced or are_told(after, b, p)


def told_when_refused(before, after, b, p, sender):
    """When a controller refuses an ISR, or has it already, every live broker is told of the partition."""
    return rests(before, b) and are_told(after, b, p)


def told_of_deletion(before, after, b, p):
    """When a controller begins to delete a topic, every live broker is sent that its partitions are to be forgotten."""
    old = before.brokers[b].controller.partitions[p]
    new = after.brokers[b].controller.partitions[p]
    if not is_known(old) or old.state == NON_EXISTENT_PARTITION or new.state != NON_EXISTENT_PARTITION:
        return True
    epoch = after.brokers[b].controller.epoch
    live = known_as_they_are(after.zk, b, after.brokers[b].controller.live)
    told = is_empty(difference(live, after.network.updates[epoch][p].to))
    return told and leader_epoch_told(after.network, epoch, p) == NO_EPOCH


def is_untold(before, after, b, p):
    """Whether a controller sends nobody anything new about a partition."""
    epoch = before.brokers[b].controller.epoch
    return is_empty(difference(after.network.updates[epoch][p].to, before.network.updates[epoch][p].to))


def waiting_untold(before, after, b, p):
    """Nobody is told of a topic that is ineligible for deletion, when its deletion is resumed in vain."""
    waits = contains(before.brokers[b].controller.ineligible, p)
    return not waits or is_untold(before, after, b, p)


def queued_untold(before, after, b):
    """Brokers that come are told nothing of a topic that is queued for deletion, and that they have no replica of."""
    old = before.brokers[b].controller
    for p in range(len(old.partitions)):
        hosted = not is_empty(intersection(replicas_of(old.partitions[p].assignment), old.joined))
        if is_queued(old, p) and not hosted and not is_untold(before, after, b, p):
            return False
    return True


def is_dropped(controller, p):
    """Whether a controller has begun to delete the topic of a partition, or knows of none."""
    partition = controller.partitions[p]
    return partition.assignment.length == 0 or is_queued(controller, p) and partition.state == NON_EXISTENT_PARTITION


def deleted_is_forgotten(s):
    """When the controller has handled all that it was notified of, a broker that has taken all its requests tells clients
    nothing of a partition whose topic the controller has begun to delete, or has deleted.
    """
    for b in range(len(s.brokers)):
        for r in range(len(s.brokers)):
            if has_told_all(s, b) and has_heard_all(s, b, r):
                for p in range(len(s.zk.partitions)):
                    if is_dropped(s.brokers[b].controller, p) and s.brokers[r].metadata.partitions[p].known:
                        return False
    return True


def is_stopped(before, after, b, p, r):
    """Whether broker `r`, if it is live and the controller knows its registration, is sent StopReplica without delete, in
    the leader epoch that the controller remembered.
    """
    controller = before.brokers[b].controller
    if not contains(known_as_they_are(after.zk, b, controller.live), r):
        return True
    epoch = NO_EPOCH if is_queued(controller, p) else controller.partitions[p].leader_epoch
    halt = after.network.halts[controller.epoch][p]
    return contains(halt.to, r) and halt.leader_epochs[r] == epoch


def goes_offline(before, after, b, p, r):
    """Whether a replica is Offline for a controller, and was not."""
    was = before.brokers[b].controller.partitions[p].replicas[r]
    return was != OFFLINE_REPLICA and after.brokers[b].controller.partitions[p].replicas[r] == OFFLINE_REPLICA


def stopped_when_removed(before, after, b, p, r, delivery):
    """A replica that goes offline on a live broker, and leaves the ISR, is told to fetch no more."""
    return not goes_offline(before, after, b, p, r) or is_stopped(before, after, b, p, r)


def stopped_when_offline(before, after, b, p, r):
    """A replica that goes offline on a live broker is told to fetch no more, also where it is not in the ISR."""
    return not goes_offline(before, after, b, p, r) or is_stopped(before, after, b, p, r)


def leaver_is_stopped(before, after, b, leaver):
    """A broker that is shutting down is told to fetch no more of what it follows, before the ISR is written."""
    for p in range(len(after.zk.partitions)):
        if contains(after.brokers[b].controller.removing, p) and not is_stopped(before, after, b, p, leaver):
            return False
    return True


def told_former_leader(s):
    """A client may be told of a leader that is not the leader any more."""
    for broker in s.brokers:
        for p in range(len(s.zk.partitions)):
            cached = broker.metadata.partitions[p]
            if broker.up and cached.known and cached.leader != NOBODY and cached.leader != s.zk.partitions[p].leader:
                return True
    return False


def told_dead_broker(s):
    """A client may be told of a broker that is not registered."""
    for broker in s.brokers:
        if broker.up and not is_empty(difference(broker.metadata.alive, s.zk.registered)):
            return True
    return False


def told_nothing(s):
    """A client may be told of nothing, although a partition has a leader: the process has just begun."""
    for b in range(len(s.brokers)):
        if s.brokers[b].up and contains(s.zk.registered, b) and is_empty(s.brokers[b].metadata.alive):
            for p in range(len(s.zk.partitions)):
                if s.zk.partitions[p].leader != NOBODY and s.zk.partitions[p].leader != b:
                    return True
    return False


def unknown_leader(s):
    """LeaderAndIsr of a higher leader epoch names a leader that is not alive, as far as its receiver was told."""
    for epoch in range(len(s.network.live)):
        for b in range(len(s.brokers)):
            for p in range(len(s.zk.partitions)):
                named = leader_in(s.network, epoch, p)
                comes = s.brokers[b].up and arriving(s.network, epoch, p, b) and not is_stale(s.brokers[b], epoch)
                news = is_news(s.brokers[b].replicas[p], leader_epoch_in(s.network, epoch, p)) and named != b
                if comes and news and named != NOBODY and not contains(s.brokers[b].metadata.alive, named):
                    if not is_early(s, b, epoch, named):
                        return True
    return False


def stale_update(s):
    """An UpdateMetadata of a deposed controller arrives, and is about to be refused."""
    for epoch in range(len(s.network.live)):
        for b in range(len(s.brokers)):
            if s.brokers[b].up and is_stale(s.brokers[b], epoch) and update_arrives(s.network, epoch, b):
                return True
    return False


CONVERGENCE = (always(metadata_converges), always_step(deposed_tells_nothing, of=("update_metadata",)))
STOPS = (
    always_step(stopped_when_removed, of=("write_removal",)),
    always_step(stopped_when_offline, of=("read_for_removal",)),
    always_step(leaver_is_stopped, of=("controlled_shutdown",)),
)
ALTERED = (
    always_step(told_when_altered, of=("alter_partition",)),
    always_step(told_when_refused, of=("refuse_change",)),
)
FOLLOWING = (always_step(follows_the_living, of=("leader_and_isr",)),)
SAFETY = (*CONVERGENCE, *STOPS, *ALTERED, *FOLLOWING, always(told_as_written))
WITH_DELETIONS = (
    *CONVERGENCE,
    *STOPS,
    *ALTERED,
    *FOLLOWING,
    always_step(told_of_deletion, of=("resume_deletion",)),
    always_step(waiting_untold, of=("resume_deletion",)),
    always_step(queued_untold, of=("broker_startup",)),
    always(deleted_is_forgotten),
)
GOALS = (
    sometimes(told_former_leader),
    sometimes(told_dead_broker, faults=1),
    sometimes(told_nothing, faults=1),
    sometimes(unknown_leader, replicas=2, faults=1),
    sometimes(stale_update, epochs=2, faults=1),
)
