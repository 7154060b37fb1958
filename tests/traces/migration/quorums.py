"""Writes segments of a quorum's own log, as Kafka does."""

import struct
from base64 import urlsafe_b64decode
from pathlib import Path

from kafka.record.default_records import DefaultRecordBatchBuilder
from kafka.record.util import calc_crc32c

from kafkaproof.traces.migration.definitions import DEFINITIONS

NUMBERS = {name: number for number, (name, _, _) in DEFINITIONS.items()}


def varint(number: int) -> bytes:
    """An unsigned number of variable length."""
    found = b""
    while number > 0x7F:
        found += bytes([number & 0x7F | 0x80])
        number >>= 7
    return found + bytes([number])


def text(value: str | None) -> bytes:
    return varint(0) if value is None else varint(len(value.encode()) + 1) + value.encode()


def uuid(value: str) -> bytes:
    return urlsafe_b64decode(value + "==")


def ids(*values: int) -> bytes:
    return varint(len(values) + 1) + b"".join(struct.pack("!i", each) for each in values)


def value(name: str, body: bytes, version: int = 0, tags: bytes = b"\0", frame: int = 1) -> bytes:
    """The value of a record."""
    return varint(frame) + varint(NUMBERS[name]) + varint(version) + body + tags


TOPIC_ID = "8pIdIUaFRC6LWSxJl5Imtw"


def topic(name: str, id: str = TOPIC_ID) -> bytes:
    return value("Topic", text(name) + uuid(id))


def partition(number: int, isr: tuple[int, ...], leader: int, id: str = TOPIC_ID) -> bytes:
    body = struct.pack("!i", number) + uuid(id) + ids(0, 1) + ids(*isr) + ids() + ids()
    return value("Partition", body + struct.pack("!iii", leader, 5, 7))


def change(number: int, *tags: tuple[int, bytes], id: str = TOPIC_ID) -> bytes:
    tagged = varint(len(tags)) + b"".join(varint(tag) + varint(len(each)) + each for tag, each in tags)
    return value("PartitionChange", struct.pack("!i", number) + uuid(id), tags=tagged)


def config(name: str, key: str, to: str | None) -> bytes:
    return value("Config", struct.pack("!b", 2) + text(name) + text(key) + text(to))


def begin(name: str | None) -> bytes:
    part = text(name)
    return value("BeginTransaction", b"", tags=b"\1\0" + varint(len(part)) + part)


def batch(base: int, epoch: int, values: list[bytes], leader: int | None = None) -> bytes:
    """A batch of records; with a `leader`, the one that begins an epoch."""
    builder = DefaultRecordBatchBuilder(2, 0, False, -1, -1, -1, 1 << 20)
    key = None if leader is None else struct.pack("!hh", 0, 2)
    for offset, each in enumerate(values):
        builder.append(offset, timestamp=1_000 + base, key=key, value=each, headers=[])
    data = bytearray(builder.build())
    struct.pack_into("!q", data, 0, base)
    struct.pack_into("!i", data, 12, epoch)
    if leader is not None:
        (attributes,) = struct.unpack_from("!h", data, 21)
        struct.pack_into("!h", data, 21, attributes | 0x20)
    struct.pack_into("!I", data, 17, calc_crc32c(bytes(data[21:])))
    return bytes(data)


def led(base: int, epoch: int, leader: int) -> bytes:
    """The record by which a leader begins its epoch."""
    return batch(base, epoch, [struct.pack("!hi", 0, leader) + b"\1\1\0"], leader)


def write(directory: Path, *batches: bytes, name: str = "00000000000000000000.log") -> Path:
    """Write a segment, or a snapshot; the directory."""
    place = directory / "__cluster_metadata-0"
    place.mkdir(parents=True, exist_ok=True)
    (place / name).write_bytes(b"".join(batches))
    return place
