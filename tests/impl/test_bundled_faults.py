"""Faults that come along: each file can be read, and what it holds is what it means to hold, and not what is like it."""

from pathlib import Path

import pytest
from kio.schema.errors import ErrorCode

from kafkaproof.impl.harness.driving.acts import read_acts
from kafkaproof.impl.harness.driving.catalogue import STOP_ALL
from kafkaproof.impl.harness.driving.cluster import Size
from kafkaproof.impl.harness.links.rules import fits

BUNDLED = Path(__file__).parents[2] / "traces" / "faults"
STATE = "/brokers/topics/events/partitions/0/state"
FETCHED = {"part": "answer", "api": "Fetch", "request": {"replica_id": 2}}
TWO = {"unwatched-list", "former-storage-error", "late-deletion"}
"""The files that are for two brokers; the others are for three."""


def acts_of(name):
    """The acts of a file, for real brokers of some release."""
    return read_acts(BUNDLED / f"{name}.jsonl", Size(2 if name in TWO else 3, release="3.9.1"))


def holds(name, broker, link, said):
    """Whether a file has a frame of a broker held that says this."""
    held = [act.arguments for act in acts_of(name) if act.fault == "hold_frame"]
    return any(held_of[:2] == (broker, link) and fits(said, held_of[2]) for held_of in held)


@pytest.mark.parametrize("file", sorted(BUNDLED.glob("*.jsonl")), ids=lambda file: file.stem)
def test_each_file_is_read_to_its_end_and_told_of(file):
    assert acts_of(file.stem)[-1].fault == STOP_ALL.name
    assert f"`{file.name}`" in (BUNDLED / "README.md").read_text()


@pytest.mark.parametrize("deletes", [{"delete_partition": True}, {"delete_partitions": True}])
def test_a_deletion_is_held_in_every_version_and_not_what_only_stops(deletes):
    said = {"part": "request", "api": "StopReplica"}
    assert holds("late-deletion", 1, "kafka", {**said, "topic_states": [{"partition_states": [deletes]}]})
    assert not holds("late-deletion", 1, "kafka", {**said, **dict.fromkeys(deletes, False)})


def test_a_storage_error_is_held_and_not_the_answer_of_a_broker_that_has_its_disk():
    said = {"part": "answer", "api": "LeaderAndIsr"}
    for error in (ErrorCode.kafka_storage_error, ErrorCode.none):
        topics = [{"partition_errors": [{"partition_index": 0, "error_code": error}]}]
        wanted = error is ErrorCode.kafka_storage_error
        assert holds("former-storage-error", 1, "kafka", {**said, "topics": topics}) == wanted


def test_the_answer_is_held_that_brings_the_high_watermark_alone():
    for records, wanted in ((b"", True), (b"a record", False)):
        topics = [
            {"topic": "__consumer_offsets", "partitions": [{"records": b"a commit"}]},
            {"topic": "events", "partitions": [{"high_watermark": 7, "records": records}]},
        ]
        assert holds("truncated-to-high-watermark", 0, "kafka", {**FETCHED, "responses": topics}) == wanted


@pytest.mark.parametrize("sender, wanted", [(0, True), (2, False)])
def test_who_is_to_lead_again_is_kept_from_asking_where_its_epoch_ends(sender, wanted):
    said = {"part": "request", "api": "OffsetForLeaderEpoch", "sender": sender}
    assert holds("keeps-another-epoch", 1, "kafka", said) == wanted


@pytest.mark.parametrize("leader, wanted", [(0, True), (1, False)])
def test_a_former_leader_does_not_hear_who_leads_now(leader, wanted):
    said = {"part": "request", "api": "LeaderAndIsr", "partition_states": [{"leader": leader}]}
    assert holds("former-leader-answers", 1, "kafka", said) == wanted


@pytest.mark.parametrize("topics, wanted", [([{"topic": "events", "partitions": []}], True), ([], False)])
def test_the_answer_is_held_to_a_fetch_that_tells_of_a_new_end(topics, wanted):
    said = {"part": "answer", "api": "Fetch", "sender": 2, "request": {"topics": topics}}
    assert holds("former-leader-answers", 0, "kafka", said) == wanted


@pytest.mark.parametrize("end, wanted", [(249, True), (0, True), (-1, False)])
def test_the_answer_is_late_that_says_where_the_logs_part(end, wanted):
    partition = {"records": b"", "diverging_epoch": {"epoch": 4, "end_offset": end}}
    said = {"part": "answer", "api": "Fetch", "sender": 0, "responses": [{"partitions": [partition]}]}
    late = [act.arguments for act in acts_of("late-answer-truncates") if act.fault == "delay_frame"]
    assert [fits(said, pattern) for _, _, pattern, _ in late] == [wanted]


@pytest.mark.parametrize("isr, wanted", [("0,1", True), ("1,0", True), ("0,1,2", False)])
def test_a_leader_is_kept_from_taking_back_that_it_let_a_follower_in(isr, wanted):
    data = f'{{"controller_epoch":2,"leader":1,"version":1,"leader_epoch":2,"isr":[{isr}]}}'
    said = {"part": "request", "operation": "setData", "path": STATE, "data": data}
    assert holds("joins-at-high-watermark", 1, "zookeeper", said) == wanted


def test_whoever_is_to_stand_aside_is_held_and_who_is_to_win_only_later():
    stands = {"part": "request", "operation": "create", "path": "/controller", "data": "{}"}
    assert [holds("swallowed-epoch", b, "zookeeper", stands) for b in range(3)] == [True, False, True]
    assert holds("swallowed-epoch", 1, "zookeeper", {**stands, "operation": "setData", "path": "/controller_epoch"})


def test_a_zombie_writes_the_state_late():
    said = {"part": "request", "operation": "setData", "path": STATE, "data": "{}"}
    assert holds("stale-version", 0, "zookeeper", said) and not holds("stale-version", 1, "zookeeper", said)
