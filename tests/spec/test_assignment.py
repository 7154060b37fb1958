"""Laws of the assignment of replicas: distinct, balanced within one, racks spread."""

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.spec.catalogue import find
from kafkaproof.spec.language.plain import new_state
from kafkaproof.spec.language.sets import with_member
from kafkaproof.spec.partition.creation.zookeeper import assign_new
from kafkaproof.spec.topics.assignment import alternated_by_rack, assign_replicas, assign_replicas_to_racks

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


def test_brokers_are_alternated_by_rack():
    racks = {0: "a", 1: "b", 2: "c", 3: "b", 4: "c", 5: "a"}
    assert alternated_by_rack(racks) == [0, 1, 2, 5, 3, 4]


def test_a_broker_without_company_gets_one_replica():
    assert assign_replicas([7], 2, 1, 0, 3) == [[7], [7]]
    assert assign_replicas_to_racks({7: "a"}, 2, 1, 0, 3) == [[7], [7]]


@pytest.mark.parametrize("brokers, partitions, replicas", [(2, 1, 3), (2, 0, 1), (2, 1, 0), (0, 1, 1)])
def test_impossible_sizes_are_refused(brokers, partitions, replicas):
    with pytest.raises(ValueError, match="no .* partitions with"):
        assign_replicas(range(brokers), partitions, replicas, 0, 0)
    with pytest.raises(ValueError, match="no .* partitions with"):
        assign_replicas_to_racks(dict.fromkeys(range(brokers), "a"), partitions, replicas, 0, 0)


@pytest.mark.parametrize("n", range(1, 5))
def test_small_racks_are_spread(n):
    for names in product("abc", repeat=n):
        racks = dict(enumerate(names))
        for replicas, start, shift in product(range(1, n + 1), range(n), range(n)):
            for part in assign_replicas_to_racks(racks, 2 * n, replicas, start, shift):
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
    aware = assign_replicas_to_racks(racks, partitions, replicas, start, shift)
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
