"""A producer that commits the group's offsets in transactions, and its transaction coordinator.

Only what brokers see of them is modelled: an offset to append, and a decision to write as a marker, one attempt at a
time, until one is acknowledged.
"""

from kafkaproof.spec.group.sorts import NOWHERE, NowhereOr
from kafkaproof.spec.language.domains import Choice, Record

Transaction = Choice("NONE", "SENT", "TAKEN_UP", "COMMITTING", "ABORTING", "COMMIT_SENT", "ABORT_SENT")
NONE, SENT, TAKEN_UP, COMMITTING, ABORTING, COMMIT_SENT, ABORT_SENT = Transaction

PRODUCER = Record(
    transaction=(Transaction, "none; its offset was sent, or answered with NONE; its marker is due, or in flight"),
    position=(NowhereOr, "position of its offset in the log, -1 for nowhere"),
)


def may_begin(producer):
    """Whether the producer may begin a transaction."""
    return producer.transaction == NONE


def begin(producer, position):
    """TxnOffsetCommit was sent."""
    producer.transaction = SENT
    producer.position = position


def take_up(producer, position):
    """TxnOffsetCommit is answered with NONE. The answer to one of a former transaction is ignored."""
    if producer.transaction == SENT and producer.position == position:
        producer.transaction = TAKEN_UP


def may_end(producer, commits):
    """Whether the producer may commit, or its transaction abort."""
    return producer.transaction == TAKEN_UP or producer.transaction == SENT and not commits


def decide(producer, commits):
    """Make the decision: commit or abort."""
    producer.transaction = COMMITTING if commits else ABORTING


def marker_wanted(producer):
    """Whether a marker is due and none is in flight: WriteTxnMarkers, an arrival."""
    return producer.transaction == COMMITTING or producer.transaction == ABORTING


def commits_next(producer):
    """Whether the marker is that of a commit."""
    return producer.transaction == COMMITTING


def send_marker(producer):
    """The marker is in flight."""
    producer.transaction = COMMIT_SENT if producer.transaction == COMMITTING else ABORT_SENT


def send_again(producer):
    """The marker in flight has failed."""
    if producer.transaction == COMMIT_SENT:
        producer.transaction = COMMITTING
    elif producer.transaction == ABORT_SENT:
        producer.transaction = ABORTING


def conclude(producer):
    """The transaction is over."""
    producer.transaction = NONE
    producer.position = NOWHERE


def offset_of(producer):
    """The position of the transaction's offset in the log."""
    return producer.position
