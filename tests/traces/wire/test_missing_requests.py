"""A request is missing where what came later on its channel shows that it was left out, however late all of them come."""

from collections import defaultdict
from copy import copy
from functools import cache

import pytest
from tampered import ALTER, LEADER, LEAVE, NAMES, STOP, UPDATE, recorded

from kafkaproof.traces.wire.control.asked import Asked
from kafkaproof.traces.wire.control.entries import entries_of
from kafkaproof.traces.wire.control.missing import Missing
from kafkaproof.traces.wire.control.requests import Requests

LATE = 30_000
EACH = [NAMES[0], *(pytest.param(name, marks=pytest.mark.thorough) for name in NAMES[1:])]
CONTROL = LEADER, UPDATE, STOP


@cache
def real(name):
    """A recording: what ZooKeeper's log tells, its control requests, and what controllers had to send."""
    it = recorded(name, (*CONTROL, ALTER, LEAVE))
    asked = Asked(it.exchanges, it.history)
    sendings = cache(Requests(it.history, it.features, asked, it.exchanges).sendings)
    return it.history, [each for each in it.exchanges if each.api in CONTROL], sendings


def missing(name, exchanges):
    """The kinds of what is missing in some requests."""
    history, _, sendings = real(name)
    seen = defaultdict(list)
    for each in exchanges:
        for entry in entries_of(each):
            seen[each.asked["controller_epoch"], *entry.partition].append((each, entry))
    return [kind for _, kind, _ in Missing(history, exchanges, seen, sendings).find()]


def behind(name, each):
    """A request and what follows on its channel."""
    channel = each.asked["controller_epoch"], each.broker
    own = [other for other in real(name)[1] if (other.asked["controller_epoch"], other.broker) == channel]
    return own[own.index(each) :]


def replaced(name, left_out, instead=()):
    """The requests of a recording without some, and with others instead."""
    kept = [each for each in real(name)[1] if each not in left_out]
    return sorted([*kept, *instead], key=lambda each: each.time)


def later(each, by=LATE):
    found = copy(each)
    found.time, found.answered = each.time + by, each.answered and each.answered + by
    return found


def sampled(name, apis, places=12):
    own = [each for each in real(name)[1] if each.api in apis and any(True for _ in entries_of(each))]
    return own[:: max(1, len(own) // places)]


@pytest.mark.parametrize("name", EACH)
def test_what_comes_late_is_not_missing(name):
    for each in sampled(name, CONTROL):
        delayed = behind(name, each)
        assert not missing(name, replaced(name, delayed, map(later, delayed)))


@pytest.mark.parametrize("name", EACH)
def test_what_waits_behind_a_late_request_when_the_recording_ends_is_not_missing(name):
    for each in sampled(name, CONTROL):
        assert not missing(name, replaced(name, behind(name, each), [later(each)]))


@pytest.mark.parametrize("api, late", [(LEADER, 2_000), (UPDATE, 0)])
@pytest.mark.parametrize("name", EACH)
def test_what_is_left_out_is_missing_if_later_requests_came_also_late_ones(name, api, late):
    found = 0
    for each in sampled(name, (api,), places=40):
        first, *others = behind(name, each)
        found += api in missing(name, replaced(name, [first, *others], [later(other, late) for other in others]))
    assert found
