"""Lemmas of groups whose offsets a producer commits (transactional), beside those of *current*.

In short: a marker on its way is that of the producer's decision, and what it has committed is in the log for good. Who
leads, and nobody else has since it was told, knows as pending only the offset of the transaction that is open.
"""

from kafkaproof.spec.group.coordinator import has_timers
from kafkaproof.spec.group.lemmas.group import (
    append_is_of_group,
    has_membership_read,
    loads_what_was_read,
    nothing_in_transactions,
    written_is_known,
)
from kafkaproof.spec.group.lemmas.member import CURRENT
from kafkaproof.spec.group.producer.network import ABORT_SENT, ABORTING, COMMIT_SENT, COMMITTING, NONE, TAKEN_UP
from kafkaproof.spec.group.properties.invariants import Place
from kafkaproof.spec.group.properties.offsets import is_tombstone_of_offset, takes_effect
from kafkaproof.spec.group.records import (
    ABORT_MARKER,
    COMMIT_MARKER,
    GROUP_RECORD,
    NO_RECORD,
    OFFSET_RECORD,
    STATIC_RECORD,
    TRANSACTION_RECORD,
)
from kafkaproof.spec.group.sorts import NOWHERE, Broker
from kafkaproof.spec.group.storage import leads
from kafkaproof.spec.group.transactions import is_marker
from kafkaproof.spec.language.sets import is_empty


def nothing_is_pending(s, b: Broker):
    """Nothing is pending where there is no group, and nothing was read of one."""
    broker = s.brokers[b]
    return has_timers(broker.group) or broker.read > 0 or broker.group.pending == NOWHERE


def records_are_written(s, p: Place):
    """What is in the log is a record, and what is not is none."""
    kind = s.storage.log.slots[p].kind
    return kind != STATIC_RECORD and (p < s.storage.log.length) == (kind != NO_RECORD)


def callback_is_known(s, b: Broker):
    """A callback is of a commit, a marker, or of the group in the cache; a commit's is an orphan when that is gone."""
    broker = s.brokers[b]
    for append in broker.appends.slots:
        if append.kind == GROUP_RECORD:
            if not has_timers(broker.group) or append.orphan or not is_empty(append.waiter):
                return False
        elif append.kind == OFFSET_RECORD or append.kind == TRANSACTION_RECORD:
            if not has_timers(broker.group) and not append.orphan:
                return False
        elif append.kind != NO_RECORD and append.kind != COMMIT_MARKER and append.kind != ABORT_MARKER:
            return False
    return True


def markers(s, kind):
    """How many markers of a kind are on their way."""
    n = 0
    for broker in s.brokers:
        for append in broker.appends.slots:
            if append.kind == kind:
                n += 1
    return n


def marker_is_decided(s):
    """At most one marker is on its way, the one that was decided."""
    transaction = s.producer.transaction
    commits = markers(s, COMMIT_MARKER) == (1 if transaction == COMMIT_SENT else 0)
    return commits and markers(s, ABORT_MARKER) == (1 if transaction == ABORT_SENT else 0)


def taken_up_is_committed(s):
    """The offset of a transaction that may commit, or does, is committed to the log."""
    transaction = s.producer.transaction
    if transaction == NONE:
        return s.producer.position == NOWHERE
    if transaction == TAKEN_UP or transaction == COMMITTING or transaction == COMMIT_SENT:
        return 0 <= s.producer.position < s.storage.committed
    return s.producer.position < s.storage.log.length


def offset_read(s, end):
    """The offset that counts where the log has been read up to a position: see `kafkaproof.spec.group.storage.read_record`."""
    offset = NOWHERE
    pending = NOWHERE
    for p in range(len(s.storage.log.slots) - 1):
        kind = s.storage.log.slots[p].kind
        if p < end:
            if kind == OFFSET_RECORD or kind == COMMIT_MARKER and pending > offset:
                offset = p if kind == OFFSET_RECORD else pending
            elif is_tombstone_of_offset(s.storage.log.slots[p]):
                offset = NOWHERE
            pending = pending_after(kind, p, pending)
    return offset


def pending_after(kind, p, pending):
    """What is pending when the record at a position was read."""
    if kind == TRANSACTION_RECORD:
        return p
    return NOWHERE if kind == COMMIT_MARKER or kind == ABORT_MARKER else pending


def pending_read(s, end):
    """The offset that is pending where the log has been read up to a position."""
    pending = NOWHERE
    for p in range(len(s.storage.log.slots) - 1):
        if p < end:
            pending = pending_after(s.storage.log.slots[p].kind, p, pending)
    return pending


def former_is_another(s):
    """The last epoch in which another has led is past."""
    former = s.storage.ghosts.former
    if former == 0:
        return True
    return former < s.storage.epoch and s.storage.leaders[former - 1] != s.storage.leaders[s.storage.epoch - 1]


def leads_since(s, b):
    """Whether a broker leads, and nobody else has led since the change of the leader that it has handled last."""
    return leads(s.storage, b) and s.brokers[b].epoch > s.storage.ghosts.former


def loads_what_was_read_of_transactions(s, b: Broker):
    """Who loads as leader has what the records say that it has read, and of a transaction what was decided."""
    broker = s.brokers[b]
    if not broker.loading or not leads_since(s, b):
        return True
    if broker.read > s.storage.log.length or broker.group.offset != offset_read(s, broker.read):
        return False
    return broker.group.pending == pending_read(s, broker.read) and has_membership_read(s, broker)


def append_is_there(s, b: Broker):
    """An append that may be acknowledged is in the log."""
    for append in s.brokers[b].appends.slots:
        if append.position != NOWHERE and append.kind != NO_RECORD:
            if s.storage.log.slots[append.position].kind != append.kind:
                return False
    return True


def is_marker_after(s, p, position):
    """Whether there is a marker at a position that is behind `p`."""
    return position > p and is_marker(s.storage.log.slots[position].kind)


def undecided_is_of_producer(s, p: Place):
    """An offset of a transaction is followed by a marker that is committed, or is that of the transaction now open."""
    if s.storage.log.slots[p].kind != TRANSACTION_RECORD or s.producer.position == p:
        return True
    for position in range(len(s.storage.log.slots) - 1):
        if is_marker_after(s, p, position) and position < s.storage.committed:
            return True
    return False


def markers_are_decided(s, p: Place):
    """The markers behind the offset of the open transaction are those of its decision."""
    transaction = s.producer.transaction
    if s.producer.position == NOWHERE or not is_marker_after(s, s.producer.position, p):
        return True
    if s.storage.log.slots[p].kind == COMMIT_MARKER:
        return transaction == COMMITTING or transaction == COMMIT_SENT
    return transaction == ABORTING or transaction == ABORT_SENT


def producer_knows_its_offset(s, p: Place):
    """Where the producer's offset stands there is the offset of a transaction."""
    return s.producer.position != p or s.storage.log.slots[p].kind == TRANSACTION_RECORD


def marker_is_behind(s, b: Broker):
    """A marker on its way that may be acknowledged is behind the offset of the transaction."""
    for append in s.brokers[b].appends.slots:
        if is_marker(append.kind) and append.position != NOWHERE and append.position <= s.producer.position:
            return False
    return True


def pending_is_of_producer(s, b: Broker):
    """What is pending at the leader is the offset of the open transaction."""
    pending = s.brokers[b].group.pending
    if not s.brokers[b].owned or not leads_since(s, b) or pending == NOWHERE:
        return True
    return pending == s.producer.position


def foreign_marker_is_read(s, b: Broker, other: Broker):
    """The marker of a broker that led before is before what is pending at the leader."""
    pending = s.brokers[b].group.pending
    if b == other or not s.brokers[b].owned or not leads_since(s, b) or pending == NOWHERE:
        return True
    for append in s.brokers[other].appends.slots:
        if is_marker(append.kind) and append.position > pending:
            return False
    return True


def offset_counts(s, b: Broker):
    """The offset that the leader has counts."""
    offset = s.brokers[b].group.offset
    if not s.brokers[b].owned or not leads_since(s, b) or offset == NOWHERE:
        return True
    return takes_effect(s, offset) != NOWHERE


TRANSACTIONAL = tuple(
    f for f in CURRENT if f not in (append_is_of_group, loads_what_was_read, nothing_in_transactions, written_is_known)
) + (
    nothing_is_pending,
    records_are_written,
    callback_is_known,
    marker_is_decided,
    taken_up_is_committed,
    loads_what_was_read_of_transactions,
    former_is_another,
    append_is_there,
    undecided_is_of_producer,
    markers_are_decided,
    producer_knows_its_offset,
    marker_is_behind,
    pending_is_of_producer,
    foreign_marker_is_read,
    offset_counts,
)
