"""Failures and requests from outside: each counts as one fault, except the return of a process."""

from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition.zookeeper import session_open
from kafkaproof.spec.requests.context import Broker, end_process, forget_replica, start_process
from kafkaproof.spec.requests.network import fall_silent, lose_arrived, put_fault
from kafkaproof.spec.requests.zookeeper import end_session, put_notification, read_own_epoch, register


def crash(s, b: Broker):
    """The process of `b` dies, and its session ends.

    Guards:  there is a process, with an open session.
    Effects: all that it knew except its log is gone; its channels are discarded.
    """
    if not s.brokers[b].up or not session_open(s.zk, b):
        return False

    fall_silent(s.network, b)
    lose_arrived(s.network, b)
    end_process(s.brokers[b])
    end_session(s.zk, b)
    put_fault(s.network)
    return True


def restart(s, b: Broker):
    """A new process of `b` starts and registers; a log directory that failed is repaired.

    Guards:  there is none.
    Effects: it knows nothing.
    """
    if s.brokers[b].up:
        return False

    register(s.zk, b)
    start_process(s.brokers[b], read_own_epoch(s.zk, b))
    return True


def expire_session(s, b: Broker):
    """ZooKeeper expires the session of a live process, which does not know.

    Guards:  there is a process, with an open session.
    Effects: its ephemerals are gone; the process believes what it believed before, and sends what it has queued.
    """
    if not s.brokers[b].up or not session_open(s.zk, b):
        return False

    end_session(s.zk, b)
    put_fault(s.network)
    return True


def fail_directory(s, b: Broker):
    """The log directory of `b` with its replica fails, and `b` notifies the controller.

    Guards:  there is a process with a replica, whose directory works.
    Effects: the replica is not hosted any more.
    """
    broker = s.brokers[b]
    if not broker.up or broker.dir_failed or not contains(replicas_of(broker.assignment), b):
        return False

    broker.dir_failed = 1
    forget_replica(broker.replica)
    put_notification(s.zk, b)
    put_fault(s.network)
    return True


def delete_controller(s):
    """An operator deletes /controller.

    Guards:  it exists.
    Effects: it is gone; its owner's session is open as before.
    """
    if s.zk.controller == NOBODY:
        return False

    s.zk.controller = NOBODY
    put_fault(s.network)
    return True


def ask_deletion(s):
    """An operator asks for the deletion of the topic.

    Guards:  nobody has asked yet.
    Effects: /admin/delete_topics names it.
    """
    if s.zk.deleting:
        return False

    s.zk.deleting = 1
    put_fault(s.network)
    return True
