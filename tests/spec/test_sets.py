from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.spec.language import sets

IDS = st.integers(0, 9)
MEMBERS = st.sets(IDS)


def mask(members):
    return sum(1 << x for x in members)


@given(MEMBERS, IDS)
def test_a_mask_is_a_set(members, x):
    assert sets.contains(mask(members), x) == (x in members)
    assert sets.is_empty(mask(members)) == (not members)
    assert sets.with_member(mask(members), x) == mask(members | {x})
    assert sets.without_member(mask(members), x) == mask(members - {x})


@given(MEMBERS, MEMBERS)
def test_two_sets(members, others):
    assert sets.union(mask(members), mask(others)) == mask(members | others)
    assert sets.intersection(mask(members), mask(others)) == mask(members & others)
    assert sets.difference(mask(members), mask(others)) == mask(members - others)


@given(IDS)
def test_sets_that_are_made(x):
    assert sets.only(x) == mask({x})
    assert sets.everybody(x) == mask(range(x))
