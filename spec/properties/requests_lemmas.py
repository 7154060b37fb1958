"""Lemmas of control requests: processes know their registration, and what is on its way was written."""

from spec.language.sets import contains
from spec.partition.strategies import replicas_of
from spec.requests.batch import DELETE
from spec.requests.context import NO_EPOCH, NOT_DELETED, Broker, ControllerEpoch


def reign_was_elected(s, b: Broker):
    """The epoch of a reign was written."""
    return s.brokers[b].controller.epoch <= s.zk.epoch


def reigns_differ(s, a: Broker, b: Broker):
    """No two controllers have the same epoch."""
    mine = s.brokers[a].controller.epoch
    return a == b or mine == 0 or mine != s.brokers[b].controller.epoch


def process_is_registration(s, b: Broker):
    """A process knows its last registration, and only processes are registered and rule."""
    broker = s.brokers[b]
    if broker.up:
        return broker.epoch == s.zk.epochs[b] and broker.epoch > 0
    return not contains(s.zk.registered, b) and broker.controller.epoch == 0 and broker.replica.leader_epoch == NO_EPOCH


def assignment_is_one(s, a: Broker, b: Broker):
    """Every broker knows the same replicas."""
    return replicas_of(s.brokers[a].assignment) == replicas_of(s.brokers[b].assignment)


def read_was_registered(s, b: Broker, r: Broker):
    """A controller has read registrations that were; without a reign it has read none."""
    controller = s.brokers[b].controller
    if controller.epoch == 0:
        known = contains(controller.live, r) or contains(controller.joined, r)
        return not known and controller.epochs[r] == 0
    return controller.epochs[r] <= s.zk.epochs[r] and (controller.epochs[r] > 0 or not contains(controller.live, r))


def seen_is_applied(s, b: Broker):
    """The controller epoch that was last obeyed is the highest seen."""
    return s.brokers[b].ghosts.applied == s.brokers[b].seen_epoch


def nothing_waits(s, to: Broker, epoch: ControllerEpoch):
    """No control request waits behind a client."""
    channel = s.network.channels[epoch][to]
    for batch in channel.queue.slots:
        if batch.waits:
            return False
    return not channel.late.waits


def deletion_is_asked(s, b: Broker):
    """A controller deletes a topic whose deletion is asked for."""
    return s.zk.deleting == 1 or s.brokers[b].controller.deletion == NOT_DELETED


def sent_deletion_is_asked(s, to: Broker, epoch: ControllerEpoch):
    """So does a request."""
    channel = s.network.channels[epoch][to]
    for batch in channel.queue.slots:
        if batch.stop == DELETE and not s.zk.deleting:
            return False
    return channel.late.stop != DELETE or s.zk.deleting == 1


def was_written(s, leader, leader_epoch):
    """Whether a leadership is the present one, or older."""
    return leader_epoch < s.zk.leader_epoch or leader_epoch == s.zk.leader_epoch and leader == s.zk.leader


def cache_was_written(s, b: Broker):
    """A controller remembers a leadership that was written; by right, the present one."""
    controller = s.brokers[b].controller
    if controller.epoch == s.zk.epoch and controller.leader_epoch != s.zk.leader_epoch:
        return controller.epoch == 0
    return controller.epoch == 0 or was_written(s, controller.leader, controller.leader_epoch)


def sent_was_written(s, to: Broker, epoch: ControllerEpoch):
    """LeaderAndIsr names a leadership that was written."""
    channel = s.network.channels[epoch][to]
    for batch in channel.queue.slots:
        if batch.leader_and_isr and not was_written(s, batch.leader, batch.leader_epoch):
            return False
    return not channel.late.leader_and_isr or was_written(s, channel.late.leader, channel.late.leader_epoch)


def taken_was_written(s, b: Broker):
    """A replica obeys a leadership that was written."""
    return was_written(s, s.brokers[b].replica.leader, s.brokers[b].replica.leader_epoch)


CURRENT = (
    reign_was_elected, reigns_differ, process_is_registration, assignment_is_one, read_was_registered, seen_is_applied,
    nothing_waits, deletion_is_asked, sent_deletion_is_asked, cache_was_written, sent_was_written, taken_was_written,
)
