import pickle
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.spec.language.domains import (
    NOBODY,
    Array,
    Bound,
    Choice,
    Flag,
    Id,
    Number,
    Record,
    Sequence,
    SetOf,
    Size,
    coded,
    named,
    values,
)
from tests.spec.declarations import SCOPE, scalars


@pytest.mark.parametrize(
    "domain, expected",
    [
        (Number(-1, 2), [-1, 0, 1, 2]),
        (Number(0, Bound("size")), [0, 1, 2]),
        (Number(0, Bound("size", -1)), [0, 1]),
        (Flag(), [0, 1]),
        (Id("ids"), [0, 1, 2]),
        (Id("ids", nobody=True), [NOBODY, 0, 1, 2]),
        (SetOf("few"), [0, 1]),
        (Choice("A", "B"), [0, 1]),
    ],
)
def test_a_scalar_domain_has_these_values(domain, expected):
    assert list(values(domain, SCOPE)) == expected


@pytest.mark.parametrize("domain", [Array(Flag(), "ids"), Record(a=(Flag(), "")), Sequence(Flag(), Bound("size"))])
def test_other_domains_have_no_values(domain):
    with pytest.raises(TypeError, match=type(domain).__name__):
        values(domain, SCOPE)


@given(scalars, st.data())
def test_a_name_stands_for_one_value(domain, data):
    value = data.draw(st.sampled_from(values(domain, SCOPE)))
    assert coded(domain, named(domain, value)) == value


def test_values_are_named_as_a_person_writes_them():
    assert named(Choice("OK", "LOST"), 1) == "LOST"
    assert named(Id("ids", nobody=True), NOBODY) is None
    assert named(SetOf("ids"), 0b101) == [0, 2]
    assert named(Flag(), 1) is True


def test_a_name_that_a_choice_does_not_have_is_an_error():
    with pytest.raises(ValueError):
        coded(Choice("OK"), "LOST")


def test_a_record_is_extended_by_new_fields_only():
    record = Record(a=(Flag(), "first"))
    assert list(record.extended(b=(Flag(), "second")).fields) == ["a", "b"]
    assert list(record.fields) == ["a"]
    with pytest.raises(ValueError, match="twice: a"):
        record.extended(a=(Flag(), "again"))


NUMBERS = st.dictionaries(st.text(min_size=1), st.integers(0, 9))


@given(NUMBERS, NUMBERS)
def test_a_size_is_a_mapping_that_can_be_a_key(numbers, others):
    size, turned = Size(**numbers), Size(**dict(reversed(numbers.items())))
    assert isinstance(size, Mapping) and dict(size) == numbers and list(size) == list(numbers)
    assert size == numbers == turned and hash(size) == hash(turned) and {size: 1}[turned] == 1
    assert (size == Size(**others)) == (numbers == others)
    assert size | others == Size(**(numbers | others)) and isinstance(size | others, Size) and size == numbers
    assert pickle.loads(pickle.dumps(size)) == size


def test_a_size_does_not_change():
    with pytest.raises(TypeError):
        Size(brokers=2)["brokers"] = 3
    assert repr(Size(brokers=2, epochs=1)) == "Size(brokers=2, epochs=1)"
