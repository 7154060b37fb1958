"""Decodes a record of a transaction log (`org.apache.zookeeper.server.util.SerializeUtils.deserializeTxn`)."""

import struct
from collections.abc import Callable
from functools import lru_cache, partial

from kafkaproof.traces.zookeeper.jute import JuteError, JuteReader
from kafkaproof.traces.zookeeper.transactions import (
    Acl,
    Check,
    CloseSession,
    Create,
    CreateSession,
    Delete,
    Failure,
    Operation,
    Reconfig,
    SetAcl,
    SetData,
    Transaction,
)

SET_DATA, CHECK, MULTI = 5, 13, 14
TXN_HEADER = struct.Struct(">Qiqqi")
_DIGEST_SIZE = 12
_OPEN = (Acl(31, "world", "anyone"),)
_OPEN_BYTES = b"\0\0\0\1\0\0\0\x1f\0\0\0\5world\0\0\0\6anyone"
"""The ACL of nearly all znodes, and how it is written."""


def transaction_in(payload: bytes) -> Transaction:
    """Decode the payload of a record; raises JuteError."""
    reader = JuteReader(payload)
    session, cxid, zxid, time, kind = reader.unpack(TXN_HEADER)
    if kind == MULTI:
        operations = reader.vector(partial(_operation_of_multi, reader)) or ()
    else:
        operations = (_operation(kind, reader),)
    return Transaction(zxid, session, cxid, time, operations, kind == MULTI, reader.rest())


def _operation_of_multi(reader: JuteReader) -> Operation:
    kind, body = reader.integer(), reader.buffer() or b""
    return _check_in(body) if kind == CHECK else _operation_in(kind, body)


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
    return _operation_in(CHECK, body)


def _operation(kind: int, reader: JuteReader) -> Operation:
    decode = _OPERATIONS.get(kind)
    if decode is None:
        raise JuteError(f"unknown transaction type {kind}")
    return decode(reader)


def _create(reader: JuteReader) -> Create:
    """Decode a CreateTxn, or the older CreateTxnV0 that ends before the parent's cversion."""
    path, data, acl, ephemeral = reader.string(), reader.buffer(), _acl(reader), reader.boolean()
    parent_cversion = reader.integer() if reader.offset < len(reader.content) else -1
    return Create(path, data, ephemeral, parent_cversion, acl=acl)


def _create2(reader: JuteReader) -> Create:
    path, data, acl = reader.string(), reader.buffer(), _acl(reader)
    return Create(path, data, reader.boolean(), reader.integer(), "create2", acl)


def _create_container(reader: JuteReader) -> Create:
    path, data, acl = reader.string(), reader.buffer(), _acl(reader)
    return Create(path, data, False, reader.integer(), "container", acl)


def _create_ttl(reader: JuteReader) -> Create:
    path, data, acl = reader.string(), reader.buffer(), _acl(reader)
    return Create(path, data, False, reader.integer(), "ttl", acl, reader.long())


def _set_acl(reader: JuteReader) -> SetAcl:
    path, acl = reader.string(), _acl(reader)
    return SetAcl(path, reader.integer(), acl)


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
    if reader.content.startswith(_OPEN_BYTES, reader.offset):
        reader.offset += len(_OPEN_BYTES)
        return _OPEN
    return reader.vector(lambda: Acl(reader.integer(), reader.string(), reader.string()))


_OPERATIONS: dict[int, Callable[[JuteReader], Operation]] = {
    -11: _close_session,
    -10: lambda reader: CreateSession(reader.integer()),
    -1: lambda reader: Failure(reader.integer()),
    1: _create,
    2: lambda reader: Delete(reader.string()),
    SET_DATA: lambda reader: SetData(reader.string(), reader.buffer(), reader.integer()),
    7: _set_acl,
    CHECK: lambda reader: Check(reader.string(), reader.integer()),
    15: _create2,
    16: lambda reader: Reconfig(reader.string(), reader.buffer(), reader.integer()),
    19: _create_container,
    20: lambda reader: Delete(reader.string(), container=True),
    21: _create_ttl,
}
