"""Reads a snapshot file of ZooKeeper 3.4 to 3.9 (`org.apache.zookeeper.server.persistence.FileSnap`)."""

import mmap
import os
import re
import struct
import zlib
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from kafkaproof.traces.zookeeper.jute import JuteError, JuteReader
from kafkaproof.traces.zookeeper.transactions import LogError

_MAGIC = b"ZKSN"
_VERSION = 2
_FILE_HEADER = struct.Struct(">4siq")
_STAT = struct.Struct(">qqqqiiiQq")
_SEAL_SIZE = 13
_COMPRESSED = (".gz", ".snappy")
_NAME = re.compile(r"snapshot\.([0-9a-f]+)")
_REMEDY = "use another snapshot"


class Znode(NamedTuple):
    """A znode; zxids and versions as in `org.apache.zookeeper.data.StatPersisted`, times in milliseconds since 1970.

    `cversion` counts creations of children only (a client is shown twice that, minus the number of children).
    `ephemeral_owner` is 0, a session, 2**63 (a container) or 0xff << 56 plus the time to live in milliseconds.
    """

    data: bytes | None
    version: int = 0
    cversion: int = 0
    aversion: int = 0
    czxid: int = 0
    mzxid: int = 0
    pzxid: int = 0
    ctime: int = 0
    mtime: int = 0
    ephemeral_owner: int = 0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a snapshot holds: everything up to `zxid`, and some of what was written while it was taken.

    `sessions`: id to timeout in milliseconds. Only after replaying up to `last_processed_zxid` is the
    tree that of a single moment. From ZooKeeper 3.6 that zxid stands in the file; before, it is the
    largest zxid seen in a znode, and may be too low by deletions made while the snapshot was taken.
    """

    zxid: int
    last_processed_zxid: int
    sessions: dict[int, int]
    nodes: dict[str, Znode]


def read_snapshot(path: Path) -> Snapshot:
    """Read a snapshot file, checking its checksums; its zxid is the hexadecimal number in its name.

    Raises LogError when the file cannot be opened, is compressed, is no snapshot, or is cut or damaged.
    """
    if path.suffix in _COMPRESSED:
        raise LogError(
            f"{path}: compressed snapshots are not read; {_REMEDY} "
            "(or set zookeeper.snapshot.compression.method to empty and let ZooKeeper write one)"
        )
    name = _NAME.fullmatch(path.name)
    if name is None:
        raise LogError(f"{path}: a snapshot's name is snapshot.ZXID, in hexadecimal digits")
    try:
        with path.open("rb") as file, _mapped(file) as content:
            reader = JuteReader(content)
            try:
                return _snapshot(int(name[1], 16), reader)
            except JuteError as error:
                raise LogError(f"{path}: byte {reader.offset}: {error}; {_REMEDY}") from None
    except OSError as error:
        raise LogError(f"{path}: cannot be read: {error.strerror}") from None


def _mapped(file: BinaryIO):
    """What a file holds, as bytes of which no more is in memory than is read."""
    if not os.fstat(file.fileno()).st_size:
        return nullcontext(b"")
    return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _snapshot(zxid: int, reader: JuteReader) -> Snapshot:
    magic, version, _ = reader.unpack(_FILE_HEADER)
    if magic != _MAGIC or version != _VERSION:
        raise JuteError(f"no ZooKeeper snapshot of format version {_VERSION} (it begins {magic!r}, version {version})")
    sessions: dict[int, int] = {}
    for _ in range(_count(reader)):
        _once(sessions, reader.unsigned_long(), reader.integer())
    lists: dict[int, None] = {}
    for _ in range(_count(reader)):
        _once(
            lists, reader.long(), reader.vector(lambda: (reader.integer(), reader.string(), reader.string())) and None
        )
    nodes: dict[str, Znode] = {}
    while (path := reader.string()) != "/":
        _once(nodes, path or "/", _znode(reader))
    if "/" not in nodes:
        raise JuteError("no root znode")
    _check_seal(reader)
    stamps = (max(node.czxid, node.mzxid, node.pzxid) for node in nodes.values())
    return Snapshot(zxid, max(zxid, _last_processed_zxid(reader), *stamps), sessions, nodes)


def _count(reader: JuteReader) -> int:
    """Take how many things follow."""
    count = reader.integer()
    if count < 0:
        raise JuteError(f"negative count {count}")
    return count


def _once(found: dict, key: object, value: object) -> None:
    """Note what a file has once only: else it is none that ZooKeeper wrote, and may be without end."""
    if key in found:
        raise JuteError(f"{key!r} a second time")
    found[key] = value


def _znode(reader: JuteReader) -> Znode:
    """Decode a DataNode: its data, the number of its access control list, its StatPersisted."""
    data = reader.buffer()
    reader.long()
    czxid, mzxid, ctime, mtime, version, cversion, aversion, owner, pzxid = reader.unpack(_STAT)
    return Znode(data, version, cversion, aversion, czxid, mzxid, pzxid, ctime, mtime, owner)


def _check_seal(reader: JuteReader) -> None:
    """Take the seal, the Adler-32 of all bytes before it and the path "/", and check it."""
    expected = _checksum(reader.content, reader.offset)
    if reader.long() != expected or reader.string() != "/":
        raise JuteError("wrong checksum")


def _checksum(content: bytes | mmap.mmap, end: int) -> int:
    """The Adler-32 of the bytes up to an end."""
    with memoryview(content) as view, view[:end] as part:
        return zlib.adler32(part)


def _last_processed_zxid(reader: JuteReader) -> int:
    """Return the zxid that ZooKeeper 3.6 and later append with the tree's digest, 0 if there is none."""
    if reader.offset == len(reader.content):
        return 0
    zxid = reader.long()
    content = reader.content
    expected = _checksum(content, len(content) - _SEAL_SIZE)
    if content[-_SEAL_SIZE:] != struct.pack(">qi", expected, 1) + b"/":
        raise JuteError("wrong checksum of what follows the znodes")
    reader.rest()
    return zxid
