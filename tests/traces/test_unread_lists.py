"""A list in /admin/reassign_partitions that its controller does not read, since one before it was deleted by hand."""

from math import inf
from types import SimpleNamespace

import pytest

from kafkaproof.traces.evidence.cluster_inputs import ListWrite
from kafkaproof.traces.evidence.terms import Term
from kafkaproof.traces.explain.facts.remarks import UNREAD
from kafkaproof.traces.explain.facts.unread_lists import unread_in

CONTROLLER, TOOL, NEXT = 1, 2, 3


def log(*lists, terms=((1, CONTROLLER, 0, inf),), end=60):
    """A log with a record each second, whose zxid is its time in s: `lists` has time, session, and whether it stands."""
    inputs = SimpleNamespace(
        lists=[ListWrite(time, 1000 * time, session, stands) for time, session, stands in lists],
        last_time=1000 * end,
        time_at=lambda zxid: 1000 * int(zxid),
    )
    return SimpleNamespace(
        inputs=inputs, terms=SimpleNamespace(by_start=[Term(*each, again=False, unknown=False) for each in terms])
    )


WITHDRAWN = ((10, TOOL, True), (15, TOOL, False), (20, TOOL, True))


def test_a_list_after_one_that_was_deleted_by_hand_is_not_read():
    (found,) = unread_in(log(*WITHDRAWN))
    assert (found.zxid, found.withdrawn, found.epoch, found.ended, found.lasted) == (20, 15, 1, None, 40_000)
    assert found.remark().what == UNREAD
    assert "to the end of the log" in found.remark().text


def test_until_it_is_deleted_by_hand_too():
    (found,) = unread_in(log(*WITHDRAWN, (35, TOOL, False)))
    assert (found.ended, found.lasted) == (35, 15_000)


def test_until_another_term_begins():
    (found,) = unread_in(log(*WITHDRAWN, terms=((1, CONTROLLER, 0, 31), (2, NEXT, 31, inf))))
    assert (found.ended, found.lasted) == (31, 11_000)


@pytest.mark.parametrize(
    "lists, terms",
    [
        pytest.param(((10, TOOL, True), (15, CONTROLLER, False), (20, TOOL, True)), (), id="deleted-by-the-controller"),
        pytest.param((*WITHDRAWN, (25, CONTROLLER, False)), (), id="read"),
        pytest.param((*WITHDRAWN, (28, TOOL, False)), (), id="not-for-long"),
        pytest.param(WITHDRAWN, ((1, CONTROLLER, 0, 17), (2, NEXT, 17, inf)), id="another-term"),
        pytest.param(WITHDRAWN, ((1, CONTROLLER, 12, inf),), id="a-term-that-has-just-begun"),
        pytest.param(((10, TOOL, True), (15, TOOL, False)), (), id="no-other-list"),
        pytest.param((), (), id="no-list"),
    ],
)
def test_other_lists_are_read(lists, terms):
    assert unread_in(log(*lists, terms=terms or ((1, CONTROLLER, 0, inf),))) == []
