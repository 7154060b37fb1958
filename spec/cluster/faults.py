"""Processes that end and start, and log directories that fail: only the log of a replica remains.

An append is durable at once, and a failed log directory is out of reach, not lost: a new process finds every
record. It may find an older high watermark.
"""

from kafkaproof.spec.language.combine import then
from kafkaproof.spec.language.domains import Bound, Number
from kafkaproof.spec.partition import faults
from kafkaproof.spec.partition.context import NO_EPOCH, Broker
from kafkaproof.spec.partition.faults import restart as start
from kafkaproof.spec.replica.broker import rest
from kafkaproof.spec.replica.network import drop_answer, withdraw

Offset = Number(0, Bound("log"))


def end_replica(data, b):
    """A replica is not served any more: its role is forgotten; what it has sent may still arrive, except proposals."""
    rest(data.brokers[b], NO_EPOCH)
    drop_answer(data.network, b)
    withdraw(data.network, b)


def end_replicas(s, b):
    """No replica of `b` is served any more."""
    for data in s.planes:
        end_replica(data, b)


def end_one_replica(s, b, p):
    """The replica of `p` is not served any more; if it led, it no longer leads."""
    end_replica(s.planes[p], b)


crash = then(faults.crash, end_replicas)
stop = then(faults.stop, end_replicas)
fail_log_dir = then(faults.fail_log_dir, end_one_replica)


def checkpointed(replica, hw):
    """The high watermark that a new process finds in a checkpoint: `hw`, or the former one if that is lower."""
    return min(replica.hw, hw)


def restart(s, b: Broker, hw: Offset):
    """A new process of `b` starts and registers.

    Guards:  there is none, and no session of a former one; some high watermark was at least `hw`.
    Effects: it knows only its logs and checkpointed high watermarks, which are at most `hw`.
    """
    highest = 0
    for data in s.planes:
        highest = max(highest, data.brokers[b].hw)
    if hw > highest or not start(s, b):
        return False

    for data in s.planes:
        data.brokers[b].hw = checkpointed(data.brokers[b], hw)
    return True
