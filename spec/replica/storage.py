"""The partition's log on a broker's disk.

An append is durable at once (the assumption *durable append*): a process that dies loses its memory, but no record.

The leader epoch cache is derived from the log. Kafka also adds an entry when a leader begins an epoch, even without
records; such an entry says nothing that the log does not say: for a request about a lower epoch, its start is the log's
end. A leader's epoch starts at its first record of that epoch, or at the log's end if it has none.
"""

from kafkaproof.spec.language.domains import Bound, Number, Sequence
from kafkaproof.spec.replication.replication import ENTRY, truncate

SEAMS_OF = ("log",)

NO_EPOCH = -1

LeaderEpoch = Number(NO_EPOCH, Bound("epochs"))
Offset = Number(0, Bound("log"))
LOG = Sequence(ENTRY, Bound("log"))


def last_epoch(log):
    """The epoch of the last record, -1 without one."""
    return log.slots[log.length - 1].epoch if log.length > 0 else NO_EPOCH


def end_of_epoch(log, epoch):
    """The offset where the records of `epoch` and of lower epochs end."""
    end = 0
    for i in range(len(log.slots)):
        if i < log.length and log.slots[i].epoch <= epoch:
            end = i + 1
    return end


def has_epoch(log, epoch):
    """Whether a record is of this epoch."""
    for i in range(len(log.slots)):
        if i < log.length and log.slots[i].epoch == epoch:
            return True
    return False


def known_epoch(log, epoch):
    """The largest epoch up to `epoch` that a record has; `epoch` itself if there is none."""
    known = epoch
    for i in range(len(log.slots)):
        if i < log.length and log.slots[i].epoch <= epoch:
            known = log.slots[i].epoch
    return known


def start_of_epoch(log, epoch):
    """The offset where the records of `epoch` start; the log's end if there are none."""
    start = log.length
    for i in range(len(log.slots)):
        if i < start and log.slots[i].epoch == epoch:
            start = i
    return start


def remove(log):
    """Delete the log: nothing is left of it."""
    truncate(log, 0)


def cut(broker, offset):
    """Drop the records from `offset` on, and lower the high watermark to the end if it is above."""
    if offset < broker.log.length:
        truncate(broker.log, offset)
    broker.hw = min(broker.hw, broker.log.length)
