"""Properties of each step of brokers: what a process knows, receives, refuses and accepts."""

from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition.zookeeper import session_open
from kafkaproof.spec.requests.batch import DELETE, DROPPING, FULL, NO_STOP, NO_UPDATE, NOTHING, first_kind
from kafkaproof.spec.requests.context import NO_EPOCH
from kafkaproof.spec.requests.lemmas.requests import process_is_registration, seen_is_applied
from kafkaproof.spec.requests.network import (
    ANSWERED,
    FAILED,
    HEALED,
    LATE,
    NO_EVENT,
    UNANSWERED,
    alive_in,
    broker_epoch_in,
    leader_epoch_in,
    leader_in,
    stop_in,
    update_in,
)
from kafkaproof.spec.requests.properties.safety import HANDLERS, differs


def process_knows_itself(s):
    """A process knows its registration, and has seen the epochs that it has accepted; without a process nothing is
    known.
    """
    for b in range(len(s.brokers)):
        broker = s.brokers[b]
        if not process_is_registration(s, b) or not seen_is_applied(s, b):
            return False
        if not broker.up:
            for r in range(len(s.brokers)):
                if s.network.answers[b][r] != NO_EVENT:
                    return False
            if broker.seen_epoch != 0 or broker.alive != 0 or broker.known_leader != NOBODY or broker.dir_failed:
                return False
    return True


def says_what_it_sends(batch):
    """Whether a batch has the fields that its requests need, and no others."""
    if batch.update == NO_UPDATE and batch.alive != 0:
        return False
    if not batch.leader_and_isr and batch.update != FULL and batch.leader != 0:
        return False
    return batch.leader_and_isr == 1 or batch.stop != NO_STOP or batch.leader_epoch == 0


def batches_are_whole(s):
    """A waiting batch has a request to send, and only the fields for its requests; only the first request of a
    discarded one is left.
    """
    for epoch in range(len(s.network.channels)):
        for r in range(len(s.brokers)):
            channel = s.network.channels[epoch][r]
            for i in range(len(channel.queue.slots)):
                batch = channel.queue.slots[i]
                empty = first_kind(batch) == NOTHING
                if empty != (i >= channel.queue.length) or not says_what_it_sends(batch) or batch.waits:
                    return False
            if channel.queue.length > 0 and channel.broker_epoch == 0:
                return False
            late = channel.late
            if (first_kind(late) == NOTHING) != (channel.late_epoch == 0) or not says_what_it_sends(late):
                return False
            if late.leader_and_isr and (late.update != NO_UPDATE or late.stop != NO_STOP):
                return False
            if late.update != NO_UPDATE and late.stop != NO_STOP:
                return False
    return True


def is_accepted(s, b, epoch, delivery):
    """Whether broker `b` accepts a request: to its current registration, of no lower controller epoch than seen."""
    present = broker_epoch_in(s.network, epoch, b, delivery) >= s.brokers[b].epoch
    return s.brokers[b].up == 1 and present and epoch >= s.brokers[b].seen_epoch


def refused_changes_nothing(before, after, b, epoch, delivery):
    """A refused request changes nothing at the broker; the epoch of an accepted one is remembered."""
    if not is_accepted(before, b, epoch, delivery):
        return before.brokers[b].up == 1 and not differs(before.brokers[b], after.brokers[b])
    return after.brokers[b].seen_epoch == epoch


def answered_once(before, after, b, epoch, delivery):
    """A request that is answered is not sent again, and the next one of its channel follows; without an answer it is
    sent again.
    """
    old = before.network.channels[epoch][b]
    new = after.network.channels[epoch][b]
    if delivery == UNANSWERED:
        same = new.queue.length == old.queue.length and first_kind(new.queue.slots[0]) == first_kind(old.queue.slots[0])
        return same and after.network.faults > before.network.faults
    if delivery == LATE:
        return new.late_epoch == 0 and new.queue.length == old.queue.length
    kind = first_kind(old.queue.slots[0])
    if new.queue.length < old.queue.length:
        next_is = old.queue.length == 1 or first_kind(new.queue.slots[0]) == first_kind(old.queue.slots[1])
        return new.queue.length == old.queue.length - 1 and next_is
    return new.queue.length == old.queue.length and first_kind(new.queue.slots[0]) > kind


def metadata_as_told(before, after, b, epoch, delivery):
    """A broker that accepts UpdateMetadata knows the live brokers in it, and the leader that it names or drops."""
    if not is_accepted(before, b, epoch, delivery):
        return True
    new = after.brokers[b]
    leader = before.brokers[b].known_leader
    update = update_in(before.network, epoch, b, delivery)
    if update == FULL:
        leader = leader_in(before.network, epoch, b, delivery)
    elif update == DROPPING:
        leader = NOBODY
    same = new.replica.leader_epoch == before.brokers[b].replica.leader_epoch
    return same and new.alive == alive_in(before.network, epoch, b, delivery) and new.known_leader == leader


def becomes_as_told(before, after, b, epoch, delivery):
    """A broker that accepts LeaderAndIsr with a higher leader epoch, and whose directory works, has a log, and leads or
    follows if it knows the leader as alive.
    """
    old = before.brokers[b]
    new = after.brokers[b]
    leader = leader_in(before.network, epoch, b, delivery)
    leader_epoch = leader_epoch_in(before.network, epoch, b, delivery)
    news = is_accepted(before, b, epoch, delivery) and leader_epoch > old.replica.leader_epoch and not old.dir_failed
    news = news and contains(replicas_of(old.assignment), b)
    known = leader == b or leader != NOBODY and contains(old.alive, leader)
    if news and known:
        return new.replica.leader == leader and new.replica.leader_epoch == leader_epoch and new.replica.log == 1
    same = new.replica.leader == old.replica.leader and new.replica.leader_epoch == old.replica.leader_epoch
    return same and new.replica.log == (1 if news else old.replica.log) and new.alive == old.alive


def stops_as_told(before, after, b, epoch, delivery):
    """A broker that accepts StopReplica, and whose directory works, no longer hosts the replica; only with delete is
    its log deleted.
    """
    old = before.brokers[b].replica
    new = after.brokers[b].replica
    stop = stop_in(before.network, epoch, b, delivery)
    older = stop != DELETE and leader_epoch_in(before.network, epoch, b, delivery) < old.leader_epoch
    obeyed = is_accepted(before, b, epoch, delivery) and not before.brokers[b].dir_failed and not older
    if not obeyed:
        return new.leader_epoch == old.leader_epoch and new.leader == old.leader and new.log == old.log
    return new.leader_epoch == NO_EPOCH and new.log == (0 if stop == DELETE else old.log)


def controller_is_told(before, after, b, epoch, delivery):
    """The answer to LeaderAndIsr says that the directory has failed, and a later one that it works again."""
    sender = before.network.senders[epoch]
    if delivery != ANSWERED or sender == NOBODY:
        return True
    old = before.network.answers[sender][b]
    new = after.network.answers[sender][b]
    if not is_accepted(before, b, epoch, delivery):
        return new == old
    if before.brokers[b].dir_failed:
        return new == FAILED
    taken = leader_epoch_in(before.network, epoch, b, delivery) > before.brokers[b].replica.leader_epoch
    return new == (HEALED if taken and old != NO_EVENT else old)


def leader_answers_produce(before, after, b):
    """Only a process that believes that it leads answers a produce request with success."""
    return before.brokers[b].up == 1 and before.brokers[b].replica.leader == b


def fault_strikes(before, after, b):
    """Only an existing process dies, with all that was on its way to it, and only an open session ends; afterwards it
    has ended.
    """
    if not session_open(before.zk, b) or session_open(after.zk, b) or after.zk.controller == b:
        return False
    old = before.brokers[b]
    new = after.brokers[b]
    return not new.up or new.epoch == old.epoch and new.controller.epoch == old.controller.epoch


HANDLING = (
    always(process_knows_itself),
    always(batches_are_whole),
    always_step(refused_changes_nothing, of=HANDLERS),
    always_step(answered_once, of=HANDLERS),
    always_step(metadata_as_told, of=("update_metadata",)),
    always_step(becomes_as_told, of=("leader_and_isr",)),
    always_step(stops_as_told, of=("stop_replica",)),
    always_step(controller_is_told, of=("leader_and_isr",)),
    always_step(leader_answers_produce, of=("answer_produce",)),
    always_step(fault_strikes, of=("crash", "expire_session")),
)
