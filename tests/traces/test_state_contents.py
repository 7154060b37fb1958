"""What is read of contents in their usual form is what a reader of JSON finds in them."""

import json

import numpy as np
import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from kafkaproof.traces.evidence.state_columns import States
from kafkaproof.traces.reading.meanings import as_kafka
from kafkaproof.traces.zookeeper.znodes.contents import is_recovering, parsed_state_in, state_in

NUMBERS = st.integers(-3, 12) | st.integers()
VALUES = NUMBERS | st.none() | st.text(max_size=2) | st.lists(NUMBERS, max_size=2)
USUAL = st.fixed_dictionaries(
    {
        "controller_epoch": NUMBERS,
        "leader": NUMBERS,
        "version": st.just(1),
        "leader_epoch": NUMBERS,
        "isr": st.lists(NUMBERS, max_size=4),
    }
)
NAMES = st.sampled_from(["controller_epoch", "leader", "version", "leader_epoch", "isr", "leader_recovery_state"])


def compact(found) -> bytes:
    return json.dumps(found, separators=(",", ":")).encode()


CONTENTS = (
    USUAL.map(compact)
    | USUAL.map(json.dumps).map(str.encode)
    | st.dictionaries(NAMES, VALUES | st.lists(VALUES, max_size=3)).map(compact)
)


@given(CONTENTS)
@example(b'{"controller_epoch":1,"leader":-1,"version":1,"leader_epoch":0,"isr":[]}')
@example(b'{"controller_epoch":01,"leader":1,"version":1,"leader_epoch":0,"isr":[1]}')
@example(b'{"controller_epoch":1,"leader":1,"version":1,"leader_epoch":0,"isr":[01]}')
@example(b'{"controller_epoch":1,"leader":1,"version":1,"leader_epoch":0,"isr":[1,]}')
@example(b'{"controller_epoch":1,"leader":1,"version":1,"leader_epoch":0,"isr":[1]}\n')
@example(b'{"controller_epoch":1,"leader":-0,"version":1,"leader_epoch":0,"isr":[-0,2]}')
def test_a_state_is_what_a_reader_of_json_finds(data):
    assert state_in(data) == parsed_state_in(data)


@given(USUAL.map(compact), st.data())
def test_so_is_one_with_a_byte_changed(data, draw):
    place, byte = draw.draw(st.integers(0, len(data) - 1)), draw.draw(st.sampled_from(list(b'0159-,[]{}": .e')))
    changed = data[:place] + bytes([byte]) + data[place + 1 :]
    assert state_in(changed) == parsed_state_in(changed)


@given(st.lists(st.none() | st.binary(max_size=2) | CONTENTS, max_size=6), st.lists(st.integers(0, 5)))
@example([b'{"controller_epoch":01,"leader":1,"version":1,"leader_epoch":0,"isr":[1]}'], [])
@example([b'{"controller_epoch":1,"leader":1,"version":1,"leader_epoch":0,"isr":[1]}\n'], [])
@example([b'{"controller_epoch":1,"leader":-0,"version":1,"leader_epoch":0,"isr":[-0,2]}'], [])
@example([b'{"controller_epoch":1,"leader":1,"version":1,"leader_epoch":0,"isr":[1]}}'], [])
@example([b'{{"controller_epoch":1,"leader":1,"version":1,"leader_epoch":0,"isr":[1]}'], [])
@example([b'{"controller_epoch":1,"leader":1,"version":1,"leader_epoch":%d,"isr":[%d]}' % (2**31, 2**31)], [])
def test_the_columns_of_states_are_what_is_read_of_each(different, more):
    contents = different + [different[place] for place in more if place < len(different)]
    paths = pa.array(["/brokers/topics/t/partitions/0/state"] * len(contents), pa.string()).dictionary_encode()
    columns = as_kafka(paths, pa.array(contents, pa.binary()))
    states = [content and state_in(content) for content in contents]
    for name in ("leader", "leader_epoch", "controller_epoch"):
        assert columns[name].to_pylist() == [fitting(getattr(state, name)) if state else None for state in states]
    listed = [[fitting(broker) for broker in state.isr] if state else None for state in states]
    assert columns["isr"].to_pylist() == [None if isr and None in isr else isr for isr in listed]


def fitting(number: int) -> int | None:
    return number if -(2**31) <= number < 2**31 else None


@given(st.lists(st.none() | CONTENTS | USUAL.map(compact), max_size=6))
def test_states_of_a_stream_are_what_is_read_of_each(contents):
    found, states = States(pa.array([*contents, None], pa.binary())), [*map(state_in, contents), None]
    assert found.at(np.arange(len(states))) == [found[code] for code in range(len(states))] == states
    assert found.valid.tolist() == [state is not None for state in states]
    assert found.recovering.tolist() == [s is not None and is_recovering(c) for s, c in zip(states, [*contents, None])]
    assert found.isrs(np.arange(len(states))) == [state.isr if state else () for state in states]
    for state, held, repeats, leads in zip(states, found.held, found.repeats, found.leads):
        if state:
            assert found.different[held] == (state.leader, frozenset(state.isr))
            assert (repeats, leads) == (len(set(state.isr)) < len(state.isr), state.leader in state.isr)
