"""Changes of partition states: what explains them, in real recordings and in altered ones."""

import gzip
import json
import re
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import pytest

from kafkaproof.checker.commands.main import main
from kafkaproof.traces.evidence.failures import BADVERSION
from kafkaproof.traces.explain.log.streams import Streams
from kafkaproof.traces.explain.partitions.explained import Explained
from kafkaproof.traces.report.partitions import changes_as_json
from kafkaproof.traces.zookeeper.transactions import Failure
from tests.traces.log_writer import write_log
from tests.traces.replaying import FENCED, LEGACY, altered, changes_of, cut, read, run_json
from tests.traces.replaying import explained as explanations

PINNED = {
    "1.1.1/controller-failover": (207, 0),
    "1.1.1/isr-and-unclean": (94, 0),
    "1.1.1/topic-deletion": (160, 7),
    "1.1.1/zombie": (3034, 0),
    "3.9.1/controller-failover": (217, 20),
    "3.9.1/groups": (91, 28),
    "3.9.1/isr-and-unclean": (114, 0),
    "3.9.1/reassign": (121, 5),
    "3.9.1/steady": (151, 21),
    "3.9.1/topic-deletion": (166, 19),
    "3.9.1/zombie": (2523, 0),
}
"""Changes, all of which are explained, and how many of those in more than one way."""


@cache
def streams(directory: Path) -> Streams:
    return changes_of(read(directory))


def whole(directory: Path) -> list[Explained]:
    return streams(directory).partitions


def by(directory: Path) -> dict[tuple[str, str], int]:
    return {(row["strategy"], row["trigger"]): row["count"] for row in changes_as_json(streams(directory))["by"]}


def zxids(found: list[Explained], strategy: str) -> list[int]:
    return [each.change.zxid for each in found if each.explanations and each.explanations[0].strategy == strategy]


def test_counts_of_the_bundled_recording_of_3_9_1():
    assert by(FENCED) == {
        ("controlled_shutdown", "controlled shutdown"): 15,
        ("isr_expand", "AlterPartition"): 71,
        ("new_topic", "controller failover"): 12,
        ("new_topic", "topic creation"): 9,
        ("offline", "broker start-up"): 1,
        ("offline", "controller failover"): 24,
        ("remove_from_isr", "broker failure"): 1,
        ("remove_from_isr", "controlled shutdown"): 24,
        ("remove_from_isr", "controller failover"): 60,
    }


def test_counts_of_the_bundled_recording_of_1_1_1():
    assert by(LEGACY) == {
        ("controlled_shutdown", "controlled shutdown"): 160,
        ("isr_expand", "leader's own write"): 680,
        ("isr_shrink", "leader's own write"): 222,
        ("new_topic", "controller failover"): 120,
        ("new_topic", "topic creation"): 162,
        ("offline", "broker failure"): 188,
        ("preferred", "preferred election by znode"): 658,
        ("remove_from_isr", "broker failure"): 260,
        ("remove_from_isr", "controlled shutdown"): 224,
        ("remove_from_isr", "topic deletion"): 360,
    }


def test_every_change_of_every_recording_is_explained(recording_directory):
    found = changes_as_json(streams(recording_directory))
    assert (found["changes"], found["ambiguous"]) == PINNED["/".join(recording_directory.parts[-2:])]
    assert found["explained"] == found["changes"] == sum(row["count"] for row in found["by"])
    assert found["unexplained"] == []


def test_each_version_of_each_state_is_a_change(recording_directory):
    with gzip.open(recording_directory / "txnlog.jsonl.gz", "rt") as lines:
        records = [json.loads(line) for line in lines]
    applied = [
        (r["zxid"], op)
        for r in records
        for op in r.get("ops", [r])
        if not any("err" in other for other in r.get("ops", [r]))
    ]
    written = [zxid for zxid, op in applied if op["type"] in ("create", "setData") and op["path"].endswith("/state")]
    assert [hex(each.change.zxid) for each in whole(recording_directory)] == written


def test_unclean_elections_are_those_of_the_readme(recording_directory):
    told = re.search(r"## Unclean elections .*: (\d+)", (recording_directory / "README.md").read_text())
    assert len(zxids(whole(recording_directory), "offline_unclean")) == int(told[1])


@pytest.mark.parametrize(
    "name, strategy, expected",
    [
        ("3.9.1/steady", "preferred", range(0x109, 0x110)),
        (
            "3.9.1/isr-and-unclean",
            "offline_unclean",
            [0x7F, 0x80, 0x81, 0x85, 0x86, *range(0xE0, 0xE4), 0xE5, 0xF6, 0xF7],
        ),
        (
            "1.1.1/isr-and-unclean",
            "offline_unclean",
            [0x83, 0x84, 0x93, 0x94, *range(0xE4, 0xE8), 0xF1, 0xF2, 0x103, 0x104],
        ),
    ],
)
def test_elections_at_the_zxids_that_the_readme_tells(recording_directory, name, strategy, expected):
    if "/".join(recording_directory.parts[-2:]) == name:
        assert zxids(whole(recording_directory), strategy) == list(expected)


def test_a_recording_that_begins_in_the_middle(recording_directory):
    recording = read(recording_directory)
    for share in (0.45, 0.6, 0.9):
        later = cut(recording, int(len(recording.transactions) * share))
        found = explanations(later, "legacy" if recording_directory.parts[-2] == "1.1.1" else "fenced")
        assert [each.change for each in found] == [
            each.change for each in whole(recording_directory) if each.change.zxid > later.start.zxid
        ]
        assert [hex(each.change.zxid) for each in found if not each.explanations] == []


def test_a_controller_deposed_before_the_log_begins():
    found = explanations(cut(read(LEGACY), 0x9A))
    assert [each.change.zxid for each in found][:5] == list(range(0x9B, 0xA0))
    assert {each.change.after.controller_epoch for each in found[:5]} == {1}
    assert all(each.explanations for each in found[:5])


def rewritten(**fields):
    """A change of the partition state that a record writes."""

    def change(transaction):
        *others, write = transaction.operations
        data = json.dumps(json.loads(write.data) | fields).encode()
        return replace(transaction, operations=(*others, replace(write, data=data)))

    return change


@pytest.mark.parametrize(
    "zxid, fields, text",
    [
        (0x5B, {"isr": [3, 2, 1]}, "no event writes"),  # removes nobody, and says so under a new leader epoch
        (0x64, {"isr": [3, 2, 1]}, "no event writes"),  # lets a dead broker in
        (0x77, {"leader_epoch": 2}, "no event writes"),  # lets broker 1 in under a new leader epoch
        (0x5B, {"leader": 1}, "no event writes"),  # replica 3 lives, replica 1 is outside the new ISR
        (0x63, {"leader": 3}, "no event writes"),  # assignment 1, 2, 3: 2 comes before 3
        (0x63, {"leader": 1}, "no event writes"),  # not in the ISR, not even alive
        (0x63, {"leader_epoch": 3}, "leader epoch 3, where it can only be 2"),
        (0x63, {"leader_epoch": 1}, "the leader epoch stays"),
        (0x63, {"controller_epoch": 1}, "who did not win it"),
        (0x63, {"controller_epoch": 3}, "who did not win it"),
        (0x49, {"isr": [3, 2]}, "no event writes"),  # replica 1 is online
        (0x49, {"leader": 1}, "no event writes"),  # assignment 3, 2, 1
        (0x49, {"leader_epoch": 1}, "leader epoch 1, where it can only be 0"),
        (0x116, {"isr": [3, 1, 2]}, "no event writes"),  # replica 2 is dead
        (0x78, {"isr": [2, 3, 4]}, "no ISR that a leader may propose"),  # not assigned
        (0x78, {"isr": [2, 1]}, "no ISR that a leader may propose"),  # one in, one out
        (0x78, {"isr": [3, 1]}, "or is not in the ISR"),
        (0x1C1, {"leader": 3}, "no event writes"),  # the broker that shuts down goes on leading, outside the ISR
        (0x1C1, {"isr": [2, 3, 1]}, "no event writes"),
        (0x49, {"leader_recovery_state": 1}, "RECOVERING"),  # a new partition
        (0x63, {"leader_recovery_state": 1}, "RECOVERING"),  # an election in the ISR
        (0x78, {"leader_recovery_state": 1}, "RECOVERING"),  # a larger ISR
    ],
)
def test_an_altered_state_of_3_9_1_is_unexplained(zxid, fields, text):
    found = explanations(altered(read(FENCED).transactions, zxid, rewritten(**fields)))
    (each,) = [each for each in found if each.change.zxid == zxid]
    assert each.explanations == () and text in each.text


@pytest.mark.parametrize(
    "zxid, fields",
    [
        (0x4CC, {"leader": 3}),  # assignment 1, 2, 3: 2 comes before 3
        (0x4CC, {"leader": 1}),
        (0x4CC, {"isr": [3]}),
        (0x660, {"leader": 2}),  # preferred: 3
        (0x660, {"isr": [3, 1]}),  # replica 2 is the controller itself
        (0xA1, {"isr": [1, 2, 3, 4]}),
        (0xA1, {"leader": 3}),
        (0x920, {"leader": 3}),
        (0x920, {"isr": [2, 1]}),  # replica 3 lives and goes on
        (0x920, {"leader": -1, "isr": [3, 1]}),
        (0x144B, {"leader": 1}),
        (0x268, {"leader": 2}),
    ],
)
def test_an_altered_state_of_1_1_1_is_unexplained(zxid, fields):
    found = explanations(altered(read(LEGACY).transactions, zxid, rewritten(**fields)))
    assert zxid in [each.change.zxid for each in found if not each.explanations]


def test_a_broker_s_write_in_another_s_name_is_unexplained():
    sessions = {each.change.broker: each.change.session for each in whole(LEGACY)}
    for zxid, writer in ((0xA1, 2), (0x4CC, 2), (0xA1, None)):
        session = sessions.get(writer, 1)
        found = explanations(altered(read(LEGACY).transactions, zxid, partial(replace, session=session)))
        (each,) = [each for each in found if each.change.zxid == zxid]
        assert not each.explanations and "written" in each.text


def test_the_report_lists_what_nothing_explains(capsys, tmp_path):
    write_log(tmp_path / "log.1", altered(read(FENCED).transactions, 0x63, rewritten(leader=3)).transactions)
    code, found = run_json(capsys, tmp_path)
    assert (code, found["verdict"], found["first_divergence"]["zxid"]) == (1, "diverges", "0x63")
    first = found["partitions"]["unexplained"][0]
    assert (first["zxid"], first["partition"]) == ("0x63", "f1-3")
    assert first["before"] == {"leader": -1, "leader_epoch": 1, "controller_epoch": 2, "isr": [2, 3]}
    assert first["after"] == {"leader": 3, "leader_epoch": 2, "controller_epoch": 2, "isr": [2, 3]}
    assert "assignment [1, 2, 3]" in first["text"] and "[2, 3] since 0x59" in first["text"]
    assert (
        found["partitions"]["changes"]
        == 217
        == found["partitions"]["explained"] + len(found["partitions"]["unexplained"])
    )
    main(["replay", str(tmp_path)])
    text = " ".join(capsys.readouterr().out.split())
    assert "unexplained at 0x63: f1-3 from leader -1, leader epoch 1, ISR 2,3 to leader 3" in text


def test_the_report_counts_by_strategy_and_trigger(capsys):
    found = run_json(capsys, FENCED)[1]["partitions"]
    assert (found["changes"], found["explained"], found["ambiguous"], found["unexplained"]) == (217, 217, 20, [])
    assert {"strategy": "offline", "trigger": "controller failover", "count": 24} in found["by"]
    main(["replay", str(FENCED)])
    assert "217 of 217 changes of a leader or an ISR are explained" in capsys.readouterr().out


def test_nothing_followed_has_no_partitions(capsys, tmp_path):
    (tmp_path / "log.1").write_bytes(b"")
    assert run_json(capsys, tmp_path)[1]["partitions"] is None


@pytest.mark.parametrize("refused", (True, False))
def test_an_election_whose_answer_was_lost_is_held_again(refused):
    """The controller meets the version that it has written itself, elects again, and raises the leader epoch once more."""
    zxid = zxids(whole(FENCED), "offline")[0]
    known = read(FENCED).transactions[:zxid]
    check, written = known[-1].operations
    state = json.loads(written.data)
    again = replace(
        written,
        data=json.dumps(state | {"leader_epoch": state["leader_epoch"] + 1}).encode(),
        version=written.version + 1,
    )
    lost = replace(known[-1], zxid=zxid + 1, operations=(check, Failure(BADVERSION)))
    asked = replace(known[-1], zxid=zxid + 2, operations=(replace(check), again))
    found = explanations(altered([*known, *([lost] if refused else []), asked], 0, replace))[-1]
    assert found.change.zxid == zxid + 2
    assert [each.strategy for each in found.explanations] == (["offline"] if refused else [])
