"""A quorum's own log is read as Kafka writes it: records by their definitions, transactions, leaders, and snapshots."""

import gzip
import struct

import pytest

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.traces.migration.decoding import Undecodable, _fields_of, decode
from kafkaproof.traces.migration.definitions import DEFINITIONS
from kafkaproof.traces.migration.in_force import State
from kafkaproof.traces.migration.metadata_log import metadata_beside, read_metadata
from kafkaproof.traces.migration.timeline import Copy, Timeline
from tests.traces.migration.quorums import batch, begin, change, config, ids, led, partition, topic, value, write
from tests.traces.replaying import BUNDLED

END, ABORT = value("EndTransaction", b""), value("AbortTransaction", b"")
KEPT, STATE = ("topic", "kept"), ("state", "kept", "0")


def timeline_of(directory) -> Timeline:
    (log,) = read_metadata(directory)
    assert log.damage == []
    return Timeline(log)


def test_every_definition_is_taken_apart_whole():
    for name, newest, text in DEFINITIONS.values():
        fields = _fields_of(text)
        assert len({each.name for each in fields}) == len(fields) and newest >= 0, name
        top = text
        while "{" in top:
            top = top[: top.index("{")] + "struct" + top[top.index("}") + 1 :]
        assert len(fields) == len(top.split()), name


def test_a_record_is_decoded_with_its_tagged_fields():
    found = decode(change(3, (0, ids(2, 1)), (1, struct.pack("!i", 2)), (99, b"unknown")))
    assert found.name == "PartitionChange"
    assert (found.fields["partition_id"], found.fields["isr"], found.fields["leader"]) == (3, [2, 1], 2)
    assert "replicas" not in found.fields


@pytest.mark.parametrize(
    "data, said",
    [
        (b"", "1 bytes are announced, and 0 are there"),
        (topic("t") + b"x", "1 bytes are left behind a Topic"),
        (topic("t")[:-3], "bytes are announced"),
        (b"\1\x63\0", "no record of number 99 is known"),
        (value("Topic", b"", version=9), "Topic of version 9, and 0 is the newest that is known"),
        (value("NoOp", b"", frame=2), "its frame is of version 2"),
        (b"\xff\xff\xff\xff\xff\x01", "a number is longer than 5 bytes"),
    ],
)
def test_what_is_no_record_is_told(data, said):
    with pytest.raises(Undecodable, match=said):
        decode(data)


def test_changes_follow_each_other(tmp_path):
    write(tmp_path, led(0, 1, 3000), batch(1, 1, [topic("kept"), partition(0, (0, 1), 0)]))
    write(tmp_path, batch(3, 1, [change(0, (0, ids(1)), (1, struct.pack("!i", 1)))]), name=f"{3:020}.log")
    found = timeline_of(tmp_path)
    assert found.at(STATE, 2) == State(0, 5, (0, 1)) and found.at(STATE, 3) == State(1, 6, (1,))
    assert found.at(STATE, 1) is None and found.within(STATE, 1, 3)[1:] == [State(0, 5, (0, 1)), State(1, 6, (1,))]
    assert found.changed(2, 3) == [STATE] and found.log.leaders[1].id == 3000
    assert [found.log.epoch_at(offset) for offset in (0, 3, 4)] == [1, 1, None]


def test_a_transaction_counts_from_its_end_and_an_aborted_one_not_at_all(tmp_path):
    aborted = [begin("ZK Migration"), topic("gone", "AAAAAAAAAAAAAAAAAAAAAA"), ABORT]
    copied = [begin("ZK Migration"), topic("kept"), config("kept", "a", "1"), END]
    write(tmp_path, led(0, 1, 3000), batch(1, 1, aborted), led(4, 3, 3001), batch(5, 3, copied))
    found = timeline_of(tmp_path)
    assert found.copies == [Copy(1, 3, True), Copy(5, 8, False)]
    assert found.at(("topic", "gone"), 9) is None and found.at(KEPT, 7) is None and found.at(KEPT, 8)
    assert found.at(("configuration", "topics", "kept"), 8) == {"a": "1"}


def test_a_topic_goes_with_all_that_it_has(tmp_path):
    made = [topic("kept"), partition(0, (0,), 0), config("kept", "a", "1")]
    id = decode(topic("kept")).fields["topic_id"]
    removed = value("RemoveTopic", topic("")[4:20])
    write(tmp_path, led(0, 1, 3000), batch(1, 1, made), batch(4, 1, [removed]))
    found = timeline_of(tmp_path)
    assert found.removed == {id: 4}
    assert [found.at(each, 4) for each in (KEPT, STATE, ("configuration", "topics", "kept"))] == [None] * 3


def test_a_log_that_begins_later_begins_with_its_snapshot(tmp_path):
    shown = batch(0, 2, [topic("kept"), partition(0, (1,), 1)])
    write(tmp_path, shown, name=f"{5:020}-{2:010}.checkpoint")
    write(tmp_path, led(5, 3, 3001), batch(6, 3, [change(0, (0, ids(1, 0)))]), name=f"{5:020}.log")
    found = timeline_of(tmp_path)
    assert (found.known_from, found.at(STATE, 5), found.at(STATE, 6)) == (5, State(1, 5, (1,)), State(1, 5, (1, 0)))


def test_a_snapshot_that_says_otherwise_is_found(tmp_path):
    write(tmp_path, led(0, 1, 3000), batch(1, 1, [topic("kept"), partition(0, (0, 1), 0)]))
    for isr, wrong in ((0, 1), 0), ((0,), 1):
        write(tmp_path, batch(0, 1, [topic("kept"), partition(0, isr, 0)]), name=f"{3:020}-{1:010}.checkpoint")
        assert len(timeline_of(tmp_path).contradictions) == wrong


def test_replicas_are_one_log_and_two_quorums_are_two(tmp_path):
    one = led(0, 1, 3000), batch(1, 1, [topic("kept")])
    write(tmp_path / "a" / "1", *one)
    write(tmp_path / "a" / "2", *one, batch(2, 1, [value("NoOp", b"")]))
    write(tmp_path / "b" / "1", batch(0, 1, [topic("other"), topic("more")]))
    found = read_metadata(tmp_path)
    assert sorted((log.begin, log.end) for log in found) == [(0, 2), (0, 3)]


@pytest.mark.parametrize("change_byte, said", [(None, "comes next"), (30, "checksum")])
def test_damage_is_told(tmp_path, change_byte, said):
    data = bytearray(batch(1, 1, [topic("kept")]))
    if change_byte:
        data[change_byte] ^= 1
    write(tmp_path, led(0, 1, 3000), bytes(data) if change_byte else batch(9, 1, [topic("kept")]))
    (log,) = read_metadata(tmp_path)
    assert log.end == 1 and said in log.damage[0][1]


def test_segments_may_be_compressed_and_lie_beside(tmp_path):
    place = write(tmp_path / "metadata", led(0, 1, 3000))
    segment = place / "00000000000000000000.log"
    (place / f"{segment.name}.gz").write_bytes(gzip.compress(segment.read_bytes()))
    segment.unlink()
    assert metadata_beside(tmp_path) == tmp_path / "metadata" and metadata_beside(tmp_path / "metadata" / "x") is None
    assert read_metadata(tmp_path)[0].leaders[1].id == 3000
    (place / f"{segment.name}.gz").write_bytes(b"no gzip")
    with pytest.raises(UserError, match="cannot be read"):
        read_metadata(tmp_path)


@pytest.mark.parametrize("name, said", [("nowhere", "not a directory"), (".", "no segment of __cluster_metadata")])
def test_a_directory_without_a_log_is_one_line(tmp_path, name, said):
    with pytest.raises(UserError, match=said):
        read_metadata(tmp_path / name)


def test_every_recorded_record_is_decoded_and_every_snapshot_agrees():
    logs = [log for each in sorted(BUNDLED.glob("*/metadata")) for log in read_metadata(each)]
    assert len(logs) == 11 and all(log.entries and not log.damage for log in logs)
    assert {entry.record.name for log in logs for entry in log.entries} >= {
        "AbortTransaction",
        "BrokerRegistrationChange",
        "PartitionChange",
        "RegisterController",
        "ZkMigrationState",
    }
    assert [image.end for log in logs for image in log.images] and all(not Timeline(log).contradictions for log in logs)
