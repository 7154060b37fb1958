"""Failures and requests from outside: most transitions here count as one fault.

Consequences of a fault do not count: the end of a dead process's session, its return, the end of a process
that has asked to be shut down. Nor does the permission of unclean elections, which is never taken back.
`delete_controller` is that of `kafkaproof.spec.election.faults`.
"""

from kafkaproof.spec.language.domains import Choice
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.language.sets import contains, everybody, is_empty
from kafkaproof.spec.partition.context import NO_EPOCH, Broker, Partition, end_process, lose_replica, start_process
from kafkaproof.spec.partition.network import (
    NOTHING,
    PREFERRED_TYPE,
    UNCLEAN_TYPE,
    ask,
    asked,
    drop_requests,
    fall_silent,
    leaves,
    put_proposals,
    put_shutdown,
)
from kafkaproof.spec.partition.znodes import count_request
from kafkaproof.spec.partition.zookeeper import assigned, disconnect, end_session, listed, register, session_open

ElectionType = Choice("PREFERRED", "UNCLEAN")
PREFERRED, UNCLEAN = ElectionType


def crash(s, b: Broker):
    """The process of `b` dies; its session stays open until it expires.

    Guards:  there is a process, with an open session.
    Effects: all that it knew is gone.
    """
    if not s.brokers[b].up or not session_open(s.zk, b):
        return False

    end_process(s.brokers[b])
    disconnect(s.zk, b)
    fall_silent(s.network, b)
    drop_requests(s.network, b)
    s.zk.faults += 1
    return True


def expire_session(s, b: Broker):
    """ZooKeeper expires the session of a live process, which does not know.

    Guards:  there is a process, with an open session.
    Effects: its ephemerals are gone; the process believes what it believed before.
    """
    if not s.brokers[b].up or not session_open(s.zk, b):
        return False

    end_session(s.zk, b)
    s.zk.faults += 1
    return True


def expire_orphan(s, b: Broker):
    """The session of a dead process of `b` expires.

    Guards:  it is still open.
    Effects: its ephemerals are gone.
    """
    if s.brokers[b].up or not session_open(s.zk, b):
        return False

    end_session(s.zk, b)
    return True


def restart(s, b: Broker):
    """A new process of `b` starts and registers.

    Guards:  there is none, and no session of a former one.
    Effects: it knows nothing, and obeys no request that was sent to the former process.
    """
    if s.brokers[b].up or session_open(s.zk, b):
        return False

    register(s.zk, b)
    start_process(s.brokers[b])
    drop_requests(s.network, b)
    return True


def stop(s, b: Broker):
    """A process that has asked to be shut down ends, and closes its session.

    Guards:  it has asked; it does not wait forever.
    Effects: its ephemerals are gone at once, and so is all that it knew.
    """
    if not leaves(s.network, b):
        return False

    end_process(s.brokers[b])
    fall_silent(s.network, b)
    drop_requests(s.network, b)
    if session_open(s.zk, b):
        end_session(s.zk, b)
    return True


def shut_down(s, b: Broker):
    """An operator makes broker `b` ask for a controlled shutdown.

    Guards:  there is a process, which has not asked.
    Effects: it asks the controller.
    """
    if not s.brokers[b].up or leaves(s.network, b):
        return False

    put_shutdown(s.network, b)
    s.zk.faults += 1
    return True


def ask_for_preferred(s):
    """An operator creates /admin/preferred_replica_election.

    Guards:  it does not exist.
    Effects: every partition is to be led by its preferred replica.
    """
    if s.zk.preferred:
        return False

    s.zk.preferred = 1
    count_request(s.zk)
    return True


def ask_for_election(s, kind: ElectionType):
    """An administrator asks the controller for an election of every partition.

    Guards:  no such request is on its way.
    Effects: the request is on its way.
    """
    if asked(s.network) != NOTHING:
        return False

    ask(s.network, UNCLEAN_TYPE if kind == UNCLEAN else PREFERRED_TYPE)
    if kind == UNCLEAN:
        s.zk.ghosts.forced = 1
    count_request(s.zk)
    return True


def ask_for_reassignment(s, p: Partition, target: Broker):
    """An operator creates /admin/reassign_partitions, which lists a partition with one of its replicas as the target.

    Guards:  it does not exist; the target is a replica.
    Effects: it exists.
    """
    if not is_empty(listed(s.zk)) or not contains(assigned(s.zk, p), target):
        return False

    push(s.zk.targets[p], target)
    count_request(s.zk)
    return True


def queue_deletion(s):
    """An operator creates /admin/delete_topics/t.

    Guards:  it does not exist.
    Effects: it exists, and stays.
    """
    if not is_empty(s.zk.deleting):
        return False

    s.zk.deleting = everybody(len(s.zk.partitions))
    count_request(s.zk)
    return True


def fail_log_dir(s, b: Broker, p: Partition):
    """A log directory of broker `b` fails: that of its replica of `p`.

    Guards:  there is a process, and the directory works.
    Effects: the replica is lost to the process; if it led, it no longer leads. The controller is to be notified.
    """
    broker = s.brokers[b]
    if not broker.up or broker.replicas[p].failed or not contains(assigned(s.zk, p), b):
        return False

    lose_replica(broker.replicas[p])
    broker.replicas[p].failed = 1
    broker.unnotified = 0 if broker.deaf else 1
    put_proposals(s.network, p, b, NO_EPOCH)
    s.zk.faults += 1
    return True


def allow_unclean(s):
    """An operator enables unclean elections for the topic.

    Guards:  they are not allowed.
    Effects: they are allowed.
    """
    if s.zk.unclean:
        return False

    s.zk.unclean = 1
    return True
