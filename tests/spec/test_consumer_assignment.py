"""Who reads which partition: vectors of our own and of Kafka's comments, and laws of assignments."""

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.spec.consumer import assignment
from kafkaproof.spec.consumer.assignment import (
    MOST_MEMBERS,
    deal,
    member_at,
    owner,
    owner_thread,
    quotient,
    range_ceil_owner,
    range_owner,
    remainder,
    round_robin_owner,
    size,
    stands_before,
    thread_at,
)
from kafkaproof.spec.language.accepted import check_text
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.rebind import rebind

STRATEGIES = [range_owner, range_ceil_owner, round_robin_owner]
BALANCED = [range_owner, round_robin_owner]
FUNCTIONS = [value for value in vars(assignment).values() if getattr(value, "__module__", "") == assignment.__name__]
MEMBERS = st.sets(st.sampled_from(range(MOST_MEMBERS)), min_size=1)


def mask(members):
    return sum(1 << member for member in members)


def counts(strategy, partitions, threads):
    """How many partitions each thread gets."""
    owners = Counter(strategy(p, partitions, threads) for p in range(partitions))
    return [owners[i] for i in range(threads)]


def assigned(strategy, partitions, members, threads):
    """Consumer and thread of each partition."""
    found = [rebind(function, {assignment.place_of_owner: strategy}) for function in (owner, owner_thread)]
    return [tuple(f(p, partitions, mask(members), threads) for f in found) for p in range(partitions)]


def ranges(partitions, names):
    """The oracle: slices of the partitions, as Kafka computes them."""
    share, rest = divmod(partitions, len(names))
    found = {}
    for i, name in enumerate(names):
        first = share * i + min(i, rest)
        found |= {p: name for p in range(first, first + share + (i < rest))}
    return [found[p] for p in range(partitions)]


def dealt(partitions, subscribed, threads):
    """Partitions dealt in order to the threads that have subscribed to the topic of each."""
    found, last = [], -1
    for p in range(partitions):
        last = deal(last, mask(subscribed[p]), threads)
        found.append(last)
    return found


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_the_strategies_keep_the_writing_rules(function):
    check_text(function)


@pytest.mark.parametrize(
    "partitions, threads, by_range, by_ceiling",
    [
        (5, 4, [2, 1, 1, 1], [2, 2, 1, 0]),
        (10, 3, [4, 3, 3], [4, 4, 2]),
        (4, 6, [1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 0, 0]),
        (4, 3, [2, 1, 1], [2, 2, 0]),
        (6, 3, [2, 2, 2], [2, 2, 2]),
    ],
)
def test_vectors(partitions, threads, by_range, by_ceiling):
    assert counts(range_owner, partitions, threads) == by_range
    assert counts(range_ceil_owner, partitions, threads) == by_ceiling


def test_the_vector_in_the_comment_of_range_assignor():
    assert assigned(range_owner, 5, {1, 2}, 2) == [(1, 0), (1, 0), (1, 1), (2, 0), (2, 1)]


def test_round_robin_deals():
    assert assigned(round_robin_owner, 5, {1, 2}, 2) == [(1, 0), (1, 1), (2, 0), (2, 1), (1, 0)]


def test_threads_that_have_not_subscribed_are_skipped():
    assert dealt(4, [{0, 1, 2}, {0, 1, 2}, {0}, {0, 2}], 3) == [0, 1, 0, 2]
    assert deal(-1, 0, 3) == NOBODY


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda function: function.__name__)
def test_without_members_nobody_reads(strategy):
    assert assigned(strategy, 2, set(), 1) == [(NOBODY, NOBODY)] * 2


def test_names_of_threads_compare_as_text():
    for i, j in product(range(100), repeat=2):
        assert stands_before(i, j) == (f"cid-{i}" < f"cid-{j}")
    assert [thread_at(place, 12) for place in range(12)] == [0, 1, 10, 11, 2, 3, 4, 5, 6, 7, 8, 9]


@pytest.mark.parametrize("threads", range(1, 25))
def test_every_thread_has_its_place(threads):
    assert [thread_at(i, threads) for i in range(threads)] == sorted(range(threads), key=str)
    assert thread_at(threads, threads) == NOBODY


def test_members_have_places_in_the_order_of_their_ids():
    assert [member_at(i, mask({1, 4, 6})) for i in range(4)] == [1, 4, 6, NOBODY]
    assert size(mask({1, 4, 6})) == 3


@given(st.integers(0, 50), st.integers(1, 50))
def test_division(n, divisor):
    assert (quotient(n, divisor), remainder(n, divisor)) == divmod(n, divisor)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda function: function.__name__)
def test_laws_at_small_sizes(strategy):
    for partitions, members, threads in product(range(8), range(1, 16), range(1, 4)):
        group = {c for c in range(4) if members >> c & 1}
        found = assigned(strategy, partitions, group, threads)
        names = [(c, t) for c in sorted(group) for t in range(threads)]
        assert set(found) <= set(names)
        shares = [found.count(name) for name in names]
        assert sum(shares) == partitions
        if strategy in BALANCED:
            assert max(shares) - min(shares) <= 1
            assert shares.count(0) == max(0, len(names) - partitions)
        if strategy != round_robin_owner:
            assert found == sorted(found)


@given(st.integers(0, 30), MEMBERS, st.integers(1, 12))
def test_the_range_is_the_oracle_s(partitions, members, threads):
    names = sorted(((c, t) for c in members for t in range(threads)), key=lambda name: (name[0], str(name[1])))
    assert assigned(range_owner, partitions, members, threads) == ranges(partitions, names)


@given(st.integers(0, 30), MEMBERS, st.integers(1, 12))
def test_range_and_ceiling_agree_where_threads_divide_partitions(partitions, members, threads):
    whole = partitions * len(members) * threads
    if whole <= 60:
        expected = assigned(range_owner, whole, members, threads)
        assert assigned(range_ceil_owner, whole, members, threads) == expected


@given(st.integers(1, 8), st.lists(st.sets(st.integers(0, 7)), max_size=12))
def test_laws_of_dealing(threads, subscribed):
    subscribed = [{i for i in members if i < threads} for members in subscribed]
    found = dealt(len(subscribed), subscribed, threads)
    assert all(i in members if members else i == NOBODY for i, members in zip(found, subscribed))


@given(st.integers(1, 8), st.integers(0, 30))
def test_dealing_to_all_is_the_round_robin_of_one_topic(threads, partitions):
    everybody = [set(range(threads))] * partitions
    assert dealt(partitions, everybody, threads) == [
        round_robin_owner(p, partitions, threads) for p in range(partitions)
    ]
