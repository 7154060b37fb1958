"""Segments of real clusters: each record is what Kafka's own tool says, and the tables are those of the READMEs."""

import gzip
import json
import re

import pytest

from kafkaproof.spec.kafka.offset_values import read_key, read_value
from kafkaproof.traces.groups.directories import partitions_in
from kafkaproof.traces.groups.numbers import partitions_of, topics_of
from kafkaproof.traces.groups.replay import replay_groups
from kafkaproof.traces.groups.segments import Segment, read_segment
from tests.traces.conftest import RECORDINGS
from tests.traces.groups.test_group_alterations import SEGMENTS

FOLDERS = sorted(RECORDINGS.glob("*/*/consumer-offsets"))
_BATCH = re.compile(
    r"baseOffset: (\d+) lastOffset: (\d+) .* producerId: (-?\d+) .*partitionLeaderEpoch: (-?\d+) "
    r"isTransactional: (\w+) isControl: (\w+) .*magic: (\d) .*crc: (\d+)"
)
_RECORD = re.compile(r"\| offset: (\d+) CreateTime: (-?\d+) .*? key: (\{.*?\}\}) payload: (.*)")
pytestmark = pytest.mark.skipif(not FOLDERS, reason=f"no segments in {RECORDINGS} (set KAFKAPROOF_RECORDINGS)")


def folder_name(folder):
    return "-".join(folder.parts[-3:-1])


def as_kafka_tells(key, value):
    """A key and a value as DumpLogSegments prints them."""
    if key.place is None:
        told_key = {"type": "2", "data": {"group": key.group}}
    else:
        told_key = {"type": "1", "data": {"group": key.group, "topic": key.place[0], "partition": key.place[1]}}
    if value is None:
        return told_key, None
    if key.place is not None:
        told = {
            "offset": value.offset,
            "leaderEpoch": value.leader_epoch,
            "metadata": value.metadata,
            "commitTimestamp": value.time,
        }
        return told_key, {"version": str(value.version), "data": told}
    members = [
        {
            "memberId": m.id,
            "groupInstanceId": m.instance,
            "clientId": m.client,
            "clientHost": m.host,
            "rebalanceTimeout": m.rebalance,
            "sessionTimeout": m.session,
            "subscription": topics_of(m.subscription),
            "assignment": partitions_of(m.assignment),
        }
        for m in value.members
    ]
    told = {
        "protocolType": value.protocol_type,
        "generation": value.generation,
        "protocol": value.protocol,
        "leader": value.leader,
        "currentStateTimestamp": value.time,
        "members": members,
    }
    return told_key, {"version": str(value.version), "data": told}


def told(payload):
    """What Kafka's tool prints, with topics and partitions as sets."""
    if payload.strip() in ("<DELETE>", "null"):
        return None
    found = json.loads(payload)
    for member in found["data"].get("members", ()):
        member["subscription"] = frozenset(member["subscription"]["topics"])
        member["assignment"] = frozenset(
            (each["topic"], n) for each in member["assignment"]["assignedPartitions"] for n in each["partitions"]
        )
    return found


@pytest.mark.parametrize("folder", FOLDERS, ids=folder_name)
def test_every_record_is_what_kafka_decodes(folder):
    compared = 0
    for file in sorted(folder.rglob("*.log")):
        with gzip.open(file.with_suffix(".txt.gz"), "rt") as lines:
            text = lines.read()
        batches = read_segment(file).batches
        heads = [
            (b.base, b.last, b.producer, b.epoch, b.transactional, b.commits is not None, b.magic, b.crc)
            for b in batches
        ]
        assert heads == [
            (int(a), int(z), int(p), int(e), t == "true", c == "true", int(m), int(crc))
            for a, z, p, e, t, c, m, crc in _BATCH.findall(text)
        ]
        mine = [
            (r.offset, r.time, *as_kafka_tells(read_key(r.key), read_value(read_key(r.key), r.value)))
            for b in batches
            for r in b.records
        ]
        theirs = [(int(o), int(t), json.loads(k), told(v)) for o, t, k, v in _RECORD.findall(text)]
        assert mine == theirs
        compared += len(mine)
    assert compared


@pytest.mark.parametrize("folder", FOLDERS, ids=folder_name)
def test_the_table_is_that_of_the_readme(folder):
    text = (folder.parent / "README.md").read_text()
    section = text.partition("\n| partition | broker | records |")[2].partition("\n\n")[0]
    rows = {}
    for line in section.splitlines()[2:]:
        partition, broker, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        rows[int(partition.rsplit("-", 1)[1]), f"broker-{broker}"] = cells
    groups = replay_groups(folder)
    assert groups.verdict == "conforms", groups.divergences
    for log in groups.logs:
        names = ", ".join(f.group.name for f in groups.followed if f.partition == log.partition)
        for replica in log.replicas:
            records, _, _, _, told_names, last = rows[log.partition, replica.broker]
            assert (len(log.entries), names) == (int(records), told_names)
            assert replica.end == (0 if last == "-" else int(last) + 1)
    counts = [sum(int(row[n]) for (_, broker), row in rows.items() if broker == "broker-1") for n in (1, 2, 3)]
    kinds = groups.kinds
    dead, gone = kinds["tombstones of groups"], kinds["tombstones of offsets"]
    assert counts == [kinds["groups"] + dead, kinds["offsets"] + gone, dead + gone]


def test_the_bundled_segments_are_those_of_the_recording():
    whole = RECORDINGS / "3.9.1" / "groups" / "consumer-offsets"
    found = partitions_in(SEGMENTS)
    assert found.keys() == partitions_in(whole).keys() and all(len(brokers) == 3 for brokers in found.values())
    for file in SEGMENTS.rglob("*.log"):
        assert file.read_bytes() == (whole / file.relative_to(SEGMENTS)).read_bytes()


def test_a_segment_takes_no_memory_for_the_zeros_at_its_end(tmp_path):
    file = tmp_path / "00000000000000000000.log"
    with file.open("wb") as out:
        out.truncate(10 << 30)
    assert read_segment(file) == Segment(file, ())
    with file.open("r+b") as out:
        out.seek((10 << 30) - 1)
        out.write(b"x")
    assert read_segment(file).damage == (
        0,
        f"{file}: the batch of offset 0, at byte 0, cannot be read: zeros, and more behind them",
    )
