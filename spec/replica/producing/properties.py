"""Properties of idempotent producers: each record stands once, in the order of its sequence number, and what the
producer is told is so.

They hold after unclean elections too, which repeat no record; only what a producer was told may be lost then. Kafka's
source is that of 3.9.
"""

from kafkaproof.spec.language.model import always, always_step, sometimes
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.replica.broker import LEADER, enough_in_sync
from kafkaproof.spec.replica.producing.network import epoch_of, sequence_of
from kafkaproof.spec.replica.producing.sequences import UNKNOWN, remembered
from kafkaproof.spec.replica.properties.log_events import same_log
from kafkaproof.spec.replica.properties.safety import holds, leads_by_right


def stands_once(s):
    """No record stands twice in a log, however often it was sent (I1)."""
    for broker in s.brokers:
        for i in range(len(broker.log.slots)):
            for j in range(i):
                if i < broker.log.length and broker.log.slots[i].id == broker.log.slots[j].id:
                    return False
    return True


def in_order(s):
    """The records of a producer epoch stand in the order of their sequence numbers, and those of an older epoch before all of a
    newer one (I2).
    """
    for broker in s.brokers:
        for i in range(len(broker.log.slots) - 1):
            if i + 1 < broker.log.length and broker.log.slots[i + 1].id <= broker.log.slots[i].id:
                return False
    return True


def without_gaps(s):
    """The first record of a producer epoch in a log has sequence number 0, and each other one follows on the one before (I3,
    KAFKA-14359).
    """
    for broker in s.brokers:
        for i in range(len(broker.log.slots)):
            if i < broker.log.length and sequence_of(s.clients, broker.log.slots[i].id) != expected_at(
                s, broker.log, i
            ):
                return False
    return True


def expected_at(s, log, i):
    """The sequence number that a record at `i` has if none is missing before it."""
    if i == 0 or epoch_of(s.clients, log.slots[i - 1].id) != epoch_of(s.clients, log.slots[i].id):
        return 0
    return sequence_of(s.clients, log.slots[i - 1].id) + 1


def told_is_true(s):
    """The leader by right has each record at the offset that its producer was told (I4)."""
    for b in range(len(s.brokers)):
        for r in range(len(s.clients.told)):
            if s.zk.unclean == 0 and leads_by_right(s, b) and s.clients.told[r] != 0:
                if not holds(s.brokers[b].log, s.clients.told[r] - 1, r + 1):
                    return False
    return True


def told_stays(before, after):
    """A producer that was told the offset of a record is told no other for it, however often it asks (I4)."""
    for r in range(len(after.clients.told)):
        if after.zk.unclean == 0 and before.clients.told[r] != 0 and after.clients.told[r] != before.clients.told[r]:
            return False
    return True


def last_of_epoch(s, log):
    """How many records at the end of a log are of the same producer epoch."""
    count = 0
    for i in range(len(log.slots)):
        if i < log.length:
            same = i > 0 and epoch_of(s.clients, log.slots[i - 1].id) == epoch_of(s.clients, log.slots[i].id)
            count = count + 1 if same else 1
    return count


def known_by_log(s):
    """A replica knows of a producer what its log says: the epoch of the last record, and the last records of that epoch, with
    their offsets (I5, ProducerStateManager).
    """
    for broker in s.brokers:
        entry = broker.producer
        if entry.batches.length != min(last_of_epoch(s, broker.log), remembered(entry)):
            return False
        epoch = epoch_of(s.clients, broker.log.slots[broker.log.length - 1].id) if broker.log.length > 0 else UNKNOWN
        if entry.epoch != epoch:
            return False
        for k in range(len(entry.batches.slots)):
            offset = broker.log.length - entry.batches.length + k
            if k < entry.batches.length:
                sequence = sequence_of(s.clients, broker.log.slots[offset].id)
                batch = entry.batches.slots[k]
                if batch.offset != offset or batch.first != sequence or batch.last != sequence:
                    return False
    return True


def place_of(log, record):
    """1 + the offset of a record in a log, 0 if it is not there."""
    place = 0
    for i in range(len(log.slots)):
        if i < log.length and log.slots[i].id == record:
            place = i + 1
    return place


def duplicate_is_answered(before, after, b, record):
    """A record that stands among the last of its epoch in its leader's log is not appended: if enough replicas are in sync, its
    producer is told the offset of the first, or waits for the high watermark (I6, UnifiedLog.append).
    """
    old = before.brokers[b]
    place = place_of(old.log, record)
    known = min(last_of_epoch(before, old.log), remembered(old.producer))
    if old.state != LEADER or place == 0 or place <= old.log.length - known:
        return True
    waits = place > old.hw and contains(after.brokers[b].waiting, record)
    told = after.clients.told[record] == place
    return same_log(old.log, after.brokers[b].log) and (told or waits or not enough_in_sync(old))


def older_epoch_is_refused(before, after, b, record):
    """Nothing of an older producer epoch is appended where a newer one stands (I7, ProducerAppendInfo.checkProducerEpoch)."""
    old = before.brokers[b].log
    grown = after.brokers[b].log.length > old.length
    newer = old.length > 0 and epoch_of(before.clients, old.slots[old.length - 1].id) > epoch_of(before.clients, record)
    return not (grown and newer)


def next_is_taken(before, after, b, record):
    """A leader with enough replicas in sync appends the record that comes next in its log: the one behind the last, or the first
    of an epoch where none of it stands (I8).
    """
    old = before.brokers[b]
    if old.state != LEADER or not enough_in_sync(old):
        return True
    epoch = UNKNOWN
    last = UNKNOWN
    if old.log.length > 0:
        epoch = epoch_of(after.clients, old.log.slots[old.log.length - 1].id)
        last = sequence_of(after.clients, old.log.slots[old.log.length - 1].id)
    own = epoch_of(after.clients, record)
    due = sequence_of(after.clients, record) == (last + 1 if own == epoch else 0)
    taken = after.brokers[b].log.length == old.log.length + 1
    return taken or own < epoch or not due


def resent_after_change(s):
    """A leader has recognised a record that a former leader has appended, which still believes it leads; its producer waits."""
    for b in range(len(s.brokers)):
        for a in range(len(s.brokers)):
            for i in range(len(s.brokers[b].log.slots)):
                slot = s.brokers[b].log.slots[i]
                former = s.brokers[a].state == LEADER and s.brokers[a].leader_epoch == slot.epoch
                waits = i < s.brokers[b].log.length and contains(s.brokers[b].waiting, slot.id)
                if a != b and former and waits and slot.epoch < s.brokers[b].leader_epoch:
                    return True
    return False


def answer_was_lost(s):
    """A record is committed, and its producer was never told."""
    for place in s.clients.places:
        if place.ghosts.committed != 0 and s.clients.told[place.ghosts.committed - 1] == 0:
            return True
    return False


def asks(s, b, record):
    """Whether a record may still reach the leader by right, which has enough replicas in sync for it: it was sent, its producer was
    not told, and it is not in the log.
    """
    sent = record < s.clients.next_record and s.clients.told[record] == 0
    serves = leads_by_right(s, b) and enough_in_sync(s.brokers[b])
    return serves and sent and place_of(s.brokers[b].log, record) == 0


def comes_too_early(s):
    """A record may reach a leader that lacks the one before it."""
    for b in range(len(s.brokers)):
        for r in range(len(s.clients.told)):
            if asks(s, b, r) and sequence_of(s.clients, r) > 0 and place_of(s.brokers[b].log, r - 1) == 0:
                return True
    return False


def comes_too_late(s):
    """A record may reach a leader that has the one behind it."""
    for b in range(len(s.brokers)):
        for r in range(len(s.clients.told) - 1):
            if asks(s, b, r) and place_of(s.brokers[b].log, r + 1) != 0 and sequence_of(s.clients, r + 1) > 0:
                return True
    return False


def comes_of_older_epoch(s):
    """A record may reach a leader that has one of a newer producer epoch."""
    for b in range(len(s.brokers)):
        for r in range(len(s.clients.told)):
            if asks(s, b, r) and epoch_of(s.clients, r) < s.brokers[b].producer.epoch:
                return True
    return False


def two_epochs(s):
    """A committed record of one producer epoch stands before one of a newer epoch."""
    for i in range(len(s.clients.places) - 1):
        first = s.clients.places[i].ghosts.committed
        second = s.clients.places[i + 1].ghosts.committed
        if first != 0 and second != 0 and epoch_of(s.clients, first - 1) < epoch_of(s.clients, second - 1):
            return True
    return False


PRODUCED = (
    always(stands_once),
    always(in_order),
    always(without_gaps),
    always(told_is_true),
    always_step(told_stays),
    always(known_by_log),
    always_step(duplicate_is_answered, of=("produce",)),
    always_step(older_epoch_is_refused, of=("produce",)),
    always_step(next_is_taken, of=("produce",)),
    sometimes(resent_after_change, epochs=1),
    sometimes(answer_was_lost),
    sometimes(two_epochs, bumps=1, log=2, records=2),
    sometimes(comes_too_early, records=2, in_flight=2),
    sometimes(comes_of_older_epoch, bumps=1, records=2),
)
TAKEN = (sometimes(comes_too_late, records=2, in_flight=2),)
