"""A producer that commits the group's offsets with what it writes, and the coordinator of its transactions.

Only what brokers hear of them: an offset to be taken up, and a decision that is to be written as a marker, one
attempt at a time, until one is acknowledged.
"""

from kafkaproof.spec.group.sorts import NOWHERE, NowhereOr
from kafkaproof.spec.language.domains import Choice, Record

Transaction = Choice("NONE", "SENT", "TAKEN_UP", "COMMITTING", "ABORTING", "COMMIT_SENT", "ABORT_SENT")
NONE, SENT, TAKEN_UP, COMMITTING, ABORTING, COMMIT_SENT, ABORT_SENT = Transaction

PRODUCER = Record(
    transaction=(Transaction, "none; its offset was sent, or answered with NONE; its marker is wanted, or on its way"),
    position=(NowhereOr, "where its offset stands in the log, -1 for nowhere"),
)


def may_begin(producer):
    """Whether the producer may begin a transaction."""
    return producer.transaction == NONE


def begin(producer, position):
    """TxnOffsetCommit was sent."""
    producer.transaction = SENT
    producer.position = position


def take_up(producer, position):
    """TxnOffsetCommit is answered with NONE; an answer to one of a former transaction is not heard."""
    if producer.transaction == SENT and producer.position == position:
        producer.transaction = TAKEN_UP


def may_end(producer, commits):
    """Whether the producer may commit, or its transaction abort."""
    return producer.transaction == TAKEN_UP or producer.transaction == SENT and not commits


def decide(producer, commits):
    """The decision stands."""
    producer.transaction = COMMITTING if commits else ABORTING


def marker_wanted(producer):
    """Whether a marker is wanted, and none is on its way: WriteTxnMarkers, an arrival."""
    return producer.transaction == COMMITTING or producer.transaction == ABORTING


def commits_next(producer):
    """Whether the marker is that of a commit."""
    return producer.transaction == COMMITTING


def send_marker(producer):
    """The marker is on its way."""
    producer.transaction = COMMIT_SENT if producer.transaction == COMMITTING else ABORT_SENT


def send_again(producer):
    """The marker on its way has failed."""
    if producer.transaction == COMMIT_SENT:
        producer.transaction = COMMITTING
    elif producer.transaction == ABORT_SENT:
        producer.transaction = ABORTING


def conclude(producer):
    """The transaction is over."""
    producer.transaction = NONE
    producer.position = NOWHERE


def offset_of(producer):
    """Where the offset of the transaction stands."""
    return producer.position
