"""Keys and values of `__consumer_offsets`: written and read again, in every version; what is neither is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.spec.kafka.offset_values import (
    GroupValue,
    Key,
    MemberValue,
    OffsetValue,
    read_key,
    read_value,
    write_key,
    write_value,
)

LONG = st.integers(-(2**63), 2**63 - 1)
INT = st.integers(0, 2**31 - 1)
NAME = st.text(max_size=200)


@st.composite
def offsets(draw):
    version = draw(st.integers(0, 4))
    epoch = draw(INT) if version >= 3 else -1
    return OffsetValue(version, draw(LONG), epoch, draw(NAME), draw(LONG), draw(LONG) if version == 1 else None)


@st.composite
def groups(draw):
    version = draw(st.integers(0, 4))
    sessions = draw(st.lists(INT, max_size=3))
    members = tuple(
        MemberValue(
            draw(NAME),
            draw(st.none() | NAME) if version >= 3 else None,
            draw(NAME),
            draw(NAME),
            draw(INT) if version >= 1 else session,
            session,
            draw(st.binary(max_size=300)),
            draw(st.binary(max_size=9)),
        )
        for session in sessions
    )
    return GroupValue(
        version,
        draw(NAME),
        draw(INT),
        draw(st.none() | NAME),
        draw(st.none() | NAME),
        draw(LONG) if version >= 2 else -1,
        members,
    )


@given(NAME, NAME, INT, offsets())
def test_offsets_are_read_as_written(group, topic, partition, value):
    key = Key(group, (topic, partition))
    assert read_key(write_key(key)) == key
    assert read_value(key, write_value(value)) == value


@given(NAME, groups())
def test_groups_are_read_as_written(name, value):
    assert read_key(write_key(Key(name))) == Key(name)
    assert read_value(Key(name), write_value(value)) == value


@given(groups() | offsets(), st.data())
def test_what_is_cut_is_refused(value, data):
    key = Key("g") if isinstance(value, GroupValue) else Key("g", ("t", 0))
    written = write_value(value)
    with pytest.raises(ValueError):
        read_value(key, written[: data.draw(st.integers(0, len(written) - 1))])
    with pytest.raises(ValueError, match="left over"):
        read_value(key, written + b"\0")


def test_versions_and_kinds():
    assert read_key(b"\0\3anything") is None, "a key of another kind"
    assert read_key(write_key(Key("g", ("t", 1))).replace(b"\0\1", b"\0\0", 1)) == Key("g", ("t", 1)), "version 0"
    assert read_value(Key("g"), None) is None
    with pytest.raises(ValueError, match="version 5"):
        read_value(Key("g"), b"\0\5")
    flexible = bytes.fromhex("0004 00000000000000ff 00000002 02 6d 0000000000000007 00".replace(" ", ""))
    assert read_value(Key("g", ("t", 0)), flexible) == OffsetValue(4, 255, 2, "m", 7)
