"""Reads one segment file of a broker's log: batches of magic 2, and message sets of magic 0 and 1.

Source: org.apache.kafka.common.record.FileRecords, AbstractLegacyRecordBatch, 0.11 to 3.9;
        org.apache.kafka.common.record.DefaultRecordBatch, 0.11 to 3.9.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from kafka.errors import KafkaError
from kafka.record.default_records import DefaultRecordBatch
from kafka.record.legacy_records import LegacyRecordBatch

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.traces.zookeeper.preallocated import written_in

_FRAME = struct.Struct("!qi")
_MAGIC_AT, _LEAST, _MOST_MAGIC = 16, 14, 2
_UNREADABLE = (KafkaError, ValueError, IndexError, struct.error, AssertionError, OSError, EOFError, zlib.error)


class Stored(NamedTuple):
    """A record as it stands in a log; `time` in ms, -1 where there is none; `value` is None for a tombstone."""

    offset: int
    time: int
    key: bytes | None
    value: bytes | None


@dataclass(frozen=True, slots=True)
class Batch:
    """One append, or what the cleaner has left of it; of magic 0 and 1 one message, or one compressed set.

    `base` to `last` are its offsets, `position` in bytes in `segment`; `epoch` is the leader's, None before magic 2;
    `producer` is -1 unless it is idempotent; `commits` is what a marker says, None for other batches.
    """

    segment: Path
    position: int
    base: int
    last: int
    magic: int
    crc: int
    epoch: int | None
    producer: int
    transactional: bool
    commits: bool | None
    records: tuple[Stored, ...]


@dataclass(frozen=True, slots=True)
class Segment:
    """What a file holds; `torn` tells of a last batch that is not whole, `damage` why it cannot be read on.

    Both have the offset that the batch should have.
    """

    path: Path
    batches: tuple[Batch, ...]
    torn: tuple[int, str] | None = None
    damage: tuple[int, str] | None = None


def read_segment(path: Path) -> Segment:
    """Read a segment as far as it can be read; raises UserError when the file cannot be opened."""
    try:
        with path.open("rb") as file:
            found, more = written_in(file)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    content, batches = memoryview(found), list[Batch]()
    position, offset = 0, int(path.stem.partition("-")[0])
    while position < len(content):
        rest = len(content) - position
        length = _FRAME.unpack_from(content, position)[1] if rest >= _FRAME.size else 0
        if length == 0 and not any(content[position:]):
            break
        if rest < _FRAME.size or rest < _FRAME.size + length:
            why = f"{path}: the last batch, of offset {offset}, is not whole: {rest} bytes at {position}"
            return Segment(path, tuple(batches), torn=(offset, why))
        try:
            batch = _read_batch(path, position, content[position : position + _FRAME.size + length])
        except _UNREADABLE as error:
            why = f"{path}: the batch of offset {offset}, at byte {position}, cannot be read: {_words(error)}"
            return Segment(path, tuple(batches), damage=(offset, why))
        batches.append(batch)
        position += _FRAME.size + length
        offset = batch.last + 1
    if more:
        why = f"{path}: the batch of offset {offset}, at byte {position}, cannot be read: zeros, and more behind them"
        return Segment(path, tuple(batches), damage=(offset, why))
    return Segment(path, tuple(batches))


def _words(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _read_batch(path, position, content):
    if len(content) < _LEAST + _FRAME.size:
        raise ValueError(f"it has {len(content)} bytes, and a batch has at least {_LEAST + _FRAME.size}")
    magic = content[_MAGIC_AT]
    if magic > _MOST_MAGIC:
        raise ValueError(f"its magic is {magic}, and 0 to {_MOST_MAGIC} are known")
    batch = DefaultRecordBatch(content) if magic == _MOST_MAGIC else LegacyRecordBatch(content, magic)
    if not batch.validate_crc():
        raise ValueError("its checksum is not that of its content")
    records = tuple(Stored(r.offset, -1 if r.timestamp is None else r.timestamp, *_content(r)) for r in batch)
    if magic < _MOST_MAGIC:
        (crc,) = struct.unpack_from("!I", content, _FRAME.size)
        return Batch(path, position, records[0].offset, records[-1].offset, magic, crc, None, -1, False, None, records)
    commits = None
    if batch.is_control_batch and records:
        commits = struct.unpack("!hh", records[0].key[:4])[1] == 1
    return Batch(
        path,
        position,
        batch.base_offset,
        batch.last_offset,
        magic,
        batch.crc,
        batch.leader_epoch,
        batch.producer_id,
        batch.is_transactional,
        commits,
        records,
    )


def _content(record):
    return (None if part is None else bytes(part) for part in (record.key, record.value))
