"""What replay gets by running a controller's transitions is what the election strategies give, for the ids of a log."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.spec.kafka import strategies
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.evidence.features import RANGES
from kafkaproof.traces.explain.partitions.elections import elections_of
from kafkaproof.traces.explain.partitions.proposals import proposals_of
from kafkaproof.traces.explain.partitions.strategies import Elected

IDS = (3, 7, 8, 100)
OLDEST, *_, NEW = RANGES
orders = st.permutations(IDS).flatmap(lambda ids: st.integers(1, len(ids)).map(lambda n: tuple(ids[:n])))
sets = st.frozensets(st.sampled_from(IDS))
members = st.frozensets(st.sampled_from(IDS), min_size=1)
releases = st.sampled_from(RANGES)


def bits(brokers):
    return sum(1 << IDS.index(broker) for broker in brokers)


def sequence(brokers):
    return SimpleNamespace(length=len(brokers), slots=[IDS.index(broker) for broker in brokers])


def elected(leader, isr):
    members = frozenset(broker for broker in IDS if isr >> IDS.index(broker) & 1)
    return Elected(IDS[leader], members) if leader != NOBODY else None


def isr_of(function, leader, *given):
    return 0 if leader == NOBODY else function(*given)


@given(releases, orders, sets)
def test_a_first_state(features, assignment, online):
    given = sequence(assignment), bits(online)
    expected = elected(strategies.new_topic_leader(*given), strategies.new_topic_isr(*given))
    assert elections_of(features).new_topic(assignment, online) == expected


@given(releases, orders, members, sets, st.booleans())
def test_an_election_of_a_partition_without_a_leader(features, assignment, isr, online, unclean):
    leader = strategies.offline_leader(sequence(assignment), bits(isr), bits(online), int(unclean))
    new = isr_of(strategies.offline_isr, leader, bits(isr), bits(online), leader)
    assert elections_of(features).offline(assignment, isr, online, unclean) == elected(leader, new)


@given(releases, orders, members, sets)
def test_elections_that_keep_the_isr(features, assignment, isr, online):
    elections, given = elections_of(features), (sequence(assignment), bits(isr), bits(online))
    expected = elected(strategies.reassign_leader(*given), bits(isr))
    assert elections.reassign(assignment, isr, online) == expected
    expected = elected(strategies.preferred_leader(*given), bits(isr))
    assert elections.preferred(assignment, isr, online) == expected


@given(releases, orders, members, sets, members)
def test_a_controlled_shutdown(features, assignment, isr, online, leaving):
    leader = strategies.controlled_shutdown_leader(sequence(assignment), bits(isr), bits(online), bits(leaving))
    new = isr_of(strategies.controlled_shutdown_isr, leader, bits(isr), bits(leaving))
    assert elections_of(features).controlled_shutdown(assignment, isr, online, leaving) == elected(leader, new)


@given(releases, members, st.sampled_from((*IDS, NOBODY)), st.sampled_from(IDS))
def test_a_removal(features, isr, leader, replica):
    found = elections_of(features).removal(leader, isr, replica, False)
    if replica not in isr:
        assert found is None
    else:
        left = NOBODY if leader == replica else leader
        assert found == Elected(left, isr - {replica} or isr)


@pytest.mark.parametrize("features", RANGES, ids=lambda each: str(each.releases))
def test_up_to_1_0_the_last_member_goes_where_elections_may_be_unclean(features):
    kept = frozenset() if features is OLDEST else frozenset({7})
    assert elections_of(features).removal(7, frozenset({7}), 7, True) == Elected(NOBODY, kept)


@pytest.mark.parametrize("features", RANGES, ids=lambda each: str(each.releases))
def test_a_leader_writes_an_isr_of_replicas_that_has_itself(features):
    proposals, before, replicas = proposals_of(features), Elected(3, frozenset({3, 7})), frozenset({3, 7, 8})
    for isr, is_written in (({3}, True), ({3, 7, 8}, True), ({7}, False), ({3, 100}, False)):
        assert (proposals.why_not_written(before, frozenset(isr), replicas) is None) == is_written


def test_from_3_3_on_a_controller_grants_only_an_isr_of_the_live():
    before, replicas, wanted = Elected(3, frozenset({3, 7})), frozenset({3, 7, 8}), frozenset({3, 7, 8})
    present = NEW._replace(releases=NEW.releases.within(type(NEW.releases)("3.3", "3.9")))
    for features, live, is_granted in (
        (present, {3, 7, 8}, True),
        (present, {3, 7}, False),
        (present, {7, 8}, False),
        (NEW, {3, 7}, True),
    ):
        why = proposals_of(features).why_not_granted(before, wanted, replicas, frozenset(live))
        assert (why is None) == is_granted, why
