"""Properties of each step of controllers: how terms begin and end, and which requests are sent."""

from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step
from kafkaproof.spec.language.sets import contains, difference, intersection, is_empty, only, union
from kafkaproof.spec.partition.zookeeper import session_open
from kafkaproof.spec.requests.batch import BARE, DELETE, DROPPING, FULL, NO_STOP, STOP
from kafkaproof.spec.requests.context import NOT_DELETED, QUEUED, STARTED, is_settled, live_replicas, online
from kafkaproof.spec.requests.lemmas.requests import term_is_the_senders
from kafkaproof.spec.requests.network import FAILED, HANDLED, HEALED, NO_EVENT
from kafkaproof.spec.requests.properties.safety import is_told
from kafkaproof.spec.requests.zookeeper import brokers_changed, epoch_of


def has_no_context(controller):
    """Whether the context of a controller is empty."""
    for epoch in controller.epochs:
        if epoch != 0:
            return False
    sets = is_empty(controller.live) and is_empty(controller.joined) and is_empty(controller.leaving)
    leader = controller.leader == NOBODY and controller.leader_epoch == 0
    return sets and leader and is_empty(controller.offline_dirs) and controller.deletion == NOT_DELETED


def ends_with_term(s):
    """Without a term a broker has no controller context, and a term that is over has no channels."""
    for b in range(len(s.brokers)):
        if not term_is_the_senders(s, b):
            return False
        if s.brokers[b].controller.epoch == 0 and not has_no_context(s.brokers[b].controller):
            return False
    for epoch in range(len(s.network.senders) - 1):
        sender = s.network.senders[epoch]
        elected = 1 <= epoch <= s.zk.epoch
        if sender != NOBODY and (not elected or s.brokers[sender].controller.epoch != epoch):
            return False
        for r in range(len(s.brokers)):
            channel = s.network.channels[epoch][r]
            if sender == NOBODY and (channel.broker_epoch != 0 or channel.queue.length != 0):
                return False
    return True


def channels_are_to_live(s):
    """A controller has a channel to each broker that it knows as live, with the broker epoch that it has read."""
    for b in range(len(s.brokers)):
        controller = s.brokers[b].controller
        if not is_empty(intersection(controller.live, controller.joined)):
            return False
        if not is_empty(difference(controller.leaving, controller.live)):
            return False
        for r in range(len(s.brokers)):
            wanted = controller.epochs[r] if contains(controller.live, r) else 0
            if controller.epoch > 0 and s.network.channels[controller.epoch][r].broker_epoch != wanted:
                return False
            if contains(union(controller.live, controller.joined), r) and controller.epochs[r] == 0:
                return False
    return True


def is_last(queue, update, stop):
    """Whether the newest batch has this UpdateMetadata and StopReplica, with leader -2 where the topic is deleted."""
    if queue.length == 0:
        return False
    last = queue.slots[queue.length - 1]
    return (last.update == update or update == FULL and last.update == DROPPING) and last.stop == stop


def newcomers_are_sent(before, after, b):
    """A broker that comes is sent UpdateMetadata, then LeaderAndIsr for its replica; the others are sent the list of
    live brokers.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if new.joined != 0 or new.live != union(old.live, old.joined) or not is_settled(before.brokers[b]):
        return False
    if not is_empty(intersection(new.offline_dirs, old.joined)) or new.deletion == STARTED:
        return False
    for r in range(len(after.brokers)):
        queue = after.network.channels[new.epoch][r].queue
        sent = queue.length - before.network.channels[new.epoch][r].queue.length
        wanted = 2 if contains(old.joined, r) else 1
        if contains(new.live, r):
            if sent != wanted or not is_last(queue, FULL, NO_STOP) or queue.slots[queue.length - 1].alive != new.live:
                return False
            replica = contains(replicas_of(after.brokers[b].assignment), r) and contains(old.joined, r)
            if is_told(queue, new.leader_epoch) != replica:
                return False
        if contains(old.joined, r) and after.network.answers[b][r] == HANDLED:
            return False
    return True


def term_begins_whole(before, after, b):
    """A new controller has read the whole state; live brokers are sent UpdateMetadata, then replicas LeaderAndIsr."""
    new = after.brokers[b].controller
    if before.zk.controller != NOBODY or before.brokers[b].controller.epoch > 0:
        return False
    if not session_open(before.zk, b):
        return new.epoch == 0 and after.zk.controller == NOBODY and after.zk.epoch == before.zk.epoch
    if after.zk.controller != b or after.zk.epoch != before.zk.epoch + 1 or new.epoch != after.zk.epoch:
        return False
    if new.live != after.zk.registered or new.leader != after.zk.leader or new.leader_epoch != after.zk.leader_epoch:
        return False
    if (new.deletion == QUEUED) != (after.zk.deleting == 1) or not is_empty(after.zk.dir_events):
        return False
    for r in range(len(after.brokers)):
        queue = after.network.channels[new.epoch][r].queue
        if new.epochs[r] != epoch_of(after.zk, r) or queue.length != (2 if contains(new.live, r) else 0):
            return False
        replica = contains(live_replicas(after.brokers[b]), r)
        if contains(new.live, r) and (not is_last(queue, FULL, NO_STOP) or is_told(queue, new.leader_epoch) != replica):
            return False
        if after.network.answers[b][r] == HANDLED:
            return False
    return True


def moved_ends_term(before, after, b):
    """A controller that reads /controller keeps its term only if that names it, and its session is open."""
    if before.brokers[b].controller.epoch == 0:
        return False
    rightful = before.zk.controller == b and session_open(before.zk, b)
    return rightful == (after.brokers[b].controller.epoch > 0)


def registers_anew(before, after, b):
    """A process that starts, or has lost its session, registers under a new broker epoch, and is not controller."""
    broker = after.brokers[b]
    if session_open(before.zk, b) or not session_open(after.zk, b) or broker.controller.epoch > 0:
        return False
    for r in range(len(after.brokers)):
        if after.network.answers[b][r] != NO_EVENT:
            return False
    return broker.epoch == before.zk.epochs[b] + 1 and broker.up == 1


def dirs_as_answered(before, after, b, r):
    """A controller knows the directory of a replica as failed or working, as answered; one newly failed is stopped."""
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    event = before.network.answers[b][r]
    if after.network.answers[b][r] != HANDLED or event != FAILED and event != HEALED:
        return False
    if old.epoch == 0:
        return new.epoch == 0
    if contains(new.offline_dirs, r) != (event == FAILED):
        return False
    sent = event == FAILED and not contains(old.offline_dirs, r) and contains(live_replicas(before.brokers[b]), r)
    queue = after.network.channels[new.epoch][r].queue
    grown = queue.length > before.network.channels[new.epoch][r].queue.length
    return grown == sent and (not sent or is_last(queue, BARE, STOP))


def leaver_is_told(before, after, b, leaver):
    """A follower that shuts down is sent StopReplica, the others LeaderAndIsr; a leader waits for the election."""
    controller = after.brokers[b].controller
    if contains(before.brokers[b].controller.leaving, leaver) or not contains(controller.leaving, leaver):
        return False
    replicas = live_replicas(before.brokers[b])
    follows = contains(replicas, leaver) and controller.leader != leaver and controller.deletion == NOT_DELETED
    for r in range(len(after.brokers)):
        queue = after.network.channels[controller.epoch][r].queue
        grown = queue.length > before.network.channels[controller.epoch][r].queue.length
        if grown != (follows and contains(controller.live, r)):
            return False
        if grown and not is_last(queue, FULL, STOP if r == leaver else NO_STOP):
            return False
        if grown and r != leaver:
            working = contains(difference(replicas, controller.offline_dirs), r)
            if is_told(queue, controller.leader_epoch) != working:
                return False
    return True


def deletion_is_sent(before, after, b):
    """A deletion begins once a term: UpdateMetadata with leader -2 is sent to all live brokers, StopReplica with delete
    to replicas.
    """
    controller = after.brokers[b].controller
    if not before.zk.deleting or before.brokers[b].controller.deletion == STARTED or controller.deletion != STARTED:
        return False
    for r in range(len(after.brokers)):
        queue = after.network.channels[controller.epoch][r].queue
        stop = DELETE if contains(live_replicas(before.brokers[b]), r) else NO_STOP
        if contains(controller.live, r) and not is_last(queue, DROPPING, stop):
            return False
    return True


def gone_are_dropped(before, after, b):
    """A controller that lists the brokers drops those that are gone or registered anew, and notifies the others unless
    an election will; those that came are to be taken in.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if not session_open(before.zk, b):
        return new.live == old.live and new.joined == old.joined
    if brokers_changed(after.zk, new) or new.joined != difference(after.zk.registered, new.live):
        return False
    gone = difference(old.live, new.live)
    if not is_empty(intersection(gone, union(new.leaving, new.offline_dirs))):
        return False
    for r in range(len(after.brokers)):
        stays = contains(old.live, r) and old.epochs[r] == new.epochs[r] and new.epochs[r] > 0
        if stays != contains(new.live, r):
            return False
        queue = after.network.channels[new.epoch][r].queue
        told = stays and is_settled(after.brokers[b]) and not is_empty(gone)
        grown = queue.length > before.network.channels[new.epoch][r].queue.length
        if grown != told or told and queue.slots[queue.length - 1].alive != new.live:
            return False
    return True


def writes_by_right(before, after, b, leader):
    """Only the current controller writes a leader: one that is online, or nobody where the old one is not; a fenced one
    learns it.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if leader != NOBODY and not contains(online(before.brokers[b]), leader):
        return False
    if leader == NOBODY and is_settled(before.brokers[b]) or old.deletion != NOT_DELETED:
        return False
    if old.epoch != before.zk.epoch or not session_open(before.zk, b):
        same = after.zk.leader_epoch == before.zk.leader_epoch and after.zk.leader == before.zk.leader
        return new.epoch == 0 and same
    written = after.zk.leader == leader and after.zk.leader_epoch == before.zk.leader_epoch + 1
    return written and new.leader == leader and new.leader_epoch == after.zk.leader_epoch and new.epoch == old.epoch


def notification_is_taken(before, after, b, r):
    """Only the current controller takes a notification of a failed directory and asks the replica; a fenced one learns
    it.
    """
    old = before.brokers[b].controller
    new = after.brokers[b].controller
    if not contains(before.zk.dir_events, r) or old.epoch == 0:
        return False
    if old.epoch != before.zk.epoch or not session_open(before.zk, b):
        return new.epoch == 0 and after.zk.dir_events == before.zk.dir_events
    asked = contains(live_replicas(before.brokers[b]), r)
    for q in range(len(after.brokers)):
        queue = after.network.channels[new.epoch][q].queue
        grown = queue.length > before.network.channels[new.epoch][q].queue.length
        if grown != contains(new.live, q) or grown and is_told(queue, new.leader_epoch) != (asked and q == r):
            return False
    return after.zk.dir_events == difference(before.zk.dir_events, only(r))


EVENTS = (
    always(ends_with_term),
    always(channels_are_to_live),
    always_step(newcomers_are_sent, of=("broker_startup",)),
    always_step(term_begins_whole, of=("elect",)),
    always_step(moved_ends_term, of=("resign",)),
    always_step(registers_anew, of=("restart", "reopen")),
    always_step(dirs_as_answered, of=("handle_answer",)),
    always_step(leaver_is_told, of=("controlled_shutdown",)),
    always_step(deletion_is_sent, of=("delete_topic",)),
    always_step(gone_are_dropped, of=("broker_change",)),
    always_step(writes_by_right, of=("change_leader",)),
    always_step(notification_is_taken, of=("log_dir_event",)),
)
