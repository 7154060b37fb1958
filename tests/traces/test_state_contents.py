"""What is read of contents in their usual form is what a reader of JSON finds in them."""

import json

from hypothesis import example, given
from hypothesis import strategies as st

from traces.znodes.contents import partition_state, partition_state_in
from traces.znodes.json_parts import json_in

NUMBERS = st.integers(-3, 12) | st.integers()
VALUES = NUMBERS | st.none() | st.text(max_size=2) | st.lists(NUMBERS, max_size=2)
USUAL = st.fixed_dictionaries({"controller_epoch": NUMBERS, "leader": NUMBERS, "version": st.just(1),
                               "leader_epoch": NUMBERS, "isr": st.lists(NUMBERS, max_size=4)})
NAMES = st.sampled_from(["controller_epoch", "leader", "version", "leader_epoch", "isr", "leader_recovery_state"])


def compact(found) -> bytes:
    return json.dumps(found, separators=(",", ":")).encode()


@given(USUAL.map(compact) | USUAL.map(json.dumps).map(str.encode)
       | st.dictionaries(NAMES, VALUES | st.lists(VALUES, max_size=3)).map(compact))
@example(b'{"controller_epoch":1,"leader":-1,"version":1,"leader_epoch":0,"isr":[]}')
@example(b'{"controller_epoch":01,"leader":1,"version":1,"leader_epoch":0,"isr":[1]}')
@example(b'{"controller_epoch":1,"leader":1,"version":1,"leader_epoch":0,"isr":[01]}')
@example(b'{"controller_epoch":1,"leader":1,"version":1,"leader_epoch":0,"isr":[1,]}')
@example(b'{"controller_epoch":1,"leader":1,"version":1,"leader_epoch":0,"isr":[1]}\n')
@example(b'{"controller_epoch":1,"leader":-0,"version":1,"leader_epoch":0,"isr":[-0,2]}')
def test_a_state_is_what_a_reader_of_json_finds(data):
    assert partition_state(data) == partition_state_in(json_in(data))


@given(USUAL.map(compact), st.data())
def test_so_is_one_with_a_byte_changed(data, draw):
    place, byte = draw.draw(st.integers(0, len(data) - 1)), draw.draw(st.sampled_from(list(b'0159-,[]{}": .e')))
    changed = data[:place] + bytes([byte]) + data[place + 1:]
    assert partition_state(changed) == partition_state_in(json_in(changed))
