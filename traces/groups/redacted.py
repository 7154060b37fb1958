"""The records of groups with pseudonyms: their keys, members, subscriptions, assignments and committed offsets."""

import struct
from collections.abc import Iterable

from kafkaproof.spec.kafka.offset_values import (
    GroupValue,
    Key,
    MemberValue,
    OffsetValue,
    read_value,
    write_key,
    write_value,
)
from kafkaproof.traces.groups.numbers import CONSUMER, partitions_of, topics_of
from kafkaproof.traces.groups.replicas import Entry
from kafkaproof.traces.redaction.redactor import Redactor


def redacted_entry(redactor: Redactor, entry: Entry) -> Entry:
    """A record of a log, rewritten; markers and what cannot be read hold no name that is told."""
    record, key = entry.record, entry.key
    try:
        value = read_value(key, record.value) if key else None
    except ValueError:
        key = None
    if key is None:
        return entry
    named = Key(redactor.name("group", key.group), key.place and (redactor.name("topic", key.place[0]), key.place[1]))
    written = None if value is None else write_value(redacted_value(redactor, value))
    return entry._replace(record=record._replace(key=write_key(named), value=written))


def redacted_value(redactor: Redactor, value: GroupValue | OffsetValue) -> GroupValue | OffsetValue:
    """A value, rewritten; two that differ still do."""
    if isinstance(value, OffsetValue):
        return value._replace(metadata=value.metadata and redactor.name("data", value.metadata))
    return GroupValue(
        value.version,
        redactor.name("protocol-type", value.protocol_type),
        value.generation,
        _named(redactor, "protocol", value.protocol),
        _named(redactor, "member", value.leader),
        value.time,
        tuple(_member(redactor, member, value.protocol_type == CONSUMER) for member in value.members),
    )


def _named(redactor, sort, name):
    return None if name is None else redactor.name(sort, name)


def _member(redactor: Redactor, member: MemberValue, consumes: bool) -> MemberValue:
    """A member, rewritten; what others than consumers say of themselves is data."""
    topics = topics_of(member.subscription) if consumes else None
    return member._replace(
        id=redactor.name("member", member.id),
        instance=_named(redactor, "instance", member.instance),
        client=redactor.name("client", member.client),
        host=redactor.name("host", member.host),
        subscription=_subscription(redactor, member.subscription, topics),
        assignment=_assignment(redactor, member.assignment, partitions_of(member.assignment) if consumes else ()),
    )


def _subscription(redactor: Redactor, whole: bytes, topics: Iterable[str] | None) -> bytes:
    """A subscription of version 0, whose user data stand for the whole one."""
    if topics is None:
        return _data(redactor, whole)
    names = sorted(redactor.name("topic", topic) for topic in topics)
    return struct.pack("!hi", 0, len(names)) + b"".join(map(_text, names)) + _user_data(redactor, whole)


def _assignment(redactor: Redactor, whole: bytes, partitions: Iterable[tuple[str, int]]) -> bytes:
    """An assignment of version 0, whose user data stand for the whole one."""
    if not partitions:
        return _data(redactor, whole)
    places = sorted((redactor.name("topic", topic), number) for topic, number in partitions)
    written = b"".join(_text(topic) + struct.pack("!ii", 1, number) for topic, number in places)
    return struct.pack("!hi", 0, len(places)) + written + _user_data(redactor, whole)


def _text(text: str) -> bytes:
    return struct.pack("!h", len(text)) + text.encode()


def _user_data(redactor, whole):
    data = _data(redactor, whole)
    return struct.pack("!i", len(data)) + data


def _data(redactor, whole):
    return redactor.name("data", whole.hex()).encode() if whole else whole
