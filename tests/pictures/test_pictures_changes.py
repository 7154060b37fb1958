"""Changes between two states."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.checker.pictures.changes import ABSENT, changes, differences

plain = st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab/. ", max_size=2)
values = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab1/", max_size=2), inner, max_size=4)
)
states = st.dictionaries(st.sampled_from("abc"), values, max_size=3)
records = st.lists(st.fixed_dictionaries({"id": st.integers(0, 3)}), max_size=5)


def applied(before, found):
    state = copy.deepcopy(before)
    for keys, old, new in found:
        holder = state
        for key in keys[:-1]:
            holder = holder[key]
        key, is_list = keys[-1], isinstance(holder, list)
        if old is not ABSENT:
            assert holder[key] == old
        if new is ABSENT:
            del holder[key]
        elif old is ABSENT and is_list:
            holder.insert(key, copy.deepcopy(new))
        else:
            holder[key] = copy.deepcopy(new)
    return state


def is_same(one, other):
    return repr(sorted_keys(one)) == repr(sorted_keys(other))


def sorted_keys(value):
    if isinstance(value, dict):
        return {key: sorted_keys(value[key]) for key in sorted(value)}
    return [sorted_keys(item) for item in value] if isinstance(value, list) else value


@given(states, states)
def test_applying_the_changes_gives_the_new_state(before, after):
    assert is_same(applied(before, differences(before, after)), after)


@given(records, records)
def test_applying_the_changes_to_lists_of_records(before, after):
    before, after = {"queue": before}, {"queue": after}
    assert applied(before, differences(before, after)) == after


@given(states)
def test_a_state_does_not_differ_from_itself(state):
    assert changes(state, copy.deepcopy(state)) == []


@given(states, states)
def test_paths_are_distinct_unless_a_place_is_emptied_and_filled(before, after):
    found = [(path, new is ABSENT) for path, _, new in changes(before, after)]
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    "before, after, expected",
    [
        (
            {"brokers": [{"epoch": 0}, {"epoch": 0}]},
            {"brokers": [{"epoch": 0}, {"epoch": 1}]},
            [("brokers[1].epoch", 0, 1)],
        ),
        ({"hw": [0, 0]}, {"hw": [0, 1]}, [("hw[1]", 0, 1)]),
        ({"isr": [0, 1, 2]}, {"isr": [0, 2]}, [("isr", [0, 1, 2], [0, 2])]),
        ({"queue": [{"n": 1}, {"n": 2}]}, {"queue": [{"n": 2}]}, [("queue[0]", {"n": 1}, ABSENT)]),
        ({"queue": [{"n": 1}]}, {"queue": [{"n": 1}, {"n": 2}]}, [("queue[1]", ABSENT, {"n": 2})]),
        ({"a": True}, {"a": 1}, [("a", True, 1)]),
        ({"a": None}, {}, [("a", None, ABSENT)]),
        ({"z": {"/controller": 1}}, {"z": {"/controller": 2}}, [("z[/controller]", 1, 2)]),
        ({"brokers": {"1": 1}}, {"brokers": {"1": 2}}, [("brokers[1]", 1, 2)]),
        ({"min.isr": 1}, {"min.isr": 2}, [('["min.isr"]', 1, 2)]),
    ],
)
def test_paths_and_values(before, after, expected):
    found = changes(before, after)
    assert found == expected
    assert [type(new) for _, _, new in found] == [type(new) for _, _, new in expected]
