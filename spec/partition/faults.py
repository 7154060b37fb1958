"""What may go wrong, or is wanted, from outside: most transitions here count as one fault.

Consequences of a fault do not count: the end of a dead process's session, its return, the end of a process
that has asked to be shut down. Nor does the permission of unclean elections, which is never taken back.
"""

from spec.language.domains import NOBODY
from spec.partition.context import Broker, end_process, start_process
from spec.partition.network import drop_requests, fall_silent, leaves, put_shutdown
from spec.partition.zookeeper import disconnect, end_session, register, session_open


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
    """ZooKeeper gives up the session of a living process, which does not know.

    Guards:  there is a process, with an open session.
    Effects: its ephemerals are gone; the process believes what it believed.
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
    Effects: it knows nothing, and obeys no request that was sent to the former one.
    """
    if s.brokers[b].up or session_open(s.zk, b):
        return False

    register(s.zk, b)
    start_process(s.brokers[b])
    drop_requests(s.network, b)
    return True


def stop(s, b: Broker):
    """A process that has asked to be shut down ends, and closes its session.

    Guards:  it has asked; it does not wait for ever.
    Effects: its ephemerals are gone at once, and all that it knew.
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
    """An operator has broker `b` ask for a controlled shutdown.

    Guards:  there is a process, which has not asked.
    Effects: it asks the controller.
    """
    if not s.brokers[b].up or leaves(s.network, b):
        return False

    put_shutdown(s.network, b)
    s.zk.faults += 1
    return True


def delete_controller(s):
    """An operator deletes /controller.

    Guards:  it exists.
    Effects: it is gone; its owner's session is open as before.
    """
    if s.zk.controller == NOBODY:
        return False

    s.zk.controller = NOBODY
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
    s.zk.faults += 1
    return True


def allow_unclean(s):
    """An operator enables unclean elections for the topic.

    Guards:  they are not allowed.
    Effects: they are.
    """
    if s.zk.unclean:
        return False

    s.zk.unclean = 1
    return True
