"""Faults and changes from outside. Changes, expiries of living consumers' sessions, and splits have budgets.

Consequences do not count: the end of a former session, a new start, the return of the brokers. `delivery` says which
answers are lost.
"""

from kafkaproof.spec.consumer.member import FAILED, IDLE, NEW_SESSION, NONE, Consumer, end_process, is_committed
from kafkaproof.spec.consumer.zookeeper import (
    end_orphan,
    end_session,
    fire,
    fire_brokers,
    forget_client,
    has_orphan,
    orphan_session,
    session_open,
)


def shut_down(s, c: Consumer):
    """A consumer is told to shut down: it commits, and closes its session.

    Guards:  it has started; no rebalance holds its lock, or it is between two attempts; what was read is committed.
    Effects: its ephemerals are gone, and so is the process.
    """
    consumer = s.consumers[c]
    if not consumer.up or consumer.callback != NONE or not is_committed(consumer):
        return False
    if consumer.doing != IDLE and consumer.doing != FAILED:
        return False

    if session_open(s.zk, c):
        end_session(s.zk, c)
    forget_client(s.zk, c)
    end_process(consumer)
    s.zk.changes += 1
    return True


def crash(s, c: Consumer):
    """A consumer's process dies. Its session stays open until it expires.

    Guards:  there is a process; none of its former sessions is still open.
    Effects: all that it knew is gone.
    """
    if not s.consumers[c].up or has_orphan(s.zk, c):
        return False

    orphan_session(s.zk, c)
    forget_client(s.zk, c)
    end_process(s.consumers[c])
    s.zk.changes += 1
    return True


def expire_orphan(s, c: Consumer):
    """A former session of a consumer expires.

    Guards:  it owns something.
    Effects: its ephemerals are gone.
    """
    if not has_orphan(s.zk, c):
        return False

    end_orphan(s.zk, c)
    return True


def expire_session(s, c: Consumer):
    """ZooKeeper gives up the session of a living consumer, which does not know.

    Guards:  there is a process, with an open session.
    Effects: its ephemerals are gone; the consumer does not notice, and its threads read on.
    """
    if not s.consumers[c].up or not session_open(s.zk, c):
        return False

    end_session(s.zk, c)
    s.zk.expiries += 1
    return True


def split_session(s, c: Consumer):
    """The client library opens a new session while the former one still lives on the server (ZOOKEEPER-1740).

    Guards:  the consumer is registered; no other former session is open.
    Effects: what the former session owns stays for a while; the callback for the new session is due.
    """
    consumer = s.consumers[c]
    if not consumer.up or consumer.callback != NONE or not session_open(s.zk, c) or has_orphan(s.zk, c):
        return False

    orphan_session(s.zk, c)
    consumer.callback = NEW_SESSION
    s.zk.splits += 1
    return True


def add_partition(s):
    """An operator adds a partition to the topic.

    Guards:  it has fewer than there may be.
    Effects: the watches on the topic fire.
    """
    if s.zk.size == len(s.zk.partitions):
        return False

    s.zk.size += 1
    fire(s.zk)
    s.zk.changes += 1
    return True


def lose_brokers(s):
    """The last broker goes.

    Guards:  there is one.
    Effects: /brokers/ids is empty.
    """
    if s.zk.brokerless:
        return False

    s.zk.brokerless = 1
    fire_brokers(s.zk)
    s.zk.changes += 1
    return True


def regain_brokers(s):
    """A broker comes back.

    Guards:  there is none.
    Effects: /brokers/ids has a child; consumers that found none begin to rebalance.
    """
    if not s.zk.brokerless:
        return False

    s.zk.brokerless = 0
    fire_brokers(s.zk)
    return True
