"""Reads a transaction log file of ZooKeeper 3.4 to 3.9 (`org.apache.zookeeper.server.persistence.FileTxnLog`)."""

import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from traces.zookeeper.jute import JuteError, JuteReader
from traces.zookeeper.transactions import (
    Acl, Check, CloseSession, Create, CreateSession, Delete, Failure, LogError, Operation, Reconfig, SetAcl, SetData,
    Transaction,
)

_MAGIC = b"ZKLG"
_VERSION = 2
_FILE_HEADER = struct.Struct(">4siq")
_RECORD_HEADER = struct.Struct(">qi")
_TXN_HEADER = struct.Struct(">Qiqqi")
_END_OF_RECORD = b"B"
_MULTI = 14
_CHECK = 13
_DIGEST_SIZE = 12
_REMEDY = "take the file from another server of the ensemble, or cut a copy at this byte to read what is before"


@dataclass(frozen=True, slots=True)
class LogFile:
    """A log file as read: its transactions in file order, and lines on what is imperfect but harmless."""

    path: Path
    dbid: int
    transactions: tuple[Transaction, ...]
    problems: tuple[str, ...]


def read_log(path: Path) -> LogFile:
    """Read a log file, checking every checksum; an empty file and a torn last record are told in `problems`.

    Raises LogError, with the transactions read before, when the file cannot be opened, is no log, or is damaged.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise LogError(f"{path}: cannot be read: {error.strerror}") from None
    if not content.startswith(_MAGIC[:len(content)]):
        raise LogError(f"{path}: byte 0: no ZooKeeper transaction log (it begins {content[:4]!r}, not {_MAGIC!r})")
    if len(content) < _FILE_HEADER.size:
        reason = "cut inside the file header" if content else "empty file"
        return LogFile(path, 0, (), (f"{path}: {reason}, no record",))
    _, version, dbid = _FILE_HEADER.unpack_from(content)
    if version != _VERSION:
        raise LogError(f"{path}: byte 4: log format version {version}, only {_VERSION} (ZooKeeper 3.x) can be read")
    end = max(_FILE_HEADER.size, len(content.rstrip(b"\0")))
    transactions, torn = _records(path, content, end)
    if torn is not None:
        last = f"last good zxid {transactions[-1].zxid:#x}" if transactions else "no good record"
        problems = (f"{path}: torn last record at byte {torn} left out ({last})",)
    else:
        problems = () if transactions else (f"{path}: a file header only, no record",)
    return LogFile(path, dbid, tuple(transactions), problems)


def read_more(path: Path, offset: int) -> tuple[tuple[Transaction, ...], int]:
    """Read the whole records behind a byte of a log that grows (0: from the first), and where the next one will begin.

    A record that is not all there is left for later. Raises LogError as `read_log` does.
    """
    try:
        with path.open("rb") as file:
            file.seek(offset)
            content = file.read(_RECORD_HEADER.size)
            content += file.read() if any(content) else b""
    except OSError as error:
        raise LogError(f"{path}: cannot be read: {error.strerror}") from None
    if offset == 0 and len(content) < _FILE_HEADER.size:
        return (), 0
    begin = 0 if offset else _FILE_HEADER.size
    end = max(begin, len(content.rstrip(b"\0")))
    transactions, torn = _records(path, content, end, begin)
    return tuple(transactions), offset + (end if torn is None else torn)


def _records(path: Path, content: bytes, end: int,
             offset: int = _FILE_HEADER.size) -> tuple[list[Transaction], int | None]:
    """Decode the records from `offset` to `end`, where zero padding begins; also return where a torn last one is."""
    transactions: list[Transaction] = []
    while offset < end:
        try:
            payload = _payload(content, offset, end)
            if payload is None:
                return transactions, offset
            transactions.append(_transaction(payload))
        except JuteError as error:
            last = f"last good zxid {transactions[-1].zxid:#x}" if transactions else "no good record before"
            raise LogError(f"{path}: byte {offset}: {error} ({last}); {_REMEDY}", tuple(transactions)) from None
        offset += _RECORD_HEADER.size + len(payload) + 1
    return transactions, None


def _payload(content: bytes, offset: int, end: int) -> bytes | None:
    """Return the checked payload of the record at `offset`, None if the file is cut inside it; raise JuteError."""
    start = offset + _RECORD_HEADER.size
    if start > end:
        return None
    checksum, length = _RECORD_HEADER.unpack_from(content, offset)
    if checksum >> 32 or length <= 0:
        raise JuteError("no record begins here")
    if start + length >= end:
        if _is_whole(content, start, end - 1, checksum) or _holds_record(content, start, end):
            raise JuteError(f"wrong record length {length}")
        return None
    payload = content[start:start + length]
    if zlib.adler32(payload) != checksum:
        raise JuteError("wrong checksum")
    if content[start + length] != _END_OF_RECORD[0]:
        raise JuteError("no end byte after the record")
    return payload


def _is_whole(content: bytes, start: int, stop: int, checksum: int) -> bool:
    """Whether the bytes from `start` to `stop` are a payload of this checksum with an end byte after it."""
    return content[stop:stop + 1] == _END_OF_RECORD and zlib.adler32(content[start:stop]) == checksum


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


def _transaction(payload: bytes) -> Transaction:
    """Decode a payload (`org.apache.zookeeper.server.util.SerializeUtils.deserializeTxn`); raise JuteError."""
    reader = JuteReader(payload)
    session, cxid, zxid, time, kind = reader.unpack(_TXN_HEADER)
    if kind == _MULTI:
        operations = reader.vector(partial(_operation_of_multi, reader)) or ()
    else:
        operations = (_operation(kind, reader),)
    return Transaction(zxid, session, cxid, time, operations, kind == _MULTI, reader.rest())


def _operation_of_multi(reader: JuteReader) -> Operation:
    kind, body = reader.int(), reader.buffer() or b""
    return _check_in(body) if kind == _CHECK else _operation_in(kind, body)


def _operation_in(kind: int, body: bytes) -> Operation:
    reader = JuteReader(body)
    operation = _operation(kind, reader)
    surplus = len(body) - reader.offset
    if surplus:
        raise JuteError(f"{surplus} surplus bytes after {operation.form().split()[0]} of a multi")
    return operation


@lru_cache(maxsize=1_000)
def _check_in(body: bytes) -> Operation:
    """A check in a multi: of /controller_epoch there is the same one for as long as a controller rules."""
    return _operation_in(_CHECK, body)


def _operation(kind: int, reader: JuteReader) -> Operation:
    decode = _OPERATIONS.get(kind)
    if decode is None:
        raise JuteError(f"unknown transaction type {kind}")
    return decode(reader)


def _create(reader: JuteReader) -> Create:
    """Decode a CreateTxn, or the older CreateTxnV0 that ends before the parent's cversion."""
    path, data, acl, ephemeral = reader.string(), reader.buffer(), _acl(reader), reader.boolean()
    parent_cversion = reader.int() if reader.offset < len(reader.content) else -1
    return Create(path, data, ephemeral, parent_cversion, "create", acl)


def _create2(reader: JuteReader) -> Create:
    path, data, acl = reader.string(), reader.buffer(), _acl(reader)
    return Create(path, data, reader.boolean(), reader.int(), "create2", acl)


def _create_container(reader: JuteReader) -> Create:
    path, data, acl = reader.string(), reader.buffer(), _acl(reader)
    return Create(path, data, False, reader.int(), "container", acl)


def _create_ttl(reader: JuteReader) -> Create:
    path, data, acl = reader.string(), reader.buffer(), _acl(reader)
    return Create(path, data, False, reader.int(), "ttl", acl, reader.long())


def _set_acl(reader: JuteReader) -> SetAcl:
    path, acl = reader.string(), _acl(reader)
    return SetAcl(path, reader.int(), acl)


def _close_session(reader: JuteReader) -> CloseSession:
    """Decode a CloseSessionTxn if there is one: paths, then nothing or a digest; else leave all bytes as trailer."""
    start = reader.offset
    try:
        paths = reader.vector(reader.string)
        surplus = len(reader.content) - reader.offset
        if paths is not None and all(path.startswith("/") for path in paths) and surplus in (0, _DIGEST_SIZE):
            return CloseSession(paths)
    except JuteError:
        pass
    reader.offset = start
    return CloseSession(None)


def _acl(reader: JuteReader) -> tuple[Acl, ...] | None:
    return reader.vector(lambda: Acl(reader.int(), reader.string(), reader.string()))


_OPERATIONS: dict[int, Callable[[JuteReader], Operation]] = {
    -11: _close_session,
    -10: lambda reader: CreateSession(reader.int()),
    -1: lambda reader: Failure(reader.int()),
    1: _create,
    2: lambda reader: Delete(reader.string()),
    5: lambda reader: SetData(reader.string(), reader.buffer(), reader.int()),
    7: _set_acl,
    _CHECK: lambda reader: Check(reader.string(), reader.int()),
    15: _create2,
    16: lambda reader: Reconfig(reader.string(), reader.buffer(), reader.int()),
    19: _create_container,
    20: lambda reader: Delete(reader.string(), container=True),
    21: _create_ttl,
}
