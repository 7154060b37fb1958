"""Laws of the assignment of replicas: distinct, balanced within one, racks spread."""

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.spec.catalogue import find
from kafkaproof.spec.kafka.replica_lists import SomeWithoutRack, assign_replicas, place_of_added
from kafkaproof.spec.language.plain import new_state
from kafkaproof.spec.language.sets import with_member
from kafkaproof.spec.partition.creation.zookeeper import assign_new

SMALL = [
    (n, partitions, replicas, start, shift)
    for n in range(1, 5)
    for partitions in range(1, 10)
    for replicas in range(1, n + 1)
    for start in range(n)
    for shift in range(n)
]


def spread(counts, members):
    """The difference between the member with most and the one with least."""
    return max(counts[m] for m in members) - min(counts[m] for m in members)


@pytest.mark.parametrize("n", range(1, 5))
def test_small_assignments_are_distinct_and_their_leaders_balanced(n):
    for size, partitions, replicas, start, shift in SMALL:
        if size == n:
            assignment = assign_replicas(range(n), partitions, replicas, start, shift)
            assert all(len(set(part)) == len(part) == replicas for part in assignment)
            assert spread(Counter(part[0] for part in assignment), range(n)) <= 1


def test_replicas_are_balanced_within_one_after_whole_rounds():
    for n, partitions, replicas, start, shift in SMALL:
        if partitions % n == 0:
            assignment = assign_replicas(range(n), partitions, replicas, start, shift)
            assert spread(Counter(b for part in assignment for b in part), range(n)) == 0


def test_the_example_of_the_kafka_documentation():
    assert assign_replicas(range(5), 10, 3, 0, 0) == [
        [0, 1, 2],
        [1, 2, 3],
        [2, 3, 4],
        [3, 4, 0],
        [4, 0, 1],
        [0, 2, 3],
        [1, 3, 4],
        [2, 4, 0],
        [3, 0, 1],
        [4, 1, 2],
    ]


RACKS = {0: "rack1", 1: "rack3", 2: "rack3", 3: "rack2", 4: "rack2", 5: "rack1"}
OTHER_RACKS = {0: "rack1", 1: "rack2", 2: "rack2", 3: "rack3", 4: "rack3", 5: "rack1"}
"""Those of Kafka's own test (AdminRackAwareTest, 0.10.0 to 3.9)."""


def assigned(racks, partitions, replicas, start, shift, first=0):
    """An assignment to brokers of which each has a rack."""
    return assign_replicas(sorted(racks), partitions, replicas, start, shift, first, racks)


def test_preferred_replicas_are_alternated_by_rack():
    assert [part[0] for part in assigned(RACKS, 6, 1, 0, 0)] == [0, 3, 1, 5, 4, 2]
    five = {broker: rack for broker, rack in RACKS.items() if broker != 5}
    assert [part[0] for part in assigned(five, 5, 1, 0, 0)] == [0, 3, 1, 4, 2]


def test_the_assignment_of_kafkas_own_test():
    expected = [[0, 3, 1], [3, 1, 5], [1, 5, 4], [5, 4, 2], [4, 2, 0], [2, 0, 3], [0, 4, 2]]
    assert assigned(RACKS, 7, 3, 0, 0) == expected


LARGE = dict(enumerate((1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 1, 3)))


@pytest.mark.parametrize(
    "racks, partitions, replicas, first",
    [
        (OTHER_RACKS, 6, 3, 0),
        (OTHER_RACKS, 12, 2, 0),
        (OTHER_RACKS, 6, 2, 0),
        ({0: "rack1", 1: "rack2", 4: "rack3"}, 3, 2, 0),
        ({b + 6: rack for b, rack in OTHER_RACKS.items()}, 12, 2, 12),
        (LARGE, 96, 3, 0),
    ],
)
def test_racks_of_kafkas_own_test_get_as_many_replicas_each(racks, partitions, replicas, first):
    """Whole rounds on racks of the same size: leaders and replicas are even, whatever is drawn."""
    for start, shift in [(0, 0), (2, 0), (1, 2), (len(racks) - 1, len(racks) - 1)]:
        assignment = assigned(racks, partitions, replicas, start, shift, first)
        assert spread(Counter(part[0] for part in assignment), racks) == 0
        assert spread(Counter(b for part in assignment for b in part), racks) == 0
        for part in assignment:
            assert_spread(part, racks, replicas)


@pytest.mark.parametrize(
    "racks, partitions, replicas",
    [
        (OTHER_RACKS, 13, 3),
        (OTHER_RACKS | {1: "rack1"}, 12, 3),
        (OTHER_RACKS | {5: "rack2"}, 6, 5),
        (OTHER_RACKS | {5: "rack2"}, 6, 2),
        (dict.fromkeys(range(6), "rack1"), 6, 3),
        (dict(enumerate("abcaa")), 6, 4),
    ],
)
def test_uneven_racks_of_kafkas_own_test_are_all_used(racks, partitions, replicas):
    for start, shift in product(range(len(racks)), repeat=2):
        for part in assigned(racks, partitions, replicas, start, shift):
            assert_spread(part, racks, replicas)


def test_replicas_are_uneven_on_uneven_racks():
    """Kafka does not promise otherwise: the broker that is alone on its rack is in each partition."""
    assignment = assigned({0: "a", 1: "a", 2: "b"}, 3, 2, 0, 0)
    assert Counter(b for part in assignment for b in part) == {2: 3, 1: 2, 0: 1}


@pytest.mark.parametrize("some", [{0: "a"}, {1: "a"}])
def test_some_without_rack_are_refused(some):
    with pytest.raises(SomeWithoutRack, match="no rack of broker"):
        assign_replicas(range(2), 1, 1, 0, 0, racks=some)


def test_one_rack_for_all_is_as_none():
    for n, partitions, replicas, start, shift in SMALL:
        plain = assign_replicas(range(n), partitions, replicas, start, shift)
        assert plain == assigned(dict.fromkeys(range(n), "a"), partitions, replicas, start, shift)


def test_followers_start_farther_only_where_new_partitions_begin_a_round():
    """Partitions that are added begin with the shift that is the place of the preferred broker, in whatever round."""
    assert assign_replicas(range(3), 5, 2, 0, 0)[4] == [1, 0]
    assert assign_replicas(range(3), 1, 2, 0, 0, 4) == [[1, 2]]
    assert assign_replicas(range(3), 2, 2, 0, 0, 3) == [[0, 2], [1, 0]]
    assert assign_replicas(range(3), 3, 2, 1, 1, 5) == [[0, 2], [1, 2], [2, 0]]


@pytest.mark.parametrize(
    "brokers, preferred, place", [([0, 1, 2], 1, 1), ([0, 2, 5], 1, 1), ([3, 4], 1, 0), ([1, 2], 4, 0), ([1, 2], 2, 1)]
)
def test_added_partitions_begin_at_the_preferred_broker_or_the_next_by_id(brokers, preferred, place):
    assert place_of_added(brokers, preferred) == place


def by_kafkas_text(n, partitions, replicas, start, shift, first):
    """As Kafka counts without racks: by the numbers of partitions."""
    found = []
    for i in range(first, first + partitions):
        shift += i > 0 and i % n == 0
        leader = (i + start) % n
        found.append([leader, *((leader + 1 + (shift + j) % (n - 1)) % n for j in range(replicas - 1))])
    return found


@pytest.mark.parametrize("n", range(2, 5))
def test_without_racks_it_is_counted_by_the_numbers_of_partitions(n):
    sizes = product(range(1, n + 2), range(1, n + 1), range(n), range(n), [*range(2 * n + 2), 100, 101, 102, 103])
    for partitions, replicas, start, shift, first in sizes:
        expected = by_kafkas_text(n, partitions, replicas, start, shift, first)
        assert assign_replicas(range(n), partitions, replicas, start, shift, first) == expected


def test_a_broker_without_company_gets_one_replica():
    assert assign_replicas([7], 2, 1, 0, 3) == [[7], [7]]
    assert assigned({7: "a"}, 2, 1, 0, 3) == [[7], [7]]


@pytest.mark.parametrize("brokers, partitions, replicas", [(2, 1, 3), (2, 0, 1), (2, 1, 0), (0, 1, 1)])
def test_impossible_sizes_are_refused(brokers, partitions, replicas):
    with pytest.raises(ValueError, match="no .* partitions with"):
        assign_replicas(range(brokers), partitions, replicas, 0, 0)
    with pytest.raises(ValueError, match="no .* partitions with"):
        assigned(dict.fromkeys(range(brokers), "a"), partitions, replicas, 0, 0)


@pytest.mark.parametrize("n", range(1, 5))
def test_small_racks_are_spread(n):
    for names in product("abc", repeat=n):
        racks = dict(enumerate(names))
        for replicas, start, shift in product(range(1, n + 1), range(n), range(n)):
            for part in assigned(racks, 2 * n, replicas, start, shift):
                assert_spread(part, racks, replicas)


def assert_spread(part, racks, replicas):
    """The replicas are distinct, and on as many racks as there can be."""
    assert len(set(part)) == len(part) == replicas
    assert len({racks[b] for b in part}) == min(replicas, len(set(racks.values())))


@st.composite
def racked(draw):
    """Brokers with racks, and sizes that fit."""
    racks = dict(enumerate(draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=9))))
    replicas = draw(st.integers(1, len(racks)))
    return racks, draw(st.integers(1, 30)), replicas, draw(st.integers(0, 50)), draw(st.integers(0, 50))


@given(racked())
def test_any_assignment_keeps_the_laws(sizes):
    racks, partitions, replicas, start, shift = sizes
    plain = assign_replicas(sorted(racks), partitions, replicas, start, shift)
    aware = assigned(racks, partitions, replicas, start, shift)
    for assignment in (plain, aware):
        assert len(assignment) == partitions
        assert spread(Counter(part[0] for part in assignment), racks) <= 1
    for part in aware:
        assert_spread(part, racks, replicas)


@given(st.sets(st.integers(0, 6), min_size=1), st.sets(st.integers(0, 8), min_size=1), st.data())
def test_a_topic_that_a_running_cluster_creates_is_assigned_by_the_same_rule(live, new, data):
    replicas = data.draw(st.integers(1, min(3, len(live))))
    start, shift = data.draw(st.integers(0, 6)), data.draw(st.integers(0, 6))
    (model,) = find("partition", "creating")
    state = new_state(
        model.state, {"brokers": 7, "replicas": 3, "partitions": 9, "epochs": 1, "leader_epochs": 1, "faults": 1}
    )
    assign_new(state.zk, members(new), replicas, start, shift, members(live))
    given_out = [state.zk.assignments[p].slots[:replicas] for p in sorted(new)]
    assert given_out == assign_replicas(sorted(live), len(new), replicas, start, shift)
    assert all((assignment.length > 0) == (p in new) for p, assignment in enumerate(state.zk.assignments))


def members(numbers):
    found = 0
    for number in numbers:
        found = with_member(found, number)
    return found
