"""Controllers that give up as soon as they are elected, one after the other."""

from math import inf
from types import SimpleNamespace

import pytest

from kafkaproof.traces.evidence.terms import Term
from kafkaproof.traces.explain.facts.failing_failovers import failing_in
from kafkaproof.traces.explain.facts.remarks import FAILING


def log(*starts):
    """A log whose zxids are times in ms: a term begins at each of `starts`, and the last does not end."""
    ends = (*starts[1:], inf)
    terms = [
        Term(epoch, epoch % 2, start, end, False, False) for epoch, (start, end) in enumerate(zip(starts, ends), 1)
    ]
    return SimpleNamespace(
        terms=SimpleNamespace(by_start=terms), inputs=SimpleNamespace(time_at=lambda zxid: int(zxid))
    )


def test_short_terms_that_follow_each_other_are_told_once():
    (found,) = failing_in(log(0, 60_000, *range(60_500, 72_500, 500), 90_000))
    assert (found.zxid, found.terms, found.first, found.last, found.lasted) == (60_000, 24, 2, 25, 12_000)
    assert found.remark().what == FAILING
    assert "24 controllers, of the epochs 2 to 25" in found.remark().text


@pytest.mark.parametrize(
    "starts",
    [
        pytest.param((0, 60_000, *range(60_500, 69_000, 500), 90_000), id="not-for-long"),
        pytest.param((0, *range(60_000, 90_000, 1_500)), id="longer-terms"),
        pytest.param((0,), id="one-term"),
        pytest.param((), id="no-term"),
    ],
)
def test_other_terms_are_no_failures(starts):
    assert failing_in(log(*starts)) == []
