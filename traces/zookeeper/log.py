"""Reads a transaction log file of ZooKeeper 3.4 to 3.9 (`org.apache.zookeeper.server.persistence.FileTxnLog`)."""

import struct
import zlib
from array import array
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kafkaproof.traces.zookeeper.jute import JuteError
from kafkaproof.traces.zookeeper.preallocated import written_in
from kafkaproof.traces.zookeeper.records import Records, records_in
from kafkaproof.traces.zookeeper.transactions import LogError, Transaction

_MAGIC = b"ZKLG"
_VERSION = 2
_FILE_HEADER = struct.Struct(">4siq")
_RECORD_HEADER = struct.Struct(">qi")
_END_OF_RECORD = b"B"
_REMEDY = "take the file from another server of the ensemble, or cut a copy at this byte to read what is before"


@dataclass(frozen=True, slots=True)
class LogFile:
    """A log file as read: its transactions in file order, and lines on what is imperfect but harmless.

    `torn`: it ends inside a record.
    """

    path: Path
    dbid: int
    transactions: Records
    problems: tuple[str, ...]
    torn: bool = False


def read_log(path: Path) -> LogFile:
    """Read a log file, checking every checksum; an empty file and a torn last record are told in `problems`.

    Raises LogError, with the transactions read before, when the file cannot be opened, is no log, or is damaged.
    """
    try:
        with path.open("rb") as file:
            content, more = written_in(file)
    except OSError as error:
        raise LogError(f"{path}: cannot be read: {error.strerror}") from None
    if not content.startswith(_MAGIC[: len(content)]):
        raise LogError(f"{path}: byte 0: no ZooKeeper transaction log (it begins {content[:4]!r}, not {_MAGIC!r})")
    if len(content) < _FILE_HEADER.size:
        reason = "cut inside the file header" if content else "empty file"
        return LogFile(path, 0, Records.of(()), (f"{path}: {reason}, no record",))
    _, version, dbid = _FILE_HEADER.unpack_from(content)
    if version != _VERSION:
        raise LogError(f"{path}: byte 4: log format version {version}, only {_VERSION} (ZooKeeper 3.x) can be read")
    end = max(_FILE_HEADER.size, len(content.rstrip(b"\0")))
    transactions, torn = _records(path, content, end, _FILE_HEADER.size, more)
    if torn is not None:
        last = f"last good zxid {transactions[-1].zxid:#x}" if transactions else "no good record"
        problems: tuple[str, ...] = (f"{path}: torn last record at byte {torn} left out ({last})",)
    else:
        problems = () if transactions else (f"{path}: a file header only, no record",)
    return LogFile(path, dbid, transactions, problems, torn is not None)


def read_more(path: Path, offset: int) -> tuple[tuple[Transaction, ...], int]:
    """Read the whole records behind a byte of a log that grows (0: from the first), and where the next one will begin.

    A record that is not all there is left for later. Raises LogError as `read_log` does.
    """
    try:
        with path.open("rb") as file:
            file.seek(offset)
            content, more = file.read(_RECORD_HEADER.size), False
            if any(content):
                file.seek(offset)
                content, more = written_in(file)
    except OSError as error:
        raise LogError(f"{path}: cannot be read: {error.strerror}") from None
    if offset == 0 and len(content) < _FILE_HEADER.size:
        return (), 0
    begin = 0 if offset else _FILE_HEADER.size
    end = max(begin, len(content.rstrip(b"\0")))
    transactions, torn = _records(path, content, end, begin, more)
    return tuple(transactions), offset + (end if torn is None else torn)


def _records(path: Path, content: bytes, end: int, offset: int, more: bool) -> tuple[Records, int | None]:
    """Decode the records from `offset` to `end`, where zero padding begins; also return where a torn last one is.

    `more`: something comes behind the padding, which is none then.
    """
    bounds = _bounds(content, offset, end)
    records, error = records_in(content, bounds)
    if records:
        offset = int(bounds[1, len(records) - 1]) + 1
    try:
        if error is None and offset < end:
            _examine(content, offset, end)
        if error is None and more:
            raise JuteError("no record begins here, and the zeros here are no padding: more comes behind them")
    except JuteError as found:
        error = found
    if error:
        last = f"last good zxid {records[-1].zxid:#x}" if records else "no good record before"
        raise LogError(f"{path}: byte {offset}: {error} ({last}); {_REMEDY}", records) from None
    return records, offset if offset < end else None


def _bounds(content: bytes, offset: int, end: int) -> np.ndarray:
    """Where the payloads from `offset` on begin (row 0) and end (row 1), up to the first record that is not whole."""
    unpack, size = _RECORD_HEADER.unpack_from, _RECORD_HEADER.size
    checksum_of, end_byte = zlib.adler32, _END_OF_RECORD[0]
    first, ends = offset + size, array("q")
    while (start := offset + size) < end:
        checksum, length = unpack(content, offset)
        stop = start + length
        if not (
            0 < length and stop < end and checksum_of(content[start:stop]) == checksum and content[stop] == end_byte
        ):
            break
        ends.append(stop)
        offset = stop + 1
    stops = np.array(ends, np.int64)
    return np.stack([np.append(first, stops + 1 + size)[:-1], stops])


def _examine(content: bytes, offset: int, end: int) -> None:
    """Raise JuteError with what is wrong with a record that is not whole, unless the file is cut inside it."""
    start = offset + _RECORD_HEADER.size
    if start > end:
        return
    checksum, length = _RECORD_HEADER.unpack_from(content, offset)
    if checksum >> 32 or length <= 0:
        raise JuteError("no record begins here")
    if start + length >= end:
        if _is_whole(content, start, end - 1, checksum) or _holds_record(content, start, end):
            raise JuteError(f"wrong record length {length}")
        return
    if zlib.adler32(content[start : start + length]) != checksum:
        raise JuteError("wrong checksum")
    raise JuteError("no end byte after the record")


def _is_whole(content: bytes, start: int, stop: int, checksum: int) -> bool:
    """Whether the bytes from `start` to `stop` are a payload of this checksum with an end byte after it."""
    return content[stop : stop + 1] == _END_OF_RECORD and zlib.adler32(content[start:stop]) == checksum


def _holds_record(content: bytes, start: int, end: int) -> bool:
    """Whether a whole record stands anywhere after `start`: then what overruns the end is damaged, not torn."""
    boundary = content.find(_END_OF_RECORD + bytes(4), start, end)
    while boundary != -1:
        payload_start = boundary + 1 + _RECORD_HEADER.size
        if payload_start < end:
            checksum, length = _RECORD_HEADER.unpack_from(content, boundary + 1)
            if 0 < length < end - payload_start and _is_whole(content, payload_start, payload_start + length, checksum):
                return True
        boundary = content.find(_END_OF_RECORD + bytes(4), boundary + 1, end)
    return False
