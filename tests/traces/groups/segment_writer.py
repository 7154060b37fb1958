"""Writes segments as brokers do: batches with right checksums, from records that a test has made or altered."""

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import copytree

from kafka.record import MemoryRecordsBuilder
from kafka.record.util import calc_crc32c

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
from kafkaproof.traces.groups.segments import Stored, read_segment

NAME = "00000000000000000000.log"
_EPOCH_AT, _CRC_AT, _ATTRIBUTES_AT, _SEQUENCE_AT = 12, 17, 21, 53
_TRANSACTIONAL, _CONTROL = 0x10, 0x20


@dataclass(frozen=True)
class Append:
    """One batch to be written: `base` is its first offset, `records` have their offsets and times in ms."""

    base: int
    records: tuple[Stored, ...]
    epoch: int = 0
    magic: int = 2
    codec: int = 0
    producer: int = -1
    sequence: int = -1
    commits: bool | None = None

    def encoded(self) -> bytes:
        """The bytes of it."""
        transactional = self.producer >= 0
        builder = MemoryRecordsBuilder(
            self.magic,
            self.codec,
            1 << 20,
            0 if self.magic == 2 else self.base,
            transactional,
            self.producer,
            0 if transactional else -1,
            self.sequence,
        )
        done = 0
        for record in self.records:
            if self.magic == 2:
                builder.skip(record.offset - self.base - done)
                done = record.offset - self.base + 1
            builder.append(record.time if self.magic else None, record.key, record.value)
        builder.close()
        written = bytearray(builder.buffer())
        if self.magic == 2:
            return self._stamped(written)
        if self.codec:
            struct.pack_into("!q", written, 0, self.records[-1].offset)
        return bytes(written)

    def _stamped(self, written: bytearray) -> bytes:
        struct.pack_into("!q", written, 0, self.base)
        struct.pack_into("!i", written, _EPOCH_AT, self.epoch)
        struct.pack_into("!i", written, _SEQUENCE_AT, self.sequence)
        if self.commits is not None:
            (attributes,) = struct.unpack_from("!h", written, _ATTRIBUTES_AT)
            struct.pack_into("!h", written, _ATTRIBUTES_AT, attributes | _CONTROL | _TRANSACTIONAL)
        struct.pack_into("!I", written, _CRC_AT, calc_crc32c(bytes(written[_ATTRIBUTES_AT:])))
        return bytes(written)


def appends_in(file: Path) -> list[Append]:
    """The batches of a segment of magic 2 that has no transactions."""
    content = file.read_bytes()
    return [
        Append(b.base, b.records, b.epoch, sequence=struct.unpack_from("!i", content, b.position + _SEQUENCE_AT)[0])
        for b in read_segment(file).batches
    ]


def write_segment(file: Path, appends: Iterable[Append]) -> None:
    """Write a segment."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"".join(append.encoded() for append in appends))


def altered(
    source: Path,
    target: Path,
    partition: int,
    change: Callable[[list[Append]], list[Append]],
    brokers: tuple[str, ...] = ("broker-1", "broker-2", "broker-3"),
) -> Path:
    """A copy of one partition of all brokers, in which some have another content; before, all have the same."""
    name = f"__consumer_offsets-{partition}"
    for replica in source.glob(f"*/{name}"):
        copytree(replica, target / replica.relative_to(source))
    write_segment(target / brokers[0] / name / NAME, change(appends_in(source / brokers[0] / name / NAME)))
    for broker in brokers[1:]:
        (target / broker / name / NAME).write_bytes((target / brokers[0] / name / NAME).read_bytes())
    return target


def at(appends: list[Append], offset: int) -> int:
    """The place of the batch that has an offset."""
    return next(n for n, a in enumerate(appends) if a.base <= offset <= a.records[-1].offset)


def renumbered(appends: Iterable[Append]) -> list[Append]:
    """The batches with offsets that follow each other."""
    found, offset = [], 0
    for append in appends:
        records = tuple(r._replace(offset=offset + n) for n, r in enumerate(append.records))
        found.append(replace(append, base=offset, records=records))
        offset += len(records)
    return found


def rewritten(
    appends: list[Append], offset: int, change: Callable[[GroupValue], GroupValue | OffsetValue | None]
) -> list[Append]:
    """The batches with another value in the record of an offset."""
    place = at(appends, offset)
    records = tuple(_with_value(r, change) if r.offset == offset else r for r in appends[place].records)
    return [*appends[:place], replace(appends[place], records=records), *appends[place + 1 :]]


def _with_value(record: Stored, change) -> Stored:
    return record._replace(value=write_value(change(read_value(read_key(record.key), record.value))))


def member(
    id: str, instance: str | None = None, topics: tuple[str, ...] = ("t",), assigned: tuple[int, ...] = ()
) -> MemberValue:
    """A consumer that subscribes to topics, and is assigned partitions of the first."""
    subscription = (
        struct.pack("!hi", 1, len(topics))
        + b"".join(struct.pack("!h", len(t)) + t.encode() for t in topics)
        + struct.pack("!ii", -1, 0)
    )
    topic = topics[0].encode()
    assignment = (
        struct.pack("!hih", 1, 1, len(topic))
        + topic
        + struct.pack(f"!i{len(assigned)}ii", len(assigned), *assigned, -1)
        if assigned
        else b""
    )
    return MemberValue(id, instance, id, "/127.0.0.1", 30_000, 10_000, subscription, assignment)


def group(
    generation: int,
    *members: MemberValue,
    leader: str | None = None,
    protocol: str = "range",
    version: int = 3,
    time: int = 0,
) -> GroupValue:
    """The record of a group; the first member leads unless another is named."""
    if not members:
        return GroupValue(version, "consumer", generation, None, None, time)
    return GroupValue(version, "consumer", generation, protocol, leader or members[0].id, time, members)


def offset(number: int, version: int = 3, time: int = 0) -> OffsetValue:
    """A committed offset."""
    return OffsetValue(version, number, -1, "", time, time + 60_000 if version == 1 else None)


class Writer:
    """Appends records at a growing time; each call is one batch, or as many messages before magic 2."""

    def __init__(self, name: str = "g", magic: int = 2, codec: int = 0):
        self.name, self.magic, self.codec = name, magic, codec
        self.appends: list[Append] = []
        self.offset, self.time, self.epoch = 0, 1_000_000, 0

    def put(self, *values: tuple[Key, GroupValue | OffsetValue | None], producer: int = -1) -> int:
        """One batch; its first offset."""
        records = tuple(
            Stored(self.offset + n, self.time, write_key(key), write_value(value))
            for n, (key, value) in enumerate(values)
        )
        return self._put(records, producer)

    def _put(self, records, producer=-1, commits=None):
        parts = [records] if self.magic == 2 else [(record,) for record in records]
        for part in parts:
            self.appends.append(
                Append(
                    part[0].offset,
                    part,
                    self.epoch,
                    self.magic,
                    self.codec,
                    producer,
                    0 if producer >= 0 else -1,
                    commits,
                )
            )
        self.offset += len(records)
        self.time += 100
        return self.offset - len(records)

    def group(self, value: GroupValue | None) -> int:
        """A record of the group, or its tombstone."""
        return self.put((Key(self.name), value and replace(value, time=self.time if value.version >= 2 else -1)))

    def commit(self, *partitions: int, topic: str = "t", version: int = 3, producer: int = -1) -> int:
        """Offsets of some partitions."""
        value = offset(7, version, self.time)
        return self.put(*((Key(self.name, (topic, n)), value) for n in partitions), producer=producer)

    def bury(self, *partitions: int, topic: str = "t", dies: bool = False) -> int:
        """Tombstones of offsets, and of the group if it dies."""
        keys = [Key(self.name, (topic, n)) for n in partitions] + [Key(self.name)] * dies
        return self.put(*((key, None) for key in keys))

    def mark(self, producer: int, commits: bool) -> int:
        """The marker of a transaction."""
        record = Stored(self.offset, self.time, struct.pack("!hh", 0, commits), b"\0" * 6)
        return self._put((record,), producer, commits)

    def write(self, directory: Path, broker: str = "broker-1", partition: int = 0, split: tuple[int, ...] = ()) -> Path:
        """Write one replica, in segments that begin at 0 and where `split` says."""
        starts = [self.appends[0].base if self.appends else 0, *split]
        for start, end in zip(starts, [*split, self.offset]):
            file = directory / broker / f"__consumer_offsets-{partition}" / f"{start:020}.log"
            write_segment(file, [a for a in self.appends if start <= a.base < end])
        return directory


def flip(file: Path, offset: int) -> None:
    """Another byte in the batch of an offset, and the same checksum."""
    content = bytearray(file.read_bytes())
    place = len(b"".join(a.encoded() for a in appends_in(file)[: at(appends_in(file), offset)]))
    content[place + 70] ^= 1
    file.write_bytes(content)
