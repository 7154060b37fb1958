"""Log files: every transaction is read back as written, and a damaged file is told from a torn one."""

import struct
import tracemalloc
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.traces.zookeeper.log import LogFile, read_log, read_more
from kafkaproof.traces.zookeeper.transactions import (
    Check,
    CloseSession,
    Create,
    CreateSession,
    Failure,
    LogError,
    SetData,
    Transaction,
)
from tests.traces.log_writer import file_header, payload, record, write_log
from tests.traces.transaction_strategies import TRANSACTIONS

SESSION = 0xFF00000000000001
DIGEST = b"\0\0\0\2" + b"\1\2\3\4\5\6\7\x42"
FIRST = Transaction(1, SESSION, 0, 1000, (CreateSession(3000),), trailer=DIGEST)
MULTI = (Create("/a", b"BBBB", True, 1), SetData("/a", b"B\0\0\0\0B", 1))
SECOND = Transaction(2, SESSION, 1, 1001, MULTI, True, DIGEST)
THIRD = Transaction(3, SESSION, 2, 1002, (Check("/a", 2), Failure(-101)), True, DIGEST)
FOURTH = Transaction(4, SESSION, 0, 1003, (CloseSession(("/a",)),), trailer=DIGEST)
ALL = (FIRST, SECOND, THIRD, FOURTH)
CONTENT = file_header() + b"".join(record(transaction) for transaction in ALL)
STARTS = [16 + sum(len(record(transaction)) for transaction in ALL[:count]) for count in range(5)]


def read(directory: Path, content: bytes) -> LogFile:
    (directory / "log.1").write_bytes(content)
    return read_log(directory / "log.1")


def error_of(directory: Path, content: bytes) -> LogError:
    with pytest.raises(LogError) as raised:
        read(directory, content)
    assert "\n" not in str(raised.value)
    return raised.value


@pytest.fixture(scope="session")
def scratch(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("logs")


@given(st.lists(TRANSACTIONS, min_size=1, max_size=5), st.integers(-(2**63), 2**63 - 1), st.integers(0, 20))
def test_what_is_written_is_read_again(scratch, transactions, dbid, padding):
    write_log(scratch / "log.1", transactions, dbid)
    log = read(scratch, (scratch / "log.1").read_bytes() + bytes(padding))
    assert (log.dbid, tuple(log.transactions), log.problems) == (dbid, tuple(transactions), ())


def test_session_is_unsigned_and_a_digest_is_kept(scratch):
    log = read(scratch, CONTENT)
    assert tuple(log.transactions) == ALL
    assert log.transactions[0].session == 0xFF00000000000001


@pytest.mark.parametrize("trailer", [b"", DIGEST], ids=["plain", "digest"])
@pytest.mark.parametrize("paths", [None, (), ("/controller", "/brokers/ids/1")], ids=["none", "empty", "two"])
def test_close_session_with_and_without_paths_and_digest(scratch, paths, trailer):
    transaction = Transaction(1, SESSION, 0, 1000, (CloseSession(paths),), trailer=trailer)
    assert tuple(read(scratch, file_header() + record(transaction)).transactions) == (transaction,)


@pytest.mark.parametrize("padding", [0, 1, 5000], ids=["cut", "padded1", "padded5000"])
def test_truncation_inside_the_last_record_is_a_torn_tail(scratch, padding):
    for length in range(STARTS[3], STARTS[4]):
        log = read(scratch, CONTENT[:length] + bytes(padding))
        assert tuple(log.transactions) == ALL[:3]
        if CONTENT[STARTS[3] : length].strip(b"\0"):
            assert log.problems == (
                f"{scratch}/log.1: torn last record at byte {STARTS[3]} left out (last good zxid 0x3)",
            )
        else:
            assert log.problems == ()


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_flipped_byte_inside_the_log_is_damage(scratch, number):
    for position in range(STARTS[number], STARTS[number + 1]):
        for flip in (0x01, 0x80, 0xFF):
            damaged = bytearray(CONTENT)
            damaged[position] ^= flip
            error = error_of(scratch, bytes(damaged))
            assert tuple(error.transactions) == ALL[:number]
            assert f"log.1: byte {STARTS[number]}: " in str(error)


def test_a_flipped_byte_in_the_last_record_is_damage(scratch):
    for position in range(STARTS[3], STARTS[4]):
        for flip in (0x01, 0x80, 0xFF):
            damaged = bytearray(CONTENT)
            damaged[position] ^= flip
            assert tuple(error_of(scratch, bytes(damaged)).transactions) == ALL[:3]


@pytest.mark.parametrize(
    "garbage",
    [bytes(20), b"\xff" * 40, b"\0\0\0\0\1\2\3\4\0\0\x7f\x7f" + b"x" * 30],
    ids=["zeros", "ones", "long-record"],
)
def test_garbage_between_records_is_damage(scratch, garbage):
    error = error_of(scratch, CONTENT[: STARTS[2]] + garbage + CONTENT[STARTS[2] :])
    assert tuple(error.transactions) == ALL[:2]
    assert "last good zxid 0x2" in str(error)


def test_unknown_type_is_told(scratch):
    body = struct.pack(">Qiqqi", SESSION, 1, 5, 1004, 99)
    strange = struct.pack(">qi", zlib.adler32(body), len(body)) + body + b"B"
    error = error_of(scratch, CONTENT + strange)
    assert "unknown transaction type 99 (last good zxid 0x4)" in str(error)
    assert tuple(error.transactions) == ALL


@given(st.integers(0, len(payload(SECOND)) - 1), st.integers(0, 255))
def test_a_payload_that_does_not_decode_is_no_traceback(scratch, position, byte):
    body = bytearray(payload(SECOND))
    body[position] = byte
    content = file_header() + struct.pack(">qi", zlib.adler32(body), len(body)) + bytes(body) + b"B"
    try:
        read(scratch, content)
    except LogError as error:
        assert "log.1: byte 16: " in str(error)


def test_empty_file_and_header_only_are_told(scratch):
    assert read(scratch, b"").problems == (f"{scratch}/log.1: empty file, no record",)
    assert "cut inside the file header" in read(scratch, CONTENT[:9]).problems[0]
    for padding in (0, 100):
        assert read(scratch, file_header() + bytes(padding)).problems == (
            f"{scratch}/log.1: a file header only, no record",
        )


def test_what_is_no_log_is_told(scratch):
    assert "no ZooKeeper transaction log" in str(error_of(scratch, b"ZKSN" + CONTENT[4:]))
    assert "no ZooKeeper transaction log" in str(error_of(scratch, b"abc"))
    assert "format version 3" in str(error_of(scratch, CONTENT[:7] + b"\3" + CONTENT[8:]))
    with pytest.raises(LogError, match="No such file"):
        read_log(scratch / "log.none")
    with pytest.raises(LogError, match="Is a directory"):
        read_log(scratch)


def sparse(path: Path, size: int, content: bytes = CONTENT, behind: bytes = b"") -> Path:
    """A file of that size, which has content, and something else at its end, and holes between them."""
    with path.open("wb") as file:
        file.write(content)
        file.truncate(size)
        file.seek(size - len(behind))
        file.write(behind)
    return path


@pytest.mark.parametrize("zeros", [0, 1 << 20, 65 << 20, 10 << 30], ids=["none", "MiB", "65MiB", "10GiB"])
def test_however_many_zeros_are_preallocated_they_take_no_memory(tmp_path, zeros):
    tracemalloc.start()
    try:
        log = read_log(sparse(tmp_path / "log.1", len(CONTENT) + zeros))
        assert (tuple(log.transactions), log.problems) == (ALL, ())
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()
    assert read_more(tmp_path / "log.1", 0) == (ALL, len(CONTENT))


@pytest.mark.parametrize("size", [70 << 20, 10 << 30])
@pytest.mark.parametrize("count", [0, 4])
def test_what_comes_behind_zeros_is_damage(tmp_path, size, count):
    with pytest.raises(LogError, match=f"byte {STARTS[count]}: no record begins here") as raised:
        read_log(sparse(tmp_path / "log.1", size, CONTENT[: STARTS[count]], b"B"))
    assert tuple(raised.value.transactions) == ALL[:count]


def test_a_record_may_hold_zeros(tmp_path):
    long = Transaction(1, SESSION, 0, 1000, (SetData("/a", bytes(3 << 20), 1),))
    write_log(tmp_path / "log.1", [long, SECOND])
    assert tuple(read_log(tmp_path / "log.1").transactions) == (long, SECOND)
