import ast
from copy import deepcopy
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.checker.compile.lanes import Lanes
from kafkaproof.checker.compile.layout import Generated, Words
from kafkaproof.checker.compile.packing import MARK, Packing
from kafkaproof.checker.compile.record import dtype
from kafkaproof.spec.language.domains import Array, Bound, Flag, Number, Record, Sequence
from kafkaproof.spec.language.layout import leaves
from kafkaproof.spec.language.plain import get, new_state, put, values_of
from kafkaproof.spec.replication.replication import STATE
from tests.checker import alone
from tests.spec.declarations import SCOPE, declared_states, records, states

REPLICATION_SCOPE = {"brokers": 3, "log": 2, "records": 2, "epochs": 2}


def as_record(declaration, state, scope=SCOPE):
    record = new_record(declaration, scope)
    for leaf in leaves(declaration, scope):
        put(record, leaf.path, get(state, leaf.path))
    return record


def new_record(declaration, scope=SCOPE):
    return np.zeros(1, dtype(declaration, scope)).view(np.recarray)[0]


def interpreted(packing):
    """The generated pack and unpack, run as Python on plain states."""
    lanes = {name: asked for name, asked in packing.called.items() if name != "what_is_outside"}
    names = {name: PLAIN[asked.__func__](asked.__self__) for name, asked in lanes.items()}
    exec(packing.range_source() + packing.pack_source() + packing.unpack_source(), names)
    return names["pack"], names["unpack"]


@st.composite
def near(draw, declaration, state, scope=SCOPE):
    """A state that shares some of its leaves with another."""
    other, kept = draw(states(declaration, scope)), draw(st.sets(st.sampled_from(leaves(declaration, scope))))
    for leaf in kept:
        put(other, leaf.path, get(state, leaf.path))
    return other


def of_lanes(lanes, state):
    return values_of(state)[lanes.first : lanes.first + len(lanes.lows)]


def above(lanes, state):
    return [value - low for value, low in zip(of_lanes(lanes, state), lanes.lows)]


PLAIN = {
    Lanes.is_unlike: lambda lanes: lambda one, other: of_lanes(lanes, one) != of_lanes(lanes, other),
    Lanes.is_outside: lambda lanes: (
        lambda state: any(not 0 <= value <= span for value, span in zip(above(lanes, state), lanes.spans))
    ),
    Lanes.packed: lambda lanes: (
        lambda state: sum(value << shift for value, shift in zip(above(lanes, state), lanes.shifts))
    ),
}
"""What the vector instructions do, in Python."""


def compiled(packing):
    """The generated pack and unpack, as machine code for NumPy records."""
    pack = Generated.of(packing.pack_source(), **packing.called)
    unpack = Generated.of(packing.unpack_source())
    functions = alone.Alone(REPLICATION_SCOPE, [(pack, (STATE, STATE, Words(), Words())), (unpack, (Words(), STATE))])
    return partial(functions.call, 0), partial(functions.call, 1)


@given(declared_states())
def test_a_state_survives_packing(declared):
    record, state = declared
    packing = Packing(leaves(record, SCOPE))
    words = packing.pack(state)
    assert words.shape == (packing.words,) and words.dtype == np.uint64
    assert words[0] & np.uint64(MARK)
    assert packing.unpack(words) == values_of(state)


@given(declared_states(), st.data())
def test_the_generated_code_packs_the_same(declared, data):
    declaration, state = declared
    packing = Packing(leaves(declaration, SCOPE))
    pack, unpack = interpreted(packing)
    before, words, back = data.draw(near(declaration, state)), [0] * packing.words, new_state(declaration, SCOPE)
    assert pack(state, before, packing.pack(before).tolist(), words) == 0
    assert words == packing.pack(state).tolist()
    unpack(words, back)
    assert back == state


@given(declared_states(), st.data())
def test_a_value_out_of_its_range_names_the_bound_or_the_leaf(declared, data):
    declaration, before = declared
    packing = Packing(leaves(declaration, SCOPE))
    i = data.draw(st.integers(0, len(packing.leaves) - 1))
    leaf, below, state = packing.leaves[i], data.draw(st.booleans()), deepcopy(before)
    put(state, leaf.path, leaf.low - 1 if below else leaf.high + 1)
    answer = interpreted(packing)[0](state, before, packing.pack(before).tolist(), [0] * packing.words)
    cut = leaf.bound is not None and (leaf.spare or not below)
    assert answer == (1 + packing.bounds.index(leaf.bound) if cut else -1 - i)


@given(declared_states())
def test_a_numpy_record_holds_a_plain_state(declared):
    declaration, state = declared
    record, back = as_record(declaration, state), new_state(declaration, SCOPE)
    for leaf in leaves(declaration, SCOPE):
        put(back, leaf.path, int(get(record, leaf.path)))
    assert back == state


@given(records)
def test_leaves_are_distinct_and_as_many_as_a_state_has(declaration):
    found = leaves(declaration, SCOPE)
    assert len(found) == len(values_of(new_state(declaration, SCOPE))) == len({leaf.path for leaf in found})
    for leaf in found:
        assert ast.unparse(ast.parse(f"s.{leaf.expression}", mode="eval")) == f"s.{leaf.expression}"


@given(records)
def test_spare_leaves_take_no_room(declaration):
    packing = Packing(leaves(declaration, SCOPE))
    assert packing.bits == sum((l.high - l.low).bit_length() for l in packing.leaves if not l.spare)
    assert 64 * packing.words >= packing.bits + 1
    assert not any(place.leaf.spare for place in packing.places)


def test_an_array_sized_by_a_bound_has_a_spare_slot():
    declaration = Record(
        plain=(Array(Flag(), "ids"), "sized by a sort"), log=(Sequence(Number(0, 9), Bound("size")), "sized by a bound")
    )
    found = {leaf.expression: leaf for leaf in leaves(declaration, SCOPE)}
    assert list(found) == [
        "plain[0]",
        "plain[1]",
        "plain[2]",
        "log.length",
        "log.slots[0]",
        "log.slots[1]",
        "log.slots[2]",
    ]
    assert [leaf.expression for leaf in found.values() if leaf.spare] == ["log.slots[2]"]
    assert found["log.slots[2]"].bound == found["log.length"].bound == "size"
    assert found["log.slots[1]"].bound is None


def test_everything_in_a_spare_slot_is_spare():
    pairs = Array(Record(a=(Flag(), ""), b=(Array(Flag(), "few"), "")), Bound("size"))
    spare = [leaf.expression for leaf in leaves(Record(pairs=(pairs, "")), SCOPE) if leaf.spare]
    assert spare == ["pairs[2].a", "pairs[2].b[0]"]


@pytest.fixture(scope="module")
def replication():
    packing = Packing(leaves(STATE, REPLICATION_SCOPE))
    return packing, *compiled(packing)


@given(states(STATE, REPLICATION_SCOPE), st.data())
def test_the_compiled_code_packs_the_same(replication, state, data):
    packing, pack, unpack = replication
    before = data.draw(near(STATE, state, REPLICATION_SCOPE))
    s, t = alone.records(STATE, REPLICATION_SCOPE, [before, state]).reshape(2, 1)
    words = np.zeros(packing.words, np.uint64)
    assert pack(t, s, packing.pack(before), words) == 0
    assert (words == packing.pack(state)).all()
    back = np.zeros(1, t.dtype)
    unpack(words, back)
    assert [get(back.view(np.recarray)[0], leaf.path) for leaf in packing.leaves] == values_of(state)


def test_an_array_of_arrays_has_room_for_all():
    declaration = Record(table=(Array(Array(Flag(), "ids"), "ids"), "rows"))
    assert new_record(declaration).table.size == len(leaves(declaration, SCOPE))
