"""Snapshot files of every version are read, and damaged ones told."""

import struct
import zlib

import pytest

from kafkaproof.traces.zookeeper.snapshot import Snapshot, Znode, read_snapshot
from kafkaproof.traces.zookeeper.transactions import LogError

OWNER = 0x8100000000000001


def string(text: str) -> bytes:
    return struct.pack(">i", len(text)) + text.encode()


def znode(path: str, data: bytes | None, numbers: tuple) -> bytes:
    buffer = struct.pack(">i", -1) if data is None else struct.pack(">i", len(data)) + data
    return string(path) + buffer + struct.pack(">q", 1) + struct.pack(">qqqqiiiQq", *numbers)


def sealed(content: bytes) -> bytes:
    return content + struct.pack(">q", zlib.adler32(content)) + string("/")


ROOT = znode("", b"", (0, 0, 0, 0, 0, 3, 0, 0, 9))
CONTROLLER = znode("/controller", None, (8, 9, 800, 900, 1, 0, 0, OWNER, 8))
ACL_CACHE = struct.pack(">iqii", 1, 1, 1, 31) + string("world") + string("anyone")
BODY = (
    b"ZKSN"
    + struct.pack(">iq", 2, -1)
    + struct.pack(">iQi", 1, OWNER, 3000)
    + ACL_CACHE
    + ROOT
    + CONTROLLER
    + string("/")
)
OLD = sealed(BODY)
WITH_DIGEST = sealed(OLD + struct.pack(">qiq", 12, 2, 77))
WITH_ZXID = sealed(OLD + struct.pack(">q", 12))
WITH_BOTH = sealed(WITH_DIGEST + struct.pack(">q", 12))
NODES = {"/": Znode(b"", cversion=3, pzxid=9), "/controller": Znode(None, 1, 0, 0, 8, 9, 8, 800, 900, OWNER)}


def read(directory, content: bytes, name: str = "snapshot.7") -> Snapshot:
    (directory / name).write_bytes(content)
    return read_snapshot(directory / name)


@pytest.mark.parametrize(
    "content, last",
    [(OLD, 9), (WITH_DIGEST, 12), (WITH_ZXID, 12), (WITH_BOTH, 12)],
    ids=["3.4", "3.6", "3.9-zxid", "3.9-both"],
)
def test_all_formats_are_read(tmp_path, content, last):
    assert read(tmp_path, content) == Snapshot(7, last, {OWNER: 3000}, NODES)


def test_zxid_is_the_hexadecimal_number_in_the_name(tmp_path):
    assert read(tmp_path, OLD, "snapshot.2000000ff").zxid == 0x2000000FF


def test_a_cut_snapshot_is_told_at_every_length(tmp_path):
    for length in set(range(len(WITH_DIGEST))) - {len(OLD)}:
        with pytest.raises(LogError, match="snapshot.7: byte .*; use another snapshot"):
            read(tmp_path, WITH_DIGEST[:length])


def test_a_flipped_byte_is_told_at_every_place(tmp_path):
    for position in range(len(WITH_DIGEST)):
        damaged = bytearray(WITH_DIGEST)
        damaged[position] ^= 0x21
        with pytest.raises(LogError):
            read(tmp_path, bytes(damaged))


@pytest.mark.parametrize("name", ["snapshot.7.gz", "snapshot.7.snappy"])
def test_compressed_snapshots_are_told(tmp_path, name):
    with pytest.raises(LogError, match="compressed snapshots are not read"):
        read(tmp_path, OLD, name)


def test_other_names_and_missing_files_are_told(tmp_path):
    with pytest.raises(LogError, match="snapshot.ZXID"):
        read(tmp_path, OLD, "snapshot.xyz")
    with pytest.raises(LogError, match="No such file"):
        read_snapshot(tmp_path / "snapshot.8")
