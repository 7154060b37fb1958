"""A list of reassignments that was deleted by hand, and the next one (KAFKA-9478)."""

from kafkaproof.checker.check.local import explore_here
from kafkaproof.spec.language.sets import is_empty
from kafkaproof.spec.partition.model import scope
from kafkaproof.spec.partition.withdrawal import withdrawal
from kafkaproof.spec.partition.withdrawal.model import ALONE, WITHDRAWING
from kafkaproof.spec.partition.znodes import REASSIGN_REQUEST
from kafkaproof.spec.partition.zookeeper import listed, remove

UNREAD = "reassignment_dealt_with"


def withdraw_and_watch(s):
    """The controller sets its watch again whoever deletes the list."""
    if is_empty(listed(s.zk)):
        return False

    remove(s.zk, REASSIGN_REQUEST)
    s.zk.faults += 1
    return True


def test_the_next_list_is_not_read():
    found = explore_here(WITHDRAWING, ALONE, only=UNREAD)
    assert found.length(UNREAD) == WITHDRAWING.expected[ALONE][UNREAD]
    steps = [step.name for step, _, _ in found.traces[UNREAD].steps]
    assert steps.count("ask_for_reassignment") == 2
    assert "withdraw_list" in steps


def test_with_a_watch_that_is_set_again_it_is_read():
    mended = WITHDRAWING.rebound({withdrawal.withdraw_list: withdraw_and_watch})
    assert explore_here(mended, ALONE, only=UNREAD).length(UNREAD) is None


def test_one_list_alone_is_read():
    once = scope(**{**dict(ALONE), "faults": 2})
    assert explore_here(WITHDRAWING, once, only=UNREAD).length(UNREAD) is None
