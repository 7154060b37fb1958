"""Processes that end and begin, and log directories that fail: what is left of a replica is its log.

An append is durable at once, and a failed log directory is out of reach, not lost: a new process finds every
record. It may find an older high watermark.
"""

from kafkaproof.spec.language.domains import Bound, Number
from kafkaproof.spec.partition.context import NO_EPOCH, Broker, Partition
from kafkaproof.spec.partition.faults import crash as kill
from kafkaproof.spec.partition.faults import fail_log_dir as lose_log_dir
from kafkaproof.spec.partition.faults import restart as start
from kafkaproof.spec.partition.faults import stop as close
from kafkaproof.spec.replica.broker import rest
from kafkaproof.spec.replica.network import drop_answer, withdraw

Offset = Number(0, Bound("log"))


def end_replica(data, b):
    """A replica is not served any more: its role is forgotten; what it has sent may still arrive, but no proposal."""
    rest(data.brokers[b], NO_EPOCH)
    drop_answer(data.network, b)
    withdraw(data.network, b)


def crash(s, b: Broker):
    """The process of `b` dies; its session stays open until it expires.

    Guards:  there is a process, with an open session.
    Effects: all that it knew is gone, but the logs.
    """
    if not kill(s, b):
        return False

    for data in s.planes:
        end_replica(data, b)
    return True


def checkpointed(replica, hw):
    """The high watermark that a new process finds: that of a checkpoint, `hw` or what it was if that is less."""
    return min(replica.hw, hw)


def restart(s, b: Broker, hw: Offset):
    """A new process of `b` starts and registers.

    Guards:  there is none, and no session of a former one; some high watermark was `hw` or more.
    Effects: it knows nothing but its logs, and high watermarks that were checkpointed: `hw` at most.
    """
    highest = 0
    for data in s.planes:
        highest = max(highest, data.brokers[b].hw)
    if hw > highest or not start(s, b):
        return False

    for data in s.planes:
        data.brokers[b].hw = checkpointed(data.brokers[b], hw)
    return True


def stop(s, b: Broker):
    """A process that has asked to be shut down ends, and closes its session.

    Guards:  it has asked; it does not wait for ever.
    Effects: its ephemerals are gone at once, and all that it knew, but the logs.
    """
    if not close(s, b):
        return False

    for data in s.planes:
        end_replica(data, b)
    return True


def fail_log_dir(s, b: Broker, p: Partition):
    """A log directory of broker `b` fails: that of its replica of `p`.

    Guards:  there is a process, and the directory works.
    Effects: the replica is out of reach until the next process; if it led, it leads no more.
    """
    if not lose_log_dir(s, b, p):
        return False

    end_replica(s.planes[p], b)
    return True
