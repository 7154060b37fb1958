"""Directories of logs and snapshots are merged into one recording, and what is wrong with them is told."""

import os
import struct
import zlib
from pathlib import Path

import pytest

from kafkaproof.traces.reading.missing import Missing
from kafkaproof.traces.reading.recording import read_recording
from kafkaproof.traces.zookeeper.transactions import Create, Failure, LogError, Transaction
from tests.traces.log_writer import record, write_log

EPOCH = 1 << 32


def failure(zxid: int) -> Transaction:
    return Transaction(zxid, 1, 0, 0, (Failure(-101),))


def log(folder: Path, *zxids: int) -> Path:
    """Write a log of failed transactions with these zxids, named after the first."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"log.{zxids[0]:x}"
    write_log(path, [failure(zxid) for zxid in zxids])
    return path


def snapshot(folder: Path, zxid: int, written: int = 0) -> Path:
    """Write a snapshot that holds only the root, written last by a record."""
    folder.mkdir(parents=True, exist_ok=True)
    content = b"ZKSN" + struct.pack(">iqii", 2, -1, 0, 0)
    content += struct.pack(">iiqqq", 0, 0, 1, 0, written) + bytes(44) + struct.pack(">i", 1) + b"/"
    path = folder / f"snapshot.{zxid:x}"
    path.write_bytes(content + struct.pack(">qi", zlib.adler32(content), 1) + b"/")
    return path


def zxids(transactions) -> list[int]:
    return [transaction.zxid for transaction in transactions]


@pytest.mark.parametrize("place", ["", "version-2", "zookeeper/version-2", "datalog/version-2"])
def test_the_places_of_the_files(tmp_path, place):
    log(tmp_path / place, 1, 2)
    log(tmp_path / place, 3)
    snapshot(tmp_path / "data" / "version-2", 0)
    (tmp_path / place / "log.txt").write_text("no log")
    recording = read_recording(tmp_path)
    assert (zxids(recording.transactions), recording.start.zxid, recording.problems) == ([1, 2, 3], 0, [])


@pytest.mark.parametrize("name", ["log.900", "snapshot.900"])
@pytest.mark.parametrize(
    "make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path)], ids=["pipe", "directory", "device"]
)
def test_what_is_no_file_is_not_read(tmp_path, name, make):
    log(tmp_path, 1, 2)
    make(tmp_path / name)
    with pytest.raises(LogError, match=f"{name}: no regular file"):
        read_recording(tmp_path)


def test_logs_of_several_servers_are_merged(tmp_path):
    log(tmp_path / "a" / "version-2", 1, 2, 4)
    log(tmp_path / "b" / "version-2", 1, 2, 3)
    recording = read_recording(tmp_path)
    assert zxids(recording.transactions) == [1, 2, 3, 4]
    assert recording.problems == [f"{tmp_path}: 2 records that occur more than once, the same each time, dropped"]


def test_files_of_one_name_in_directories_of_one_name_are_all_read(tmp_path, monkeypatch):
    log(tmp_path / "a" / "version-2", 1, 2)
    log(tmp_path / "a" / "a" / "version-2", 1, 2, 3)
    assert zxids(read_recording(tmp_path / "a").transactions) == [1, 2, 3]
    monkeypatch.chdir(tmp_path / "a" / "version-2")
    assert zxids(read_recording(Path(".")).transactions) == [1, 2]


def test_events_are_named_without_the_directory_of_their_log(tmp_path):
    log(tmp_path / "host-of-ours" / "version-2", 1)
    (tmp_path / "events").mkdir()
    read_recording(tmp_path / "host-of-ours", events=tmp_path / "events")
    assert [file.name for file in (tmp_path / "events").iterdir()] == ["0000-log.1.parquet"]


def test_a_digest_makes_no_difference_between_duplicates(tmp_path):
    write_log(tmp_path / "log.1", [failure(1), Transaction(1, 1, 0, 0, (Failure(-101),), trailer=bytes(12))])
    assert len(read_recording(tmp_path).transactions) == 1


def test_two_different_records_of_one_zxid_are_an_error(tmp_path):
    write_log(tmp_path / "log.1", [failure(1), Transaction(1, 1, 0, 0, (Create("/a", b"", False, 1),))])
    with pytest.raises(LogError, match="record 0x1 .create /a. differs from another record of this zxid .error nonode"):
        read_recording(tmp_path)


def test_gaps_and_epochs(tmp_path):
    log(tmp_path, 1, 2, 5, EPOCH + 1, EPOCH + 2, 3 * EPOCH + 2)
    recording = read_recording(tmp_path)
    remedy = "are missing; take them from another server of the ensemble"
    assert recording.problems == [
        f"{tmp_path}: gap: records 0x3 to 0x4 {remedy}",
        f"{tmp_path}: gap: records 0x300000001 to 0x300000001 {remedy}",
    ]
    assert recording.earlier is None
    assert recording.gaps == (Missing(3, 4, 5), Missing(3 * EPOCH + 1, 3 * EPOCH + 1, 3 * EPOCH + 2))


@pytest.mark.parametrize(
    "known, held, missing",
    [
        (EPOCH + 9, 0, (EPOCH + 3, EPOCH + 9)),
        (2 * EPOCH, EPOCH + 7, (EPOCH + 3, EPOCH + 7)),
        (2 * EPOCH, EPOCH + 2, None),
        (EPOCH + 2, 0, None),
    ],
    ids=["named after a record", "of a new epoch", "of a new epoch, without more", "of the last record"],
)
def test_only_a_snapshot_tells_what_is_missing_at_the_end_of_an_epoch(tmp_path, known, held, missing):
    log(tmp_path, EPOCH + 1, EPOCH + 2)
    snapshot(tmp_path, known, held)
    alone = read_recording(tmp_path)
    assert [each[:2] for each in alone.gaps] == [missing] * bool(missing)
    log(tmp_path, 2 * EPOCH + 1, 2 * EPOCH + 2)
    found = read_recording(tmp_path)
    assert len(found.parts) == 1 + bool(missing) and found.gaps == ()
    if missing:
        assert found.start.zxid == known and found.transactions[0].zxid == 2 * EPOCH + 1
        assert f"gap: records {missing[0]:#x} to {missing[1]:#x} are missing" in found.problems[0]


def test_where_a_file_is_missing_another_recording_begins(tmp_path):
    log(tmp_path, 1, 2)
    log(tmp_path, *range(0x20, 0x30))
    found = read_recording(tmp_path)
    assert [zxids(part.transactions) for part in found.parts] == [[1, 2], list(range(0x20, 0x30))]
    assert [part.begins_unknown for part in found.parts] == [False, True]
    assert "gap: records 0x3 to 0x1f are missing" in found.problems[0]
    for zxid, begins in ((0x2F, 0x20), (0x22, 0x23), (0x1F, 0x20), (0x15, 0x20)):
        snapshot(tmp_path, zxid)
        found = read_recording(tmp_path)
        assert found.transactions[0].zxid == begins and found.begins_unknown == (zxid == 0x2F)
    assert found.earlier.start is None and zxids(found.earlier.transactions) == [1, 2]


def test_a_snapshot_makes_up_for_records_that_are_missing_in_a_file(tmp_path):
    log(tmp_path, 1, 2, 5, 6)
    snapshot(tmp_path, 4)
    assert [zxids(part.transactions) for part in read_recording(tmp_path).parts] == [[1, 2], [5, 6]]


def test_start_is_the_newest_snapshot_before_the_log(tmp_path):
    log(tmp_path, 0x51, 0x52)
    for zxid in (0, 0x30, 0x50, 0x51):
        snapshot(tmp_path, zxid)
    recording = read_recording(tmp_path)
    assert (recording.start.zxid, recording.problems) == (0x50, [])
    (tmp_path / "snapshot.50").write_bytes(b"ZKSN")
    recording = read_recording(tmp_path)
    assert (recording.start.zxid, zxids(recording.transactions)) == (0x51, [0x52])
    assert "snapshot.50: byte 0: 16 bytes wanted, 4 left" in recording.problems[0]
    (tmp_path / "snapshot.51").unlink()
    recording = read_recording(tmp_path)
    assert recording.begins_unknown and "gap: records 0x31 to 0x50" in recording.problems[-1]


def test_a_purged_log_starts_from_the_oldest_snapshot_in_it(tmp_path):
    log(tmp_path, *range(0x30, 0x60))
    snapshot(tmp_path, 0x4F)
    snapshot(tmp_path, 0x55)
    recording = read_recording(tmp_path)
    assert (recording.start.zxid, zxids(recording.transactions)) == (0x4F, list(range(0x50, 0x60)))
    assert recording.problems == [f"{tmp_path}: 32 records left out, which are not after the oldest snapshot, 0x4f"]


def test_no_snapshot_for_a_log_that_does_not_begin_at_the_beginning(tmp_path):
    log(tmp_path, 7, 8)
    (tmp_path / "snapshot.6.snappy").write_bytes(b"")
    recording = read_recording(tmp_path)
    assert recording.start is None and zxids(recording.transactions) == [7, 8]
    assert "compressed snapshots are not read" in recording.problems[0]
    assert "the log begins at 0x7 and no snapshot can be read" in recording.problems[1]


def test_the_first_epoch_of_an_ensemble_needs_no_snapshot(tmp_path):
    log(tmp_path, EPOCH + 1, EPOCH + 2)
    recording = read_recording(tmp_path)
    assert recording.start is None and recording.problems == []


def test_torn_tails_and_empty_logs_are_told(tmp_path):
    torn = log(tmp_path, 1, 2)
    torn.write_bytes(torn.read_bytes()[:-1])
    (tmp_path / "log.3").write_bytes(b"")
    recording = read_recording(tmp_path)
    assert zxids(recording.transactions) == [1] and recording.torn
    assert [line.split(": ")[1].split(" at ")[0] for line in recording.problems] == [
        "torn last record",
        "empty file, no record",
    ]
    log(tmp_path, 2, 3)
    assert not read_recording(tmp_path).torn


def test_a_damaged_log_keeps_what_was_read_before(tmp_path):
    log(tmp_path, 1, 2)
    damaged = log(tmp_path, 3, 4)
    damaged.write_bytes(damaged.read_bytes()[: -len(record(failure(4)))] + b"garbage" * 9)
    with pytest.raises(LogError, match=r"log.3: byte 65: .*last good zxid 0x3") as raised:
        read_recording(tmp_path)
    assert zxids(raised.value.transactions) == [1, 2, 3]


def test_nothing_to_read_is_told(tmp_path):
    with pytest.raises(LogError, match="no log.* file here"):
        read_recording(tmp_path)
    for name in ("steady", "zombie"):
        (tmp_path / "all" / name / "zookeeper" / "version-2").mkdir(parents=True)
        (tmp_path / "all" / name / "zookeeper" / "version-2" / "log.1").touch()
    with pytest.raises(LogError, match="logs are in its steady, zombie: give one of them, or several"):
        read_recording(tmp_path / "all")
    with pytest.raises(LogError, match="not a directory"):
        read_recording(tmp_path / "missing")
    (tmp_path / "log.1").write_bytes(b"")
    assert read_recording(tmp_path).transactions == []


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read every file")
def test_files_without_permission_are_told(tmp_path):
    log(tmp_path / "version-2", 1).chmod(0)
    with pytest.raises(LogError, match="log.1: cannot be read: Permission denied"):
        read_recording(tmp_path)
    (tmp_path / "version-2").chmod(0)
    with pytest.raises(LogError, match="cannot be read: Permission denied"):
        read_recording(tmp_path)
    (tmp_path / "version-2").chmod(0o700)
