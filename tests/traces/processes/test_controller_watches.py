"""What brokers hear of /controller, and when: each watch is fired once, by the change after the read that set it."""

import pytest

from kafkaproof.spec.kafka.zookeeper import CHANGED, DELETED, NOTHING
from kafkaproof.traces.processes.recorded.controller_watches import ControllerWatches
from kafkaproof.traces.zookeeper.transactions import CloseSession, Create, Delete, Transaction

OWNER, OPERATOR = 7, 9


def _logged(zxid, session, operation):
    return Transaction(zxid, session, 1, zxid, (operation,))


@pytest.fixture
def watches():
    """/controller comes at 10, goes at 20 with the session that owns it, comes at 30, and is deleted at 40."""
    created = Create("/controller", b"", True, -1)
    return ControllerWatches(
        [
            _logged(10, OWNER, created),
            _logged(20, OWNER, CloseSession(None)),
            _logged(25, OWNER, CloseSession(None)),
            _logged(30, OPERATOR, created),
            _logged(40, OPERATOR, Delete("/controller")),
        ]
    )


def test_a_watch_fires_once(watches):
    watches.arm(0, 5)
    watches.arm(0, 8)
    assert (watches.fired(0, CHANGED), watches.fired(0, DELETED)) == (10, 0)
    assert watches.fired(1, CHANGED) == 0


def test_events_come_one_by_one(watches):
    for read in (5, 10, 20):
        watches.arm(0, read)
    assert watches.fired(0, CHANGED) == 10
    assert [watches.waits(0, zxid) for zxid in (19, 20, 29, 30)] == [NOTHING, DELETED, DELETED, DELETED]
    assert watches.fired(0, DELETED) == 20
    assert [watches.waits(0, zxid) for zxid in (29, 30, 40)] == [NOTHING, CHANGED, CHANGED]
    assert (watches.fired(0, CHANGED), watches.waits(0, 40)) == (30, NOTHING)


def test_who_hears_of_a_deletion_alone_has_missed_the_change_before(watches):
    for read in (5, 10):
        watches.arm(0, read)
    assert (watches.fired(0, DELETED), watches.waits(0, 40)) == (20, NOTHING)


def test_a_new_session_has_no_watch(watches):
    watches.arm(0, 5)
    watches.forget(0)
    assert (watches.fired(0, CHANGED), watches.waits(0, 40)) == (0, NOTHING)
