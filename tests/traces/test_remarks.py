"""Replay tells what went wrong in real clusters although their logs conform, and is silent where nothing did."""

import gzip
import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from kafkaproof.checker.commands.main import main
from kafkaproof.traces.basics.times import time_of_day
from kafkaproof.traces.explain.facts.remarks import (
    CLOSED,
    DELETED,
    OBEYED,
    OUTSIDE,
    REFUSED,
    TRUNCATED,
    UNTOLD,
    WAYS_OUT,
)
from tests.traces.log_writer import write_log
from tests.traces.replaying import BUNDLED, read, run_json

LOST, REFUSES, NEW = BUNDLED / "3.9.1-lost-records", BUNDLED / "3.9.1-refused-isr", BUNDLED / "3.9.1-stays-new"
SHUTDOWN, CANCELLED = BUNDLED / "3.9.1-failed-shutdown", BUNDLED / "3.9.1-cancelled-reassignment"
EXPIRED = BUNDLED / "2.8.2-deleted-records"


def told(capsys, directory: Path, logs: Path | None = None) -> list[dict]:
    """The remarks on a recording, beside its own logs or others."""
    code, found = run_json(capsys, directory, "--logs", logs or directory)
    assert (code, found["verdict"], found["logs"]["unreadable"]) == (0, "conforms", 0)
    return found["remarks"]


def kinds(remarks: list[dict]) -> dict[str, int]:
    return dict(Counter(each["what"] for each in remarks))


def altered(directory: Path, out: Path, change) -> Path:
    """The logs of a recording, each line of them changed, or left out where `change` gives None."""
    for file in directory.rglob("*.log.gz"):
        lines = [change(line) for line in gzip.decompress(file.read_bytes()).decode().splitlines()]
        copy = out / file.relative_to(directory).with_suffix("")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text("".join(f"{line}\n" for line in lines if line is not None))
    return out


def without(*signs: str):
    return lambda line: None if any(sign in line for sign in signs) else line


def moved(minute_and_second: str, *signs: str):
    """The lines with one of the signs in them come at another time of the same hour."""

    def change(line):
        if not any(sign in line for sign in signs):
            return line
        return re.sub(r"^(\[[\d-]+ \d\d):\d\d:\d\d", rf"\1:{minute_and_second}", line)

    return change


SEEN = {
    LOST: [
        (
            OBEYED,
            "t",
            0,
            "broker-0/state-change.log.gz",
            "broker 0 obeyed controller 2 of epoch 1, 11.7 s after broker 1 was elected with epoch 2: it leads with ISR "
            "[0, 3]; ZooKeeper had leader 0, ISR [0, 3, 1]",
        ),
        (
            TRUNCATED,
            "t",
            0,
            "broker-3/server.log.gz",
            "broker 3 cut its log to offset 4, with high watermark 5: what was committed, record 4, is gone from this "
            "replica, and there was no unclean election",
        ),
        (
            TRUNCATED,
            "t",
            0,
            "broker-0/server.log.gz",
            "broker 0 cut its log to offset 4, with high watermark 6: what was committed, 4 to 5, is gone from this "
            "replica, and there was no unclean election",
        ),
    ],
    REFUSES: [
        (
            REFUSED,
            "t",
            0,
            "broker-0/controller.log.gz",
            "leader 1 in leader epoch 0: ISR [1] has stood since 0x57, and no other could be written for 46.2 s, to the "
            "end of the log",
        )
    ],
    NEW: [
        (
            UNTOLD,
            "stuck",
            0,
            "broker-1/state-change.log.gz",
            "controller 1 of epoch 1 wrote leader 2, ISR [2, 1, 0] at 0x4b, did not know it, and told nobody: the "
            "partition stayed New for 64.6 s, until broker 0 was elected; it tried again 3 times",
        )
    ],
    SHUTDOWN: [
        (
            CLOSED,
            "t",
            0,
            "broker-0/controller.log.gz",
            "broker 1 shuts down and is the ISR alone; 14 times the controller refused to let in a follower, because the "
            "leader itself is not eligible: nobody can take over, nobody leads from 0x47 on",
        )
    ],
    CANCELLED: [
        (
            OUTSIDE,
            "t",
            0,
            None,
            "ISR [1, 2], at last [2, 3], assignment [1], for 18 s, to the end of the log: who is not assigned is waited "
            "for at every commit, and is never elected, not even uncleanly",
        )
    ],
    EXPIRED: [
        (
            DELETED,
            "events",
            0,
            "broker-2/server.log.gz",
            "broker 2 deleted its records from offset 0 on: their time index was never recovered, and has no time but 0; "
            "once it leads, all replicas delete them",
        )
    ],
}


@pytest.mark.parametrize("directory", SEEN, ids=lambda directory: directory.name)
def test_what_was_seen_on_real_brokers_is_told(capsys, directory):
    found = told(capsys, directory)
    files = [each["file"] and each["file"].removeprefix(f"{directory}/") for each in found]
    assert [
        (each["what"], each["topic"], each["partition"], file, each["text"]) for each, file in zip(found, files)
    ] == SEEN[directory]
    for each in found:
        assert each["way_out"] == WAYS_OUT[each["what"]]
        if each["file"]:
            lines = gzip.decompress(Path(each["file"]).read_bytes()).decode().splitlines()
            assert f"{each['topic']}-{each['partition']}" in lines[each["line"] - 1]


def test_a_release_whose_brokers_can_shut_down_does(capsys):
    assert told(capsys, BUNDLED / "2.8.2-shutdown") == []


def test_an_isr_outside_the_assignment_needs_no_logs(capsys):
    assert kinds(run_json(capsys, CANCELLED)[1]["remarks"]) == {OUTSIDE: 1}
    assert run_json(capsys, LOST)[1]["remarks"] == []


HEALTHY = {("1.1.1", "zombie"): {REFUSED: 100}, ("3.9.1", "isr-and-unclean"): {TRUNCATED: 1}}
"""What is told of recordings besides: leaders of a split brain (KAFKA-2729), records that an unclean election lost."""


def test_nothing_is_told_of_other_clusters(capsys, recording_directory):
    code, found = run_json(capsys, recording_directory, "--logs", recording_directory, "--expect", "C4")
    assert (code, kinds(found["remarks"])) == (0, HEALTHY.get(recording_directory.parts[-2:], {}))
    if recording_directory.parts[-2:] == ("3.9.1", "isr-and-unclean"):
        assert "after the unclean election of broker 2 at 0xe5" in found["remarks"][0]["text"]


def test_lines_that_kafka_logs_by_default_are_enough(capsys, tmp_path):
    """Since 2.3 the state change log has no TRACE."""
    logs = altered(LOST, tmp_path, without(" TRACE "))
    assert [each["text"] for each in told(capsys, LOST, logs)] == [text for *_, text in SEEN[LOST]]


OBEYS = (
    "Broker id=0] Leader t-0 with",
    "Broker id=0] Handling LeaderAndIsr request correlationId 1 from controller 2",
    "from controller 2 epoch 1 for the become-leader",
)


@pytest.mark.parametrize(
    "change, expected",
    [
        pytest.param(moved("37:43", *OBEYS), 1, id="at 9.4 s, but it has heard of epoch 2"),
        pytest.param(
            lambda line: without(" TRACE ")(moved("37:43", *OBEYS)(line)),
            0,
            id="at 9.4 s, and nothing tells what it has heard of",
        ),
        pytest.param(without("Broker id=0] Leader t-0 with"), 1, id="only the TRACE of its completion"),
        pytest.param(without("Broker id=0] Leader t-0 with", "Completed LeaderAndIsr"), 0, id="it did not obey"),
    ],
)
def test_a_request_is_obeyed_late_where_a_later_controller_is_known_or_long_elected(capsys, tmp_path, change, expected):
    found = kinds(told(capsys, LOST, altered(LOST, tmp_path, change)))
    assert found.get(OBEYED, 0) == expected and found[TRUNCATED] == 2


@pytest.mark.parametrize(
    "change, expected",
    [
        pytest.param(without("] Truncating to offset"), 0, id="the high watermark falls, and nothing is cut"),
        pytest.param(
            lambda line: line.replace("and high watermark", "and high watermark 4 or"), 0, id="nothing below it is cut"
        ),
        pytest.param(lambda line: line.replace("[UnifiedLog", "[Log"), 2, id="a log of 2.8"),
        pytest.param(
            lambda line: f"{line}\n{line}" if "] Truncating to offset" in line else line, 2, id="cut once more there"
        ),
        pytest.param(without("] started (kafka"), 2, id="the broker is known from its directory"),
    ],
)
def test_a_truncation_counts_below_the_high_watermark_at_the_start(capsys, tmp_path, change, expected):
    assert kinds(told(capsys, LOST, altered(LOST, tmp_path, change))).get(TRUNCATED, 0) == expected


@pytest.mark.parametrize(
    "change, expected",
    [
        pytest.param(
            lambda line: line.replace("Timestamp=Some(0))", "Timestamp=Some(1795468436526))"), 0, id="old records"
        ),
        pytest.param(lambda line: line.replace("[Log", "[UnifiedLog"), 1, id="a log of 3.0 to 3.5"),
    ],
)
def test_records_without_a_time_are_deleted(capsys, tmp_path, change, expected):
    assert kinds(told(capsys, EXPIRED, altered(EXPIRED, tmp_path, change))).get(DELETED, 0) == expected


def test_logs_of_all_brokers_may_lie_in_one_directory(capsys, tmp_path):
    for file in LOST.rglob("*.log.gz"):
        shutil.copy(file, tmp_path / f"{file.name.removesuffix('.log.gz')}-{file.parent.name}.log.gz")
    assert kinds(told(capsys, LOST, tmp_path)) == {OBEYED: 1, TRUNCATED: 2}
    for file in tmp_path.glob("server*"):
        file.write_bytes(gzip.compress(re.sub(rb".*started \(kafka.*\n", b"", gzip.decompress(file.read_bytes()))))
    assert kinds(told(capsys, LOST, tmp_path)) == {OBEYED: 1}, "whose log was cut is not known"


def test_a_state_that_a_broker_was_told_of_is_no_secret(capsys, tmp_path):
    logs = altered(NEW, tmp_path, lambda line: line)
    (tmp_path / "state-change.log").write_text(
        "[2026-11-23 09:18:40,000] TRACE [Broker id=2] Received LeaderAndIsr request LeaderAndIsrPartitionState("
        "topicName='stuck', partitionIndex=0, controllerEpoch=1, leader=2, leaderEpoch=0, isr=[2, 1, 0]) correlation "
        "id 1 from controller 1 epoch 1 (state.change.logger)\n"
    )
    assert told(capsys, NEW, logs) == []


def test_a_state_that_another_controller_made_is_no_secret(capsys, tmp_path):
    logs = altered(NEW, tmp_path, lambda line: line.replace("id=1 epoch=1] Controller", "id=0 epoch=9] Controller"))
    assert told(capsys, NEW, logs) == []


def test_a_leader_that_is_soon_told_anew_was_not_refused_for_ever(capsys, tmp_path):
    """What nothing mends is told, however short the log is; what the next leader epoch mends in time is not."""
    end = altered(REFUSES, tmp_path / "end", moved("22:40", "bad ZK version"))
    assert kinds(told(capsys, REFUSES, end)) == {REFUSED: 1}
    soon = altered(NEW, tmp_path / "soon", without("failed to change state"))
    (soon / "controller.log").write_text(BAD_VERSION.format("18:28", "good", 1, 0))
    assert told(capsys, NEW, soon) == []
    (soon / "controller.log").write_text(BAD_VERSION.format("18:12", "good", 1, 0))
    assert kinds(told(capsys, NEW, soon)) == {REFUSED: 1}
    (soon / "controller.log").write_text(BAD_VERSION.format("18:12", "good", 1, 7))
    assert told(capsys, NEW, soon) == [], "that leader leads no more"


BAD_VERSION = (
    "[2026-11-23 09:{0},000] INFO [Controller id=1] Failed to update ISR to LeaderAndIsr(leader={2}, leaderEpoch={3}, "
    "isr=List(1)) for partition {1}-0, bad ZK version. (kafka.controller.KafkaController)\n"
)


def test_a_leader_that_refuses_itself_up_to_2_6(capsys, tmp_path):
    line = (
        "[2026-11-23 09:{}] INFO [Partition t-0 broker={}] Cached zkVersion {} not equal to that in zookeeper, "
        "skip updating ISR (kafka.cluster.Partition)\n"
    )
    for times, broker, version, expected in (
        (("21:57,000", "21:59,000"), 1, "0", 0),
        (("21:57,000", "22:19,000"), 1, "[0]", 1),
        (("21:57,000", "22:19,000"), 2, "0", 0),
    ):
        (tmp_path / "server.log").write_text("".join(line.format(time, broker, version) for time in times))
        assert kinds(told(capsys, REFUSES, tmp_path)).get(REFUSED, 0) == expected


@pytest.mark.parametrize(
    "change",
    [
        without("Shutting down broker"),
        lambda line: line.replace("ineligible replicas Set(1)", "ineligible replicas Set(2)"),
        lambda line: line.replace("ineligible replicas Set(1)", "ineligible replicas Set(1, 2)"),
        moved("26:30", "Shutting down broker", "ineligible"),
    ],
    ids=["nobody shuts down", "the follower", "the follower is gone, too", "it is not alone yet"],
)
def test_a_follower_that_is_ineligible_closes_no_isr(capsys, tmp_path, change):
    assert told(capsys, SHUTDOWN, altered(SHUTDOWN, tmp_path, change)) == []


def test_a_shutdown_that_succeeds_after_a_refusal(capsys, tmp_path):
    whole = BUNDLED / "2.8.2-shutdown"
    (altered(whole, tmp_path, lambda line: line) / "controller.log").write_text(
        "[2026-11-23 09:28:08,000] INFO [Controller id=0] Rejecting AlterPartition request from node 1 for t-0 because "
        "it specified ineligible replicas Set(1) in the new ISR List(1, 2). (kafka.controller.KafkaController)\n"
    )
    assert told(capsys, whole, tmp_path) == []


def test_a_cancellation_is_outside_the_assignment_for_a_moment(capsys, tmp_path):
    known = read(CANCELLED).transactions
    begin = next(t.time for t in known if t.zxid == 0x58)
    write_log(tmp_path / "log.1", [t for t in known if t.time < begin + 9_000])
    assert run_json(capsys, tmp_path)[1]["remarks"] == []


def test_a_clock_that_is_ahead_makes_no_broker_late(capsys, tmp_path):
    """Broker 2 heard of each state a minute after it was written: its clock is."""

    def ahead(line):
        minute = int(line[15:17]) + ("[Broker id=2]" in line)
        return f"{line[:15]}{minute:02d}{line[17:]}"

    assert kinds(told(capsys, NEW, altered(NEW, tmp_path, ahead))) == {UNTOLD: 1}


def test_the_report_and_the_page_tell_of_it(capsys, tmp_path):
    page = tmp_path / "report.html"
    assert main(["replay", str(LOST), "--logs", str(LOST), "--html", str(page)]) == 0
    text = capsys.readouterr().out
    assert f"{OBEYED}: 10:37:45.281 t-0: broker 0 obeyed controller 2 of epoch 1" in text
    assert text.count(f"{TRUNCATED}: 10:37:49") == 2 and text.count("way out: ") == 2 and "conforms to fenced" in text
    assert "broker 0 obeyed controller 2 of epoch 1" in page.read_text()


def test_topics_have_pseudonyms(capsys, tmp_path):
    shutil.copytree(NEW, tmp_path / "new")
    _, found = run_json(capsys, tmp_path / "new", "--logs", tmp_path / "new", "--redact")
    (remark,) = found["remarks"]
    assert remark["topic"].startswith("topic-") and "stuck" not in remark["text"]


def test_the_picture_of_the_lost_records_is_of_their_log(capsys, tmp_path):
    history = json.loads((LOST / "history.json").read_text())
    times = {hex(t.zxid): t.time for t in read(LOST).transactions}
    named = [step for step in history["steps"] if "zxid" in step]
    assert [time_of_day(times[step["zxid"]]) for step in named] == [step["time"] for step in named] and len(named) == 4
    picture = tmp_path / "picture.svg"
    assert main(["show", str(LOST / "history.json"), "--svg", str(picture)]) == 0
    assert picture.read_text() == (BUNDLED.parents[1] / "docs" / "kafka-3.9.1-lost-records.svg").read_text()
