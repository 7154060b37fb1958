"""Requests of groups of real clusters conform, and what is changed in them is found."""

import random
from collections import defaultdict
from functools import cache

import pytest
from tampered import NAMES as WITH_CHAOS
from tampered import changed, recorded, swapped
from tampered_groups import (
    AGAIN,
    COMMIT,
    EARLY,
    FETCH,
    FIND,
    GROUPS,
    KINDS,
    LOST,
    METADATA,
    NAMES,
    READ,
    SYNC,
    found_of_groups,
    group_tamperings,
    judged_groups,
)

from kafkaproof.traces.basics.verdicts import CONFORMS, UNDECIDED
from kafkaproof.traces.wire.exchanges import Exchange
from kafkaproof.traces.wire.verdicts import LISTED, OPEN, STEP
from tests.frames import request

TRIED = 6
"""So many changes of a kind are tried until one is found."""
LATER = AGAIN, LOST, METADATA, "assignments swapped"
"""Changes that a later message contradicts."""
UNNOTICED = (SYNC, AGAIN), (SYNC, EARLY), (COMMIT, "offset")
"""Changes after which the traffic may be that of a real cluster."""
DELETE_GROUPS = 42
real = cache(lambda name: recorded(name, READ))


@cache
def by_kind(name):
    found = defaultdict(list)
    for each in group_tamperings(real(name)):
        found[each.api, each.what].append(each)
    return found


@pytest.mark.parametrize("name", NAMES + WITH_CHAOS)
def test_the_requests_of_real_groups_conform(name):
    judged = judged_groups(real(name), real(name).exchanges)
    assert judged.verdict == CONFORMS, judged.first
    assert all(judged.of_kind(api, STEP) for api in GROUPS), judged.counts


@pytest.mark.parametrize("name", NAMES)
def test_recordings_have_what_a_group_goes_through(name):
    steps = {text for counts in judged_groups(real(name), real(name).exchanges).counts.values() for _, text in counts}
    assert {"join.complete_join", "join.join_timeout", "sync.group_stored", "membership.leave"} <= steps
    assert ("static.static_stored" in steps) == ("join.first_join" in steps) == (name != NAMES[-1])
    answered = {
        each.told["error_code"].name
        for each in real(name).exchanges
        if each.api == "Heartbeat" and each.told is not None
    }
    assert {"none", "rebalance_in_progress"} <= answered


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in UNNOTICED], ids=" ".join)
def test_what_is_changed_is_found(kind):
    name = next(name for name in NAMES if by_kind(name)[kind])
    applied = by_kind(name)[kind]
    tried = random.Random(1).sample(applied, min(TRIED, len(applied)))
    assert any(found_of_groups(real(name), each)[kind[1] not in LATER] for each in tried)


def test_a_group_from_before_the_capture_is_undecided():
    of = real(NAMES[0])
    first = next(place for place, each in enumerate(of.exchanges) if each.api == FETCH)
    judged = judged_groups(of, of.exchanges[first:])
    assert judged.verdict == UNDECIDED
    assert judged.of_kind(FETCH, OPEN) == judged.counts[FETCH].total()


def test_after_a_divergence_a_group_is_undecided():
    of = real(NAMES[0])
    tampered = by_kind(NAMES[0])["Heartbeat", "answer UNKNOWN_MEMBER_ID"][0]
    judged = judged_groups(of, tampered.within(of.exchanges))
    assert len(judged.divergences) == 1 and judged.of_kind("Heartbeat", OPEN) > 0
    assert judged.divergences[0].text.endswith("answered UNKNOWN_MEMBER_ID, where broker 0 answers NONE")


def test_after_a_deletion_a_group_is_undecided():
    of = real(NAMES[0])
    place = next(n for n, each in enumerate(of.exchanges) if each.api == FETCH)
    before = of.exchanges[place]
    deletion = request(DELETE_GROUPS, 2, 1, "tool", groups_names=("readers",))
    asked = Exchange(before.place._replace(number=-1), before.time - 1, before.broker, 99, deletion)
    judged = judged_groups(of, [*of.exchanges, asked])
    assert judged.of_kind(FETCH, OPEN) > 0 and not judged.divergences


def test_the_coordinator_of_a_transaction_is_listed():
    of = real(NAMES[1])
    asked = next(each for each in of.exchanges if each.api == FIND and each.told)
    of_transaction = changed(asked, asked=swapped("key_type", 1))
    judged = judged_groups(of, [of_transaction])
    assert judged.of_kind(FIND, LISTED) == 1
    assert judged_groups(of, [asked]).of_kind(FIND, STEP) == 1
