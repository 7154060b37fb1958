"""Properties of each step of brokers: what a process knows, receives, refuses and accepts."""

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step
from kafkaproof.spec.language.sets import contains, is_empty
from kafkaproof.spec.partition.context import NO_EPOCH
from kafkaproof.spec.partition.zookeeper import session_open
from kafkaproof.spec.requests.batch import DELETE, DROPPED, NO_STOP, NOT_TOLD, NOTHING, TOLD, first_kind
from kafkaproof.spec.requests.broker import leads_any
from kafkaproof.spec.requests.network import (
    ANSWERED,
    LATE,
    UNANSWERED,
    alive_in,
    is_current,
    is_led_in,
    isr_in,
    leader_epoch_in,
    leader_in,
    stop_epoch_in,
    stop_in,
    update_in,
)
from kafkaproof.spec.requests.properties.safety import HANDLERS, differs, is_replica_same


def process_knows_itself(s):
    """Without a process nothing is known, nothing waits, and nobody rules."""
    for b in range(len(s.brokers)):
        broker = s.brokers[b]
        if not broker.up:
            for r in range(len(s.brokers)):
                if not is_empty(s.network.errors[b][r]):
                    return False
            if broker.seen_epoch != 0 or broker.metadata.alive != 0 or broker.controller.epoch != 0:
                return False
            for p in range(len(broker.replicas)):
                if broker.replicas[p].leader_epoch != NO_EPOCH or broker.metadata.partitions[p].known:
                    return False
    return True


def says_what_it_sends(batch):
    """Whether a batch has the fields that its requests need, and no others."""
    if not batch.update and batch.alive != 0:
        return False
    for told in batch.partitions:
        if told.update != NOT_TOLD and not batch.update or told.update != TOLD and told.isr != 0:
            return False
        leads = told.leader_and_isr or told.update == TOLD
        if not leads and (told.leader != 0 or told.leader_epoch != 0) or told.stop == NO_STOP and told.stop_epoch != 0:
            return False
    return True


def is_one_request(batch):
    """Whether there is one request in a batch at most."""
    asks = 0
    stops = 0
    for told in batch.partitions:
        asks = 1 if told.leader_and_isr else asks
        stops = 1 if told.stop != NO_STOP else stops
    return asks + stops + (1 if batch.update else 0) <= 1


def batches_are_whole(s):
    """A batch that waits has a request to send, and only the fields for its requests; only the first request of a
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
            if first_kind(channel.late) == NOTHING and channel.late_current:
                return False
            if not says_what_it_sends(channel.late) or not is_one_request(channel.late):
                return False
    return True


def is_accepted(s, b, epoch, delivery):
    """Whether broker `b` accepts a request: to its current registration, of no lower controller epoch than seen."""
    return is_current(s.network, epoch, b, delivery) and epoch >= s.brokers[b].seen_epoch


def refused_changes_nothing(before, after, b, epoch, delivery):
    """A refused request changes nothing at the broker; the epoch of an accepted one is remembered."""
    if not is_accepted(before, b, epoch, delivery):
        return not differs(before.brokers[b], after.brokers[b])
    return after.brokers[b].seen_epoch == epoch


def answered_once(before, after, b, epoch, delivery):
    """A request that is answered is not sent again, and the next one of its channel follows; without an answer it is
    sent again.
    """
    old = before.network.channels[epoch][b]
    new = after.network.channels[epoch][b]
    if delivery == UNANSWERED:
        same = new.queue.length == old.queue.length and first_kind(new.queue.slots[0]) == first_kind(old.queue.slots[0])
        return same and after.zk.faults > before.zk.faults
    if delivery == LATE:
        return first_kind(new.late) == NOTHING and new.queue.length == old.queue.length
    kind = first_kind(old.queue.slots[0])
    if new.queue.length < old.queue.length:
        next_is = old.queue.length == 1 or first_kind(new.queue.slots[0]) == first_kind(old.queue.slots[1])
        return new.queue.length == old.queue.length - 1 and next_is
    return new.queue.length == old.queue.length and first_kind(new.queue.slots[0]) > kind


def is_learnt(before, after, b, epoch, delivery, p):
    """Whether a broker knows of a partition what UpdateMetadata says."""
    new = after.brokers[b].metadata.partitions[p]
    told = update_in(before.network, epoch, b, delivery, p)
    if told == NOT_TOLD:
        old = before.brokers[b].metadata.partitions[p]
        same = new.known == old.known and new.leader == old.leader and new.isr == old.isr
        return same and new.leader_epoch == old.leader_epoch
    if told == DROPPED:
        return not new.known
    same = new.leader == leader_in(before.network, epoch, b, delivery, p)
    same = same and new.leader_epoch == leader_epoch_in(before.network, epoch, b, delivery, p)
    return new.known == 1 and same and new.isr == isr_in(before.network, epoch, b, delivery, p)


def metadata_as_told(before, after, b, epoch, delivery):
    """A broker that accepts UpdateMetadata knows the live brokers in it, and of each partition what it says; replicas go
    on as before.
    """
    for p in range(len(after.zk.partitions)):
        if not is_replica_same(before.brokers[b].replicas[p], after.brokers[b].replicas[p]):
            return False
        if is_accepted(before, b, epoch, delivery) and not is_learnt(before, after, b, epoch, delivery, p):
            return False
    alive = alive_in(before.network, epoch, b, delivery)
    return not is_accepted(before, b, epoch, delivery) or after.brokers[b].metadata.alive == alive


def becomes_as_told(before, after, b, epoch, delivery):
    """A broker that accepts LeaderAndIsr with a higher leader epoch, and whose directory works, has a log, and leads or
    follows if it knows the leader as alive.
    """
    for p in range(len(after.zk.partitions)):
        old = before.brokers[b].replicas[p]
        new = after.brokers[b].replicas[p]
        leader = leader_in(before.network, epoch, b, delivery, p)
        leader_epoch = leader_epoch_in(before.network, epoch, b, delivery, p)
        named = is_accepted(before, b, epoch, delivery) and is_led_in(before.network, epoch, b, delivery, p)
        news = named and leader_epoch > old.leader_epoch and not old.failed
        known = leader == b or leader != NOBODY and contains(before.brokers[b].metadata.alive, leader)
        if news and not new.ghosts.log:
            return False
        if news and known and (new.leader != leader or new.leader_epoch != leader_epoch or new.stopped):
            return False
        if not (news and known) and (new.leader != old.leader or new.leader_epoch != old.leader_epoch):
            return False
    return True


def stops_as_told(before, after, b, epoch, delivery):
    """A broker that accepts StopReplica, and whose directory works, fetches no more in its leader epoch, a leader goes
    on; with delete there is no replica, and no log.
    """
    for p in range(len(after.zk.partitions)):
        old = before.brokers[b].replicas[p]
        new = after.brokers[b].replicas[p]
        stop = stop_in(before.network, epoch, b, delivery, p)
        decided = stop_epoch_in(before.network, epoch, b, delivery, p)
        older = decided != NO_EPOCH and decided < old.leader_epoch
        obeyed = is_accepted(before, b, epoch, delivery) and not old.failed and not older and stop != NO_STOP
        if not obeyed and not is_replica_same(old, new):
            return False
        if obeyed and stop == DELETE and (new.leader_epoch != NO_EPOCH or new.ghosts.log):
            return False
        if obeyed and stop != DELETE:
            follows = old.leader != b and old.leader_epoch != NO_EPOCH
            if new.leader_epoch != old.leader_epoch or new.leader != old.leader or new.ghosts.log != old.ghosts.log:
                return False
            if (new.stopped == 1) != (follows or old.stopped == 1):
                return False
    return True


def controller_is_told(before, after, b, epoch, delivery):
    """The answer to LeaderAndIsr says that a log directory has failed, and it waits for the process that asked."""
    sender = before.network.senders[epoch]
    for p in range(len(after.zk.partitions)):
        named = is_accepted(before, b, epoch, delivery) and is_led_in(before.network, epoch, b, delivery, p)
        told = named and delivery == ANSWERED and before.brokers[b].replicas[p].failed == 1
        for c in range(len(after.brokers)):
            waited = contains(before.network.errors[c][b], p)
            if contains(after.network.errors[c][b], p) != (waited or told and c == sender):
                return False
    return True


def leader_answers_produce(before, after, b):
    """Only a process that believes that it leads answers a produce request with success."""
    return before.brokers[b].up == 1 and leads_any(before.brokers[b], b)


def fault_strikes(before, after, b):
    """Only an open session ends; a process that dies takes with it what waits for it, another one goes on as before."""
    if not session_open(before.zk, b) or session_open(after.zk, b) or after.zk.controller == b:
        return False
    old = before.brokers[b]
    new = after.brokers[b]
    return not new.up or new.seen_epoch == old.seen_epoch and new.controller.epoch == old.controller.epoch


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
