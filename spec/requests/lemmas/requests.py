"""Lemmas of control requests: what a process knows of itself, what a controller knows of the state, what is on its way.

In short: only elected controllers send, and each in its own epoch; a controller by right knows the state; and whoever
knows a leader epoch (a cache, a replica, or a request on its way) knows the leader that was written with it. What
a replica will know when all has arrived is in `convergence`.
"""

from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.requests.batch import DELETE, NOTHING, first_kind
from kafkaproof.spec.requests.context import NO_EPOCH, NOT_DELETED, Broker, ControllerEpoch
from kafkaproof.spec.requests.lemmas.convergence import CONVERGENCE
from kafkaproof.spec.requests.lemmas.metadata import METADATA


def process_is_registration(s, b: Broker):
    """A process knows its last registration, and only processes are registered and rule."""
    broker = s.brokers[b]
    if broker.up:
        return broker.epoch == s.zk.epochs[b] and broker.epoch > 0
    return not contains(s.zk.registered, b) and broker.controller.epoch == 0 and broker.replica.leader_epoch == NO_EPOCH


def assignment_is_one(s, a: Broker, b: Broker):
    """Every broker knows the same replicas."""
    return replicas_of(s.brokers[a].assignment) == replicas_of(s.brokers[b].assignment)


def seen_is_applied(s, b: Broker):
    """The controller epoch that was last obeyed is the highest seen."""
    return s.brokers[b].ghosts.applied == s.brokers[b].seen_epoch


def term_was_elected(s, b: Broker):
    """The epoch of a term was written."""
    return s.brokers[b].controller.epoch <= s.zk.epoch


def terms_differ(s, a: Broker, b: Broker):
    """No two controllers have the same epoch."""
    mine = s.brokers[a].controller.epoch
    return a == b or mine == 0 or mine != s.brokers[b].controller.epoch


def only_the_elected_send(s, b: Broker, epoch: ControllerEpoch):
    """Requests are of controller epochs that were written."""
    channel = s.network.channels[epoch][b]
    if 1 <= epoch <= s.zk.epoch:
        return True
    return channel.queue.length == 0 and first_kind(channel.late) == NOTHING


def only_the_live_are_sent(s, a: Broker, b: Broker):
    """A controller has nothing in its channel to a broker that it does not know as live."""
    controller = s.brokers[a].controller
    if controller.epoch == 0 or contains(controller.live, b):
        return True
    return s.network.channels[controller.epoch][b].queue.length == 0


def term_is_the_senders(s, b: Broker):
    """A controller sends the requests of its term."""
    controller = s.brokers[b].controller
    return controller.epoch == 0 or s.network.senders[controller.epoch] == b


def nobody_sends_nothing(s, b: Broker, epoch: ControllerEpoch):
    """The channels of a term that is over are discarded."""
    return s.network.senders[epoch] != NOBODY or s.network.channels[epoch][b].queue.length == 0


def cache_was_written(s, b: Broker):
    """A controller knows a leader epoch that was written, with the newest its leader; by right it knows the newest."""
    controller = s.brokers[b].controller
    if controller.epoch == 0:
        return True
    if controller.epoch == s.zk.epoch and controller.leader_epoch != s.zk.leader_epoch:
        return False
    newest = controller.leader_epoch == s.zk.leader_epoch and controller.leader == s.zk.leader
    return newest or controller.leader_epoch < s.zk.leader_epoch


def unhosted_has_no_leader(s, b: Broker):
    """Who hosts no replica knows no leader of it."""
    replica = s.brokers[b].replica
    return replica.leader_epoch != NO_EPOCH or replica.leader == NOBODY


def caches_agree(s, a: Broker, b: Broker):
    """Two controllers that know the same leader epoch know the same leader."""
    mine = s.brokers[a].controller
    yours = s.brokers[b].controller
    if mine.epoch == 0 or yours.epoch == 0 or mine.leader_epoch != yours.leader_epoch:
        return True
    return mine.leader == yours.leader


def replica_agrees_with_cache(s, a: Broker, b: Broker):
    """So do a replica and a controller."""
    replica = s.brokers[a].replica
    controller = s.brokers[b].controller
    same = replica.leader_epoch == controller.leader_epoch
    return controller.epoch == 0 or not same or replica.leader == controller.leader


def says(batch, leader_epoch, leader):
    """Whether LeaderAndIsr of a leader epoch in a batch, if there is one, names a leader."""
    return not batch.leader_and_isr or batch.leader_epoch != leader_epoch or batch.leader == leader


def all_say(channel, leader_epoch, leader):
    """The same of everything on its way in a channel."""
    for batch in channel.queue.slots:
        if not says(batch, leader_epoch, leader):
            return False
    return says(channel.late, leader_epoch, leader)


def request_was_written(s, b: Broker, epoch: ControllerEpoch):
    """Requests are of leader epochs that were written, those of the newest name its leader."""
    channel = s.network.channels[epoch][b]
    for batch in channel.queue.slots:
        if batch.leader_epoch > s.zk.leader_epoch:
            return False
    return channel.late.leader_epoch <= s.zk.leader_epoch and all_say(channel, s.zk.leader_epoch, s.zk.leader)


def request_agrees_with_cache(s, a: Broker, b: Broker, epoch: ControllerEpoch):
    """Requests of the leader epoch that a controller knows name the leader that it knows."""
    controller = s.brokers[a].controller
    return controller.epoch == 0 or all_say(s.network.channels[epoch][b], controller.leader_epoch, controller.leader)


def request_agrees_with_replica(s, a: Broker, b: Broker, epoch: ControllerEpoch):
    """So do those of the leader epoch that a replica knows."""
    replica = s.brokers[a].replica
    return all_say(s.network.channels[epoch][b], replica.leader_epoch, replica.leader)


def requests_agree(s, a: Broker, b: Broker, epoch: ControllerEpoch, other: ControllerEpoch):
    """Two requests of the same leader epoch name the same leader."""
    channel = s.network.channels[epoch][a]
    for batch in channel.queue.slots:
        if batch.leader_and_isr and not all_say(s.network.channels[other][b], batch.leader_epoch, batch.leader):
            return False
    late = channel.late
    return not late.leader_and_isr or all_say(s.network.channels[other][b], late.leader_epoch, late.leader)


def deletion_was_asked(s, b: Broker):
    """A controller deletes the topic only when that is asked for."""
    return s.brokers[b].controller.deletion == NOT_DELETED or s.zk.deleting == 1


def stop_deletes_when_asked(s, b: Broker, epoch: ControllerEpoch):
    """So does StopReplica with delete."""
    channel = s.network.channels[epoch][b]
    for batch in channel.queue.slots:
        if batch.stop == DELETE and not s.zk.deleting:
            return False
    return channel.late.stop != DELETE or s.zk.deleting == 1


def nothing_waits(s, b: Broker, epoch: ControllerEpoch):
    """Control requests have a queue of their own: none waits for a client."""
    channel = s.network.channels[epoch][b]
    for batch in channel.queue.slots:
        if batch.waits:
            return False
    return not channel.late.waits


CURRENT = (
    process_is_registration,
    assignment_is_one,
    seen_is_applied,
    term_was_elected,
    terms_differ,
    only_the_elected_send,
    only_the_live_are_sent,
    term_is_the_senders,
    nobody_sends_nothing,
    cache_was_written,
    unhosted_has_no_leader,
    caches_agree,
    replica_agrees_with_cache,
    request_was_written,
    request_agrees_with_cache,
    request_agrees_with_replica,
    requests_agree,
    deletion_was_asked,
    stop_deletes_when_asked,
    nothing_waits,
    *CONVERGENCE,
    *METADATA,
)
