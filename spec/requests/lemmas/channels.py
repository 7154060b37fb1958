"""Lemmas of channels: to whom a controller sends, and what it says of leadership and of deletions.

In short: a controller has a channel to a broker that it knows as live, of its present registration; and whoever knows a
leader epoch (a cache, a replica, or a request on its way) knows the leader that was written with it.
"""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains, difference, is_empty, union
from kafkaproof.spec.partition.context import ELECTING, NO_EPOCH, REMOVING, Broker, Partition, is_known
from kafkaproof.spec.partition.lemmas.partition import agree, caches_agree, taken_and_cached_agree
from kafkaproof.spec.partition.replica import Epoch
from kafkaproof.spec.requests.batch import DELETE, DROPPED, NO_STOP, NOT_TOLD, TOLD


def own_registration_is_listed(s, b: Broker):
    """A controller is live for itself, and its registration does not change in its term."""
    controller = s.brokers[b].controller
    if controller.epoch == 0:
        return True
    moved = union(union(controller.gone, controller.bounced), controller.joined)
    if not contains(controller.live, b) or contains(moved, b):
        return False
    return not contains(s.zk.registered, b) or contains(s.zk.clients[b].seen, b)


def who_moved_is_handled_first(s, b: Broker):
    """Elections and removals begin when those are handled that have gone or bounced: with two brokers no other comes then."""
    controller = s.brokers[b].controller
    works = controller.doing == ELECTING or controller.doing == REMOVING
    return not works or is_empty(union(controller.gone, controller.bounced))


def only_the_live_are_sent(s, b: Broker, r: Broker):
    """A controller has nothing in its channel to a broker that is not live for it, or whose going is to be handled."""
    controller = s.brokers[b].controller
    moved = union(controller.gone, controller.bounced)
    if controller.epoch == 0 or contains(difference(controller.live, moved), r):
        return True
    return s.network.channels[controller.epoch][r].queue.length == 0


def channels_are_to_listed(s, b: Broker, r: Broker):
    """It has channels to those that it has listed alone."""
    controller = s.brokers[b].controller
    listed = contains(difference(union(controller.live, controller.joined), controller.gone), r)
    return controller.epoch == 0 or listed or not s.network.channels[controller.epoch][r].current


def listed_have_channels(s, b: Broker, r: Broker):
    """It has a channel to each broker whose present registration it has listed."""
    controller = s.brokers[b].controller
    listed = contains(difference(union(controller.live, controller.joined), controller.gone), r)
    current = contains(s.zk.registered, r) and contains(s.zk.clients[b].seen, r)
    if controller.epoch == 0 or not listed or not current:
        return True
    return s.network.channels[controller.epoch][r].current == 1


def what_is_collected(channel, p):
    """What the batch that is collected says of a partition."""
    return channel.queue.slots[channel.queue.length - 1].partitions[p]


def collected_is_elected(s, b: Broker, p: Partition, r: Broker):
    """What is collected says nothing of a partition that is still to be elected."""
    controller = s.brokers[b].controller
    channel = s.network.channels[controller.epoch][r]
    if controller.doing != ELECTING or not contains(controller.todo, p) or not channel.collecting:
        return True
    if channel.queue.length == 0:
        return False
    told = what_is_collected(channel, p)
    return not told.leader_and_isr and told.update == NOT_TOLD and told.stop == NO_STOP


def collected_deletes_nothing(s, p: Partition, r: Broker, epoch: Epoch):
    """StopReplica with delete is sent at once: none is collected."""
    channel = s.network.channels[epoch][r]
    if not channel.collecting:
        return True
    return channel.queue.length > 0 and what_is_collected(channel, p).stop != DELETE


def cache_was_written(s, b: Broker, p: Partition):
    """What a controller remembers of leadership was written: the present one, or an older."""
    cached = s.brokers[b].controller.partitions[p]
    state = s.zk.partitions[p]
    older = cached.leader_epoch < state.leader_epoch or contains(s.zk.deleted, p)
    return older or cached.leader_epoch == state.leader_epoch and cached.leader == state.leader


def unknown_is_nobody(s, b: Broker, p: Partition):
    """Of a partition whose leadership is not known, no leader and no ISR is remembered."""
    cached = s.brokers[b].controller.partitions[p]
    return is_known(cached) or cached.leader == NOBODY and is_empty(cached.isr)


def context_is_state(s, b: Broker, p: Partition):
    """The controller by right remembers the state."""
    controller = s.brokers[b].controller
    cached = controller.partitions[p]
    state = s.zk.partitions[p]
    if controller.epoch == 0 or controller.epoch != s.zk.epoch or contains(s.zk.deleted, p):
        return True
    same = cached.leader_epoch == state.leader_epoch and cached.leader == state.leader
    return same and cached.isr == state.isr


def taken_was_written(s, b: Broker, p: Partition):
    """A replica has a leader epoch that was written."""
    return contains(s.zk.deleted, p) or s.brokers[b].replicas[p].leader_epoch <= s.zk.partitions[p].leader_epoch


def is_written(told, state, deleted):
    """Whether what a batch says of leadership was written: the present one, or an older."""
    if not told.leader_and_isr and told.update != TOLD:
        return True
    was = told.leader_epoch <= state.leader_epoch and agree(told, state)
    return told.leader_epoch > NO_EPOCH and (was or deleted)


def sent_was_written(s, p: Partition, r: Broker, epoch: Epoch):
    """What is sent was written."""
    channel = s.network.channels[epoch][r]
    for batch in channel.queue.slots:
        if not is_written(batch.partitions[p], s.zk.partitions[p], contains(s.zk.deleted, p)):
            return False
    return is_written(channel.late.partitions[p], s.zk.partitions[p], contains(s.zk.deleted, p))


def says(told, known):
    """Whether what a batch says of leadership agrees with what is known."""
    return not told.leader_and_isr and told.update != TOLD or agree(told, known)


def all_say(channel, p, known):
    """The same of everything on its way in a channel."""
    for batch in channel.queue.slots:
        if not says(batch.partitions[p], known):
            return False
    return says(channel.late.partitions[p], known)


def sent_and_cached_agree(s, b: Broker, p: Partition, r: Broker, epoch: Epoch):
    """Requests of the leader epoch that a controller remembers name the leader that it remembers."""
    return all_say(s.network.channels[epoch][r], p, s.brokers[b].controller.partitions[p])


def sent_and_taken_agree(s, b: Broker, p: Partition, r: Broker, epoch: Epoch):
    """So do those of the leader epoch that a replica has."""
    return all_say(s.network.channels[epoch][r], p, s.brokers[b].replicas[p])


def sent_agree(s, p: Partition, r: Broker, other: Broker, epoch: Epoch, another: Epoch):
    """Two requests of one leader epoch name one leader."""
    channel = s.network.channels[epoch][r]
    for batch in channel.queue.slots:
        told = batch.partitions[p]
        leads = told.leader_and_isr or told.update == TOLD
        if leads and not all_say(s.network.channels[another][other], p, told):
            return False
    late = channel.late.partitions[p]
    leads = late.leader_and_isr or late.update == TOLD
    return not leads or all_say(s.network.channels[another][other], p, late)


def stop_was_asked(s, p: Partition, r: Broker, epoch: Epoch):
    """StopReplica with delete is sent only for a topic that is to be deleted, or was."""
    if contains(union(s.zk.deleting, s.zk.deleted), p):
        return True
    channel = s.network.channels[epoch][r]
    for batch in channel.queue.slots:
        if batch.partitions[p].stop == DELETE or batch.partitions[p].update == DROPPED:
            return False
    return channel.late.partitions[p].stop != DELETE and channel.late.partitions[p].update != DROPPED


def metadata_was_told(s, b: Broker, p: Partition):
    """A process without metadata has none, and no request waits for what it does not serve."""
    broker = s.brokers[b]
    return broker.up == 1 or is_empty(broker.metadata.alive) and not broker.metadata.partitions[p].known


CHANNELS = (
    own_registration_is_listed,
    who_moved_is_handled_first,
    only_the_live_are_sent,
    channels_are_to_listed,
    listed_have_channels,
    collected_is_elected,
    collected_deletes_nothing,
    cache_was_written,
    unknown_is_nobody,
    context_is_state,
    caches_agree,
    taken_and_cached_agree,
    sent_was_written,
    taken_was_written,
    sent_and_cached_agree,
    sent_and_taken_agree,
    sent_agree,
    stop_was_asked,
    metadata_was_told,
)
