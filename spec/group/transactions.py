"""TxnOffsetCommit: offsets that a producer commits in a transaction, and the markers that end the transaction.

One producer sends one offset of the group in each transaction, without a member id. (So up to 2.4; since 2.5 it may
send one, which is then checked as in any commit.) The transaction coordinator is not modelled, except for its decision,
which is final, and its markers: one is in flight at a time, until one is acknowledged.
"""

from kafkaproof.spec.group.cache import settle
from kafkaproof.spec.group.coordinator import has_timers
from kafkaproof.spec.group.join import create_if_absent
from kafkaproof.spec.group.network import STORED, answer_operator
from kafkaproof.spec.group.producer.network import (
    begin,
    commits_next,
    conclude,
    decide,
    marker_wanted,
    may_begin,
    may_end,
    offset_of,
    send_again,
    send_marker,
    take_up,
)
from kafkaproof.spec.group.records import (
    ABORT_MARKER,
    ABORT_SCHEDULED,
    COMMIT_MARKER,
    COMMIT_SCHEDULED,
    TRANSACTION_RECORD,
    forget_append,
)
from kafkaproof.spec.group.sorts import NOWHERE, Broker
from kafkaproof.spec.group.storage import (
    Failure,
    acknowledge,
    fail,
    is_aged,
    leads,
    may_fail,
    may_succeed,
    note_commit,
    store_in_transaction,
    store_marker,
)
from kafkaproof.spec.group.sync import Slot
from kafkaproof.spec.group.verdicts import commit_in_transaction_verdict
from kafkaproof.spec.language.domains import Flag


def commit_in_transaction(s, b: Broker):
    """A producer begins a transaction, and sends an offset of the group to broker `b`.

    Guards:  it has no transaction.
    Request: STORED, or an error as in `commit_in_transaction_verdict`.
    Effects: the offset is appended, and is pending; a group that is unknown begins as Empty.
    Kafka:   GroupCoordinator.handleTxnCommitOffsets, GroupMetadata.prepareTxnOffsetCommit, 0.11 to 3.9 (KIP-98).
    """
    broker = s.brokers[b]
    if not may_begin(s.producer):
        return False

    verdict = answer_operator(s.network, commit_in_transaction_verdict(broker))
    if verdict == STORED:
        create_if_absent(broker.group)
        broker.group.pending = store_in_transaction(s.storage, b, broker)
        begin(s.producer, broker.group.pending)
    return True


def taken_up(s, b: Broker, i: Slot):
    """The offset of a transaction is committed to the log.

    Guards:  append `i` is the offset of a transaction, and may be acknowledged.
    Effects: the producer that waits for it may commit.
    Kafka:   GroupMetadata.onTxnOffsetCommitAppend, 0.11 to 3.9.
    """
    broker = s.brokers[b]
    append = broker.appends.slots[i]
    if append.kind != TRANSACTION_RECORD or not may_succeed(s.storage, b, append.position):
        return False

    acknowledge(s.storage, append.position)
    take_up(s.producer, append.position)
    forget_append(broker, i)
    return True


def not_taken_up(s, b: Broker, i: Slot, error: Failure):
    """The append of the offset of a transaction has failed.

    Guards:  append `i` is the offset of a transaction, and may fail with this error.
    Effects: the offset is no longer pending; the producer can only abort.
    Kafka:   GroupMetadata.failPendingTxnOffsetCommit, 0.11 to 3.9.
    """
    broker = s.brokers[b]
    append = broker.appends.slots[i]
    if append.kind != TRANSACTION_RECORD or not may_fail(s.storage, append.position, error):
        return False

    fail(s.storage, append.position)
    if not append.orphan and broker.group.pending == append.position:
        broker.group.pending = NOWHERE
    forget_append(broker, i)
    return True


def end(s, commits: Flag()):
    """The producer ends its transaction, or the transaction times out.

    Guards:  it has a transaction; to commit, its offset was answered with NONE.
    Effects: the decision is final; a marker is due.
    Kafka:   TransactionCoordinator.handleEndTransaction, 0.11 to 3.9.
    """
    if not may_end(s.producer, commits):
        return False

    decide(s.producer, commits)
    return True


def write_marker(s, b: Broker):
    """The marker of a transaction arrives at broker `b`, which leads.

    Guards:  a marker is due, and none is in flight.
    Effects: it is appended.
    Kafka:   KafkaApis.handleWriteTxnMarkersRequest, 0.11 to 3.9.
    """
    if not marker_wanted(s.producer) or not leads(s.storage, b):
        return False

    store_marker(s.storage, b, s.brokers[b], COMMIT_MARKER if commits_next(s.producer) else ABORT_MARKER)
    send_marker(s.producer)
    return True


def is_marker(kind):
    """Whether an append is a marker."""
    return kind == COMMIT_MARKER or kind == ABORT_MARKER


def complete(broker, i, aged):
    """Update the cache as soon as a marker is stored: a commit puts the pending offset, which may be `aged`, into it,
    unless a later one is there. A group that is being loaded does not change: the load will read the marker. From 1.1.1
    on a task of its own does that (`schedule`).

    Kafka: GroupMetadataManager.handleTxnCompletion, 0.11 to 1.1.0 (but not 0.11.0.3 and 1.0.2: `schedule`).
    """
    if has_timers(broker.group):
        settle(broker.group, broker.appends.slots[i].kind == COMMIT_MARKER, aged)
    forget_append(broker, i)


def schedule(broker, i, aged):
    """Schedule the update of the cache when a marker is stored.

    Kafka: GroupMetadataManager.scheduleHandleTxnCompletion, 0.11.0.3; scheduleHandleTxnCompletion, 1.0.2;
           scheduleHandleTxnCompletion, 1.1.1 to 3.9.
    """
    append = broker.appends.slots[i]
    append.kind = COMMIT_SCHEDULED if append.kind == COMMIT_MARKER else ABORT_SCHEDULED
    append.position = NOWHERE


def in_flight(broker, position):
    """Whether the offset of a transaction at a position is not yet known to be committed to the log."""
    for append in broker.appends.slots:
        if append.kind == TRANSACTION_RECORD and append.position == position:
            return True
    return False


def complete_later(s, b: Broker, i: Slot):
    """The task that was scheduled for a marker updates the cache.

    Guards:  there is such a task, in the place of append `i`.
    Effects: whatever is pending is decided as the marker says, even if it is of the producer's next transaction. An
             offset that is not yet committed to the log is dropped.
    Kafka:   GroupMetadataManager.handleTxnCompletion, GroupMetadata.completePendingTxnOffsetCommit, 1.1.1 to 3.9.
    """
    broker = s.brokers[b]
    group = broker.group
    kind = broker.appends.slots[i].kind
    if kind != COMMIT_SCHEDULED and kind != ABORT_SCHEDULED:
        return False

    if has_timers(group):
        commits = kind == COMMIT_SCHEDULED and not in_flight(broker, group.pending)
        settle(group, commits, is_aged(s.storage, max(group.pending, 0)))
    forget_append(broker, i)
    return True


def marker_stored(s, b: Broker, i: Slot):
    """The marker is committed to the log.

    Guards:  append `i` is a marker, and may be acknowledged.
    Effects: the transaction is over; the cache is updated, or will be (`complete`, `schedule`).
    Kafka:   KafkaApis.handleWriteTxnMarkersRequest, 0.11 to 3.9.
    """
    broker = s.brokers[b]
    append = broker.appends.slots[i]
    if not is_marker(append.kind) or not may_succeed(s.storage, b, append.position):
        return False

    acknowledge(s.storage, append.position)
    if append.kind == COMMIT_MARKER:
        note_commit(s.storage, offset_of(s.producer))
    conclude(s.producer)
    complete(broker, i, is_aged(s.storage, max(broker.group.pending, 0)))
    return True


def marker_not_stored(s, b: Broker, i: Slot, error: Failure):
    """The append of a marker has failed.

    Guards:  append `i` is a marker, and may fail with this error.
    Effects: another marker is due.
    Kafka:   TransactionMarkerRequestCompletionHandler.onComplete, 0.11 to 3.9.
    """
    broker = s.brokers[b]
    append = broker.appends.slots[i]
    if not is_marker(append.kind) or not may_fail(s.storage, append.position, error):
        return False

    fail(s.storage, append.position)
    send_again(s.producer)
    forget_append(broker, i)
    return True
