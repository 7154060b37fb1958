"""Heads of record batches (magic 2): what producers, leaders and followers tell each other of records, without them.

Source: org.apache.kafka.common.record.DefaultRecordBatch, 0.11 to 3.9.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import NamedTuple

HEADER = struct.Struct("!qiibIhiqqqhii")
PREFIX = 12
"""Bytes before those that the length counts."""
NO_PRODUCER = -1
"""The producer id in batches of producers that have none."""
_SEQUENCES = 1 << 31


class Numbered(NamedTuple):
    """What a batch says of its producer: `id`, or NO_PRODUCER, its `epoch`, and its `first` and `last` sequence number."""

    id: int
    epoch: int
    first: int
    last: int


class CorruptBatch(ValueError):
    """Bytes that are no whole and sound record batch; the text says what is wrong."""


@dataclass(frozen=True)
class Batch:
    """What the header of a batch says: `size` in bytes, `count` offsets, `crc` of its records and their attributes; its
    `producer`.
    """

    base_offset: int
    size: int
    epoch: int
    crc: int
    count: int
    timestamp: int
    producer: Numbered


def read_header(data: bytes) -> Batch:
    """The header at the beginning of some bytes, not compared with what follows; raises CorruptBatch."""
    if len(data) < HEADER.size:
        raise CorruptBatch("the header is not whole")
    base, length, epoch, magic, crc, _, last, _, timestamp, *numbers, _ = HEADER.unpack_from(data)
    if magic != 2 or length < HEADER.size - PREFIX or last < 0:
        raise CorruptBatch(f"no batch of magic 2, but of magic {magic} and {length} bytes")
    id, producer_epoch, first = numbers
    producer = Numbered(id, producer_epoch, first, (first + last) % _SEQUENCES if id != NO_PRODUCER else first)
    return Batch(base, PREFIX + length, epoch, crc, last + 1, timestamp, producer)


def heads_in(data: bytes) -> list[Batch]:
    """The headers of the batches that are whole in some bytes; raises CorruptBatch."""
    found, start = [], 0
    while len(data) - start >= HEADER.size:
        head = read_header(data[start : start + HEADER.size])
        if start + head.size > len(data):
            break
        found.append(head)
        start += head.size
    return found
