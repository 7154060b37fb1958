"""What may go wrong from outside: each transition here may act on any part of the state, and counts as one fault.

Lost answers count too; they are the `delivery` of a request (see `zookeeper`). The end of an orphan's
session is not a fault: it follows from the crash.
"""

from kafkaproof.spec.election.broker_state import CLEANING, DOWN, IDLE, LOADING, MOVING, OPEN, end_process
from kafkaproof.spec.election.session import Broker
from kafkaproof.spec.kafka.zookeeper import NOTHING, ORPHAN, end_orphan, end_session, orphan_session, remove_controller
from kafkaproof.spec.language.domains import NOBODY


def has_orphan(zk, b):
    """Whether a session of a former process of `b` still owns something."""
    return zk.clients[b].registered == ORPHAN or (zk.controller == b and zk.controller_orphaned == 1)


def crash(s, b: Broker):
    """The process of `b` dies; its session stays open until it expires.

    Guards:  there is a process, and no orphaned session of an earlier one (more than one is not modelled).
    Effects: all that it knew is gone.
    """
    if s.brokers[b].session == DOWN or has_orphan(s.zk, b):
        return False

    orphan_session(s.zk, b)
    end_process(s.brokers[b])
    s.zk.faults += 1
    return True


def stop(s, b: Broker):
    """The process of `b` is stopped and closes its session.

    Guards:  there is a process with an open session.
    Effects: its ephemerals are gone at once, and so is all that it knew.
    """
    if s.brokers[b].session != OPEN or not s.zk.clients[b].session:
        return False

    close_session_and_end(s, b)
    return True


def close_session_and_end(s, b):
    """The process of `b` closes its session and ends."""
    end_session(s.zk, b)
    s.zk.clients[b].fired = NOTHING
    end_process(s.brokers[b])
    s.zk.faults += 1


def expire_session(s, b: Broker):
    """ZooKeeper expires the session of a live process, which does not know.

    Guards:  the session is open.
    Effects: its ephemerals are gone; the process believes what it believed before.
    """
    if not s.zk.clients[b].session:
        return False

    end_session(s.zk, b)
    s.zk.faults += 1
    return True


def expire_orphan(s, b: Broker):
    """The session of a former process of `b` expires.

    Guards:  it is still open and owns something.
    Effects: its ephemerals are gone.
    """
    if not has_orphan(s.zk, b):
        return False

    end_orphan(s.zk, b)
    return True


def delete_controller(s):
    """An operator deletes /controller.

    Guards:  it exists.
    Effects: it is gone; its owner's session is open as before.
    """
    if s.zk.controller == NOBODY:
        return False

    remove_controller(s.zk)
    s.zk.faults += 1
    return True


def edit_epoch(s):
    """An operator writes /controller_epoch again, with the same value.

    Guards:  it exists.
    Effects: its version grows.
    """
    if s.zk.epoch < 1:
        return False

    s.zk.epoch_version += 1
    s.zk.faults += 1
    return True


def fail_batch(s, b: Broker):
    """The controller of `b` finds its own request batch in an illegal state, or its failover fails, and it must resign.

    Guards:  `b` is active; no event is in progress but a failover.
    Effects: triggerControllerMove is next.
    Kafka:   ZookeeperLeaderElector.elect, 0.8 to 0.10.2; KafkaController.elect, 0.11 to 3.9;
             ControllerBrokerRequestBatch.sendRequestsToBrokers, 0.8.1 to 2.2;
             AbstractControllerBrokerRequestBatch.sendRequestsToBrokers, 2.3 to 3.9.
    """
    broker = s.brokers[b]
    if broker.session == DOWN or not broker.active:
        return False
    if broker.doing != IDLE and broker.doing != CLEANING and broker.doing != LOADING:
        return False

    broker.doing = MOVING
    s.zk.faults += 1
    return True
