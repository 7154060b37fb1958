"""Who is elected: vectors and edge cases, and laws against a restatement with lists."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.spec.kafka import strategies as now
from kafkaproof.spec.language.accepted import check_text
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.partition.history import strategies as old
from tests.spec import election_oracle as oracle

BROKERS = range(6)
SETS = st.sets(st.sampled_from(BROKERS))
LISTS = st.lists(st.sampled_from(BROKERS), unique=True)
FUNCTIONS = [
    value
    for module in (now, old)
    for value in vars(module).values()
    if getattr(value, "__module__", "") == module.__name__
]


def mask(members):
    return sum(1 << member for member in members)


def members(bits):
    return {member for member in range(bits.bit_length()) if bits >> member & 1}


def sequence(elements):
    """A sequence with free slots behind its elements, which hold zeros."""
    return SimpleNamespace(length=len(elements), slots=[*elements, 0, 0])


def new_topic(ar, online):
    ar, online = sequence(ar), mask(online)
    return result(now.new_topic_leader(ar, online), now.new_topic_isr(ar, online), now.new_topic_recipients(ar, online))


def offline(ar, isr, online, allowed=0):
    ar, isr, online = sequence(ar), mask(isr), mask(online)
    leader = now.offline_leader(ar, isr, online, allowed)
    isr = now.offline_isr(isr, online, leader) if leader != NOBODY else 0
    return result(leader, isr, now.offline_recipients(ar, online))


def reassign(target, isr, online):
    target, isr, online = sequence(target), mask(isr), mask(online)
    leader = now.reassign_leader(target, isr, online)
    return result(leader, now.reassign_isr(isr), now.reassign_recipients(target))


def preferred(ar, isr, online):
    ar, isr, online = sequence(ar), mask(isr), mask(online)
    return result(now.preferred_leader(ar, isr, online), now.preferred_isr(isr), now.preferred_recipients(ar))


def controlled_shutdown(ar, isr, online_or_leaving, leaving):
    ar, isr, online_or_leaving, leaving = sequence(ar), mask(isr), mask(online_or_leaving), mask(leaving)
    leader = now.controlled_shutdown_leader(ar, isr, online_or_leaving, leaving)
    isr = now.controlled_shutdown_isr(isr, leaving)
    return result(leader, isr, now.controlled_shutdown_recipients(ar, online_or_leaving))


def remove_from_isr(leader, isr, replica):
    if replica not in isr:
        return None
    return now.leader_after_removal(leader, replica), members(now.isr_after_removal(mask(isr), replica))


def result(leader, isr, recipients):
    """What an election gives; None when it fails."""
    return None if leader == NOBODY else (leader, members(isr), members(recipients))


def as_sets(found):
    """The oracle's result: after 0.8.0 the order of an ISR or of recipients decides nothing."""
    return found and (found[0], *map(set, found[1:]))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_the_strategies_keep_the_writing_rules(function):
    check_text(function)


@pytest.mark.parametrize(
    "found, expected",
    [
        (offline([1, 2, 3], [3, 2], {2, 3}), (2, {3, 2}, {2, 3})),
        (offline([1, 2, 3], [1], {2, 3}), None),
        (offline([1, 2, 3], [1], {2, 3}, 1), (2, {2}, {2, 3})),
        (offline([1, 2, 3], [4, 2], {2, 4}), (2, {4, 2}, {2})),
        (offline([1, 2, 3], [4], {2, 4}, 1), None),
        (reassign([1, 0], [2, 0], {0, 1, 2}), (0, {2, 0}, {1, 0})),
        (reassign([4, 5], [1, 2], {1, 2, 4, 5}), None),
        (preferred([1, 2, 3], [2, 3], {1, 2, 3}), None),
        (preferred([1, 2, 3], [3, 1], {1, 3}), (1, {3, 1}, {1, 2, 3})),
        (controlled_shutdown([1, 2, 3], [1, 2, 3], {1, 2, 3}, {1}), (2, {2, 3}, {1, 2, 3})),
        (controlled_shutdown([1, 2, 3], [1, 2], {1, 2, 3}, {1, 2}), None),
        (controlled_shutdown([1, 2], [2, 1], {1, 2}, {1}), (2, {2}, {1, 2})),
        (new_topic([1, 2, 3], {2, 3}), (2, {2, 3}, {2, 3})),
        (new_topic([1, 2, 3], set()), None),
        (remove_from_isr(1, [1, 2], 1), (NOBODY, {2})),
        (remove_from_isr(1, [1], 1), (NOBODY, {1})),
        (remove_from_isr(1, [1, 2], 2), (1, {1})),
        (remove_from_isr(1, [1], 2), None),
    ],
)
def test_vectors(found, expected):
    assert found == expected


@pytest.mark.parametrize("led, acts", [(10, False), (9, False), (8, True), (0, True)])
def test_the_share_of_leaders_elsewhere_must_exceed_the_percentage(led, acts):
    assert now.is_imbalanced(10, 10 - led, 10) is acts


def test_a_broker_that_no_partition_prefers_is_balanced():
    assert not now.is_imbalanced(0, 0, 0)
    assert now.is_imbalanced(3, 1, 33) and not now.is_imbalanced(3, 1, 34)


def test_a_partition_counts_for_its_first_replica():
    assert now.prefers(sequence([2, 1]), 2) and not now.prefers(sequence([2, 1]), 1)
    assert not now.prefers(sequence([]), 0)


def test_the_rebalance_moves_only_to_a_preferred_replica_that_can_lead():
    ar = sequence([1, 2])
    assert now.may_rebalance(ar, mask({1, 2}), mask({1, 2}), 2)
    assert not now.may_rebalance(ar, mask({1, 2}), mask({1, 2}), 1)
    assert not now.may_rebalance(ar, mask({2}), mask({1, 2}), 2)
    assert old.may_rebalance_if_online(ar, 0, mask({1, 2}), 2)
    assert not old.may_rebalance_if_online(ar, 0, mask({1, 2}), 1)
    assert not old.may_rebalance_if_online(ar, 0, mask({2}), 2)
    assert not old.may_rebalance_if_online(sequence([]), 0, mask({2}), 2)


def test_edge_1_the_order_of_the_assignment_decides():
    assert offline([1, 2, 3], [3, 2], {2, 3})[0] == 2
    assert old.offline_leader_by_isr_order(sequence([1, 2, 3]), sequence([3, 2]), mask({2, 3})) == 3


def test_edge_2_a_member_outside_the_assignment_stays_and_forbids_an_unclean_election():
    assert offline([1, 2, 3], [4, 2], {2, 4}) == (2, {4, 2}, {2})
    assert not now.may_elect_uncleanly(mask([4]), mask({2, 4}), 1)
    assert offline([1, 2, 3], [4], {2, 4}, 1) is None
    assert offline([1, 2, 3], [4], {2}, 1) == (2, {2}, {2})


def test_edge_3_the_preferred_election_does_not_fall_through():
    assert preferred([1, 2, 3], [2, 3], {1, 2, 3}) is None
    assert preferred([1, 2, 3], [1, 2, 3], {2, 3}) is None
    assert preferred([], [2], {2}) is None


def test_edge_4_a_reassignment_fails_without_a_target_online_and_in_the_isr():
    assert reassign([4, 5], [1, 4], {1, 5}) is None


def test_edge_5_a_controlled_shutdown_fails_when_the_only_other_member_leaves_too():
    assert controlled_shutdown([1, 2, 3], [1, 2], {1, 2, 3}, {1, 2}) is None


def test_edge_6_a_leaving_broker_receives_and_is_no_candidate():
    assert controlled_shutdown([1, 2, 3], [1, 2, 3], {1, 2, 3}, {1, 2}) == (3, {3}, {1, 2, 3})


def test_edge_7_a_single_replica_waits_for_its_return():
    assert offline([1], [1], {2, 3}) is None
    assert offline([1], [1], {1, 2}) == (1, {1}, {1})


def test_edge_8_a_clean_election_is_no_recovery():
    assert not now.may_elect_uncleanly(mask([1, 2]), mask({2}), 1)
    assert now.may_elect_uncleanly(mask([1]), mask({2}), 1)
    assert not now.may_elect_uncleanly(mask([1]), mask({2}), 0)


def test_edge_9_an_unknown_assignment_elects_nobody():
    assert offline([], [1], {1, 2}) is None
    assert offline([], [1], {2}, 1) is None


def test_a_preferred_election_was_not_needed_where_the_leader_was_remembered():
    ar, everybody = sequence([1, 2]), mask({1, 2})
    assert old.preferred_leader_if_needed(ar, everybody, everybody, 1) == NOBODY
    assert old.preferred_leader_if_needed(ar, everybody, everybody, 2) == 1


def test_the_last_member_left_the_isr_where_unclean_elections_were_enabled():
    assert old.isr_after_removal_or_empty(mask([1]), 1, 1) == 0
    assert old.isr_after_removal_or_empty(mask([1]), 1, 0) == mask([1])
    assert old.isr_after_removal_or_empty(mask([1, 2]), 1, 1) == mask([2])


@given(LISTS, LISTS, SETS, st.integers(0, 1), SETS)
def test_every_strategy_is_the_oracle_s(ar, isr, online, allowed, leaving):
    assert new_topic(ar, online) == as_sets(oracle.new_topic(ar, online))
    assert offline(ar, isr, online, allowed) == as_sets(oracle.offline(ar, isr, online, allowed))
    assert reassign(ar, isr, online) == as_sets(oracle.reassign(ar, isr, online))
    assert preferred(ar, isr, online) == as_sets(oracle.preferred(ar, isr, online))
    expected = oracle.controlled_shutdown(ar, isr, online, leaving)
    assert controlled_shutdown(ar, isr, online, leaving) == as_sets(expected)
    by_isr_order = old.offline_leader_by_isr_order(sequence(ar), sequence(isr), mask(online))
    assert by_isr_order == oracle.offline_by_isr_order(ar, isr, online)


@given(st.sampled_from([NOBODY, *BROKERS]), LISTS, st.sampled_from(BROKERS))
def test_the_removal_is_the_oracle_s(leader, isr, replica):
    expected = oracle.remove_from_isr(leader, isr, replica)
    found = remove_from_isr(leader, isr, replica)
    assert found == (expected and (expected[0], set(expected[1])))
    assert found is None or found[1] or not isr


@given(LISTS, LISTS, SETS, st.integers(0, 1), SETS, st.randoms())
def test_laws_of_every_election(ar, isr, online, allowed, leaving, random):
    shuffled = random.sample(isr, len(isr))
    elections = [
        lambda isr: offline(ar, isr, online, allowed),
        lambda isr: reassign(ar, isr, online),
        lambda isr: preferred(ar, isr, online),
        lambda isr: controlled_shutdown(ar, isr, online, leaving),
    ]
    for number, elect in enumerate(elections):
        found = elect(isr)
        assert found == elect(shuffled)
        if found is None:
            continue
        leader, new_isr, recipients = found
        assert leader in online and leader in ar and leader in new_isr and recipients <= set(ar)
        unclean = leader not in isr
        assert not unclean or (number == 0 and allowed and not online & set(isr) and new_isr == {leader})
        assert unclean or new_isr <= set(isr)
        before = ar[: ar.index(leader)]
        stays = online - leaving if number == 3 else online
        assert not any(r in stays and (unclean or r in isr) for r in before)


@given(st.integers(0, 1), SETS, st.sampled_from([NOBODY, *BROKERS]), SETS)
def test_a_partition_recovers_from_an_election_outside_the_isr_until_its_leader_writes_an_isr(was, isr, leader, new):
    may = now.may_be_recovering(was, mask(isr), leader, mask(new))
    elected_outside = leader != NOBODY and leader not in isr and new == {leader}
    kept = was and (leader == NOBODY or new == {leader})
    assert may == bool(elected_outside or kept)
