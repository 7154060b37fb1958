import json

import pytest
from hypothesis import given

from kafkaproof.spec.language.domains import Array, Bound, Choice, Flag, Id, Number, Record, Sequence, SetOf
from kafkaproof.spec.language.layout import leaves
from kafkaproof.spec.language.plain import from_json, get, new_state, put, to_json, values_of
from tests.spec.declarations import SCOPE, declared_states

EXAMPLE = Record(
    role=(Choice("FOLLOWER", "LEADER"), "role"),
    leader=(Id("ids", nobody=True), "leader"),
    isr=(SetOf("ids"), "in sync"),
    log=(Sequence(Record(epoch=(Number(0, 9), "its epoch")), Bound("size")), "log"),
    up=(Array(Flag(), "few"), "who is up"),
)
EXAMPLE_JSON = {"role": "LEADER", "leader": None, "isr": [0, 2], "log": [{"epoch": 7}], "up": [True]}


@given(declared_states())
def test_json_keeps_a_state(declared):
    record, state = declared
    text = json.dumps(to_json(record, state, SCOPE))
    assert from_json(record, json.loads(text), SCOPE) == state


def test_json_is_written_as_a_person_would():
    state = new_state(EXAMPLE, SCOPE)
    state.role, state.leader, state.isr, state.up[0] = 1, -1, 0b101, 1
    state.log.length, state.log.slots[0].epoch = 1, 7
    assert to_json(EXAMPLE, state, SCOPE) == EXAMPLE_JSON


@pytest.mark.parametrize("change", [{"role": "LEARNER"}, {"leader": "one"}])
def test_json_with_an_unknown_name_is_an_error(change):
    with pytest.raises(ValueError):
        from_json(EXAMPLE, EXAMPLE_JSON | change, SCOPE)


def test_json_without_a_field_is_an_error():
    with pytest.raises(KeyError, match="up"):
        from_json(EXAMPLE, {name: EXAMPLE_JSON[name] for name in EXAMPLE_JSON if name != "up"}, SCOPE)


@given(declared_states())
def test_a_copy_is_equal_and_shares_nothing(declared):
    record, state = declared
    twin = state.copy()
    assert twin == state
    for leaf in leaves(record, SCOPE):
        put(twin, leaf.path, get(state, leaf.path) + 1)
        assert twin != state
        put(twin, leaf.path, get(state, leaf.path))
    assert twin == state


@given(declared_states())
def test_values_come_in_the_order_of_the_leaves(declared):
    record, state = declared
    assert values_of(state) == [get(state, leaf.path) for leaf in leaves(record, SCOPE)]


def test_states_of_different_records_differ():
    one, other = Record(a=(Flag(), "")), Record(b=(Flag(), ""))
    assert new_state(one, SCOPE) != new_state(other, SCOPE)
    assert new_state(one, SCOPE) == new_state(one, SCOPE)
