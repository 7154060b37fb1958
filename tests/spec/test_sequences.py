from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.spec.language.domains import Bound, Number, Sequence
from kafkaproof.spec.language.plain import new_state
from kafkaproof.spec.language.sequences import begins_with, pop, push

SCOPE = {"room": 4}


@given(st.lists(st.integers(1, 9) | st.none(), max_size=30))
def test_a_sequence_is_a_queue_with_zeros_beyond_its_end(operations):
    sequence, expected = new_state(Sequence(Number(0, 9), Bound("room")), SCOPE), []
    for value in operations:
        if value is None and expected:
            assert pop(sequence) == expected.pop(0)
        elif value is not None and len(expected) < SCOPE["room"]:
            push(sequence, value)
            expected.append(value)
        assert sequence.slots == expected + [0] * (SCOPE["room"] + 1 - len(expected))
        assert sequence.length == len(expected)


def test_a_push_beyond_the_bound_lands_in_the_spare_slot():
    sequence = new_state(Sequence(Number(0, 9), Bound("room")), SCOPE)
    for value in (1, 2, 3, 4, 5):
        push(sequence, value)
    assert sequence.length == 5
    assert sequence.slots[4] == 5


@given(st.lists(st.integers(1, 3), max_size=4), st.lists(st.integers(1, 3), max_size=4))
def test_a_sequence_begins_with_another_as_lists_do(whole, beginning):
    sequence, target = (new_state(Sequence(Number(0, 9), Bound("room")), SCOPE) for _ in range(2))
    for values, into in ((whole, sequence), (beginning, target)):
        for value in values:
            push(into, value)
    assert begins_with(sequence, target) == (whole[: len(beginning)] == beginning)
