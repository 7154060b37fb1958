"""The log start offset: the records before it are deleted (DeleteRecords, KIP-107).

A leader raises its own on request, at most to its high watermark, and tells followers with each answer to a fetch. A
follower raises its own as far, and tells the leader with each fetch. The request is answered when the least of them,
the low watermark, has come that far. Only running brokers follow these rules: the logs that are explored begin at 0.

Not modelled: segments, so nothing leaves a disk; and a follower whose log ends before the leader's begins, which Kafka
lets begin anew there (AbstractFetcherThread.fetchOffsetAndTruncate): here it is sent the deleted records, and then
raises its own log start offset.
"""

TO_THE_HIGH_WATERMARK = -1
"""The offset with which a client asks to delete all records that it may read."""
UNKNOWN_START = -1
"""What a leader knows of a follower that has not fetched in its leader epoch."""


def asked_start(asked, hw):
    """The log start offset that a request asks for.

    Kafka: ReplicaManager.deleteRecordsOnLocalLog, 0.11 to 2.0; Partition.deleteRecordsOnLeader, 2.1 to 3.9.
    """
    return hw if asked == TO_THE_HIGH_WATERMARK else asked


def is_in_range(start, hw):
    """Whether a log may begin at an offset: not beyond the high watermark; otherwise OFFSET_OUT_OF_RANGE.

    Kafka: Replica.maybeIncrementLogStartOffset, 0.11 to 2.3; Log.maybeIncrementLogStartOffset, 2.4 to 3.0;
           UnifiedLog.maybeIncrementLogStartOffset, 3.1 to 3.9; Partition.deleteRecordsOnLeader, 2.1 to 3.9 (below 0).
    """
    return 0 <= start <= hw


def raised(present, start):
    """The log start offset after another is asked for: it never falls but by truncation.

    Kafka: Log.maybeIncrementLogStartOffset, 0.11 to 3.0; UnifiedLog.maybeIncrementLogStartOffset, 3.1 to 3.9.
    """
    return max(present, start)


def start_after_cut(start, end):
    """The log start offset of a log that is cut off at `end`.

    Kafka: Log.truncateTo, 0.11 to 3.0; UnifiedLog.truncateTo, 3.1 to 3.9.
    """
    return min(start, end)


def low_watermark(own, others):
    """The least log start offset, of the leader and of its replicas on live brokers (`others`).

    Kafka: Partition.lowWatermarkIfLeader, 0.11 to 3.9.
    """
    low = own
    for start in others:
        low = min(low, start)
    return low
