"""Writes transactions and trees as ZooKeeper does: log files and snapshots with right checksums."""

import struct
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from kafkaproof.traces.zookeeper.snapshot import Znode
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
from kafkaproof.traces.zookeeper.tree import Tree

_CREATE_TYPES = {"create": 1, "create2": 15, "container": 19, "ttl": 21}
_MULTI = 14


def write_log(path: Path, transactions: Iterable[Transaction], dbid: int = 0) -> None:
    """Write a log file with the transactions in the order given, without zero padding."""
    path.write_bytes(file_header(dbid) + b"".join(record(transaction) for transaction in transactions))


def write_in(directory: Path, transactions: Sequence[Transaction]) -> None:
    """Write a log file into a directory, named by its first transaction as ZooKeeper does."""
    write_log(directory / f"log.{transactions[0].zxid:x}", transactions)


def write_snapshot(directory: Path, tree: Tree) -> None:
    """Write a snapshot of a tree into a directory, in the format of ZooKeeper 3.4."""
    sessions = b"".join(struct.pack(">Qi", *each) for each in tree.sessions.items())
    nodes = b"".join(_string("" if path == "/" else path) + _znode(node) for path, node in sorted(tree.nodes.items()))
    content = struct.pack(">4siqi", b"ZKSN", 2, 0, len(tree.sessions)) + sessions + _int(0) + nodes + _string("/")
    seal = struct.pack(">q", zlib.adler32(content)) + _string("/")
    (directory / f"snapshot.{tree.zxid:x}").write_bytes(content + seal)


def _znode(node: Znode) -> bytes:
    return _buffer(node.data) + struct.pack(
        ">qqqqqiiiQq",
        0,
        node.czxid,
        node.mzxid,
        node.ctime,
        node.mtime,
        node.version,
        node.cversion,
        node.aversion,
        node.ephemeral_owner,
        node.pzxid,
    )


def file_header(dbid: int = 0) -> bytes:
    """Return the 16 bytes that begin a log file."""
    return struct.pack(">4siq", b"ZKLG", 2, dbid)


def record(transaction: Transaction) -> bytes:
    """Return a transaction as a record: checksum, length, payload, end byte."""
    body = payload(transaction)
    return struct.pack(">qi", zlib.adler32(body), len(body)) + body + b"B"


def payload(transaction: Transaction) -> bytes:
    """Return a transaction as the payload of a record: header, operations, trailer."""
    bodies = [_operation(operation) for operation in transaction.operations]
    if transaction.multi:
        kind = _MULTI
        content = _int(len(bodies)) + b"".join(_int(kind) + _buffer(body) for kind, body in bodies)
    else:
        ((kind, content),) = bodies
    header = struct.pack(">Qiqqi", transaction.session, transaction.cxid, transaction.zxid, transaction.time, kind)
    return header + content + transaction.trailer


def _operation(operation: Operation) -> tuple[int, bytes]:
    """Return the type number and the jute body of an operation."""
    match operation:
        case CreateSession(timeout):
            return -10, _int(timeout)
        case CloseSession(paths):
            return -11, b"" if paths is None else _int(len(paths)) + b"".join(_string(path) for path in paths)
        case Create():
            return _CREATE_TYPES[operation.kind], _create(operation)
        case Delete(path, container):
            return 20 if container else 2, _string(path)
        case SetData(path, data, version):
            return 5, _string(path) + _buffer(data) + _int(version)
        case Reconfig(path, data, version):
            return 16, _string(path) + _buffer(data) + _int(version)
        case SetAcl(path, version, acl):
            return 7, _string(path) + _acl(acl) + _int(version)
        case Check(path, version):
            return 13, _string(path) + _int(version)
        case Failure(code):
            return -1, _int(code)


def _create(create: Create) -> bytes:
    body = _string(create.path) + _buffer(create.data) + _acl(create.acl)
    if create.kind in ("create", "create2"):
        body += struct.pack(">?", create.ephemeral)
    if create.kind != "create" or create.parent_cversion != -1:
        body += _int(create.parent_cversion)
    return body + struct.pack(">q", create.ttl) if create.kind == "ttl" else body


def _acl(acl: tuple[Acl, ...] | None) -> bytes:
    if acl is None:
        return _int(-1)
    entries = (_int(entry.permissions) + _string(entry.scheme) + _string(entry.id) for entry in acl)
    return _int(len(acl)) + b"".join(entries)


def _int(number: int) -> bytes:
    return struct.pack(">i", number)


def _buffer(data: bytes | None) -> bytes:
    return _int(-1) if data is None else _int(len(data)) + data


def _string(text: str) -> bytes:
    return _buffer(text.encode())
