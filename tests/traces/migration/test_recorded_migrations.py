"""Recorded migrations of a real cluster conform: who ruled, what happened, and what went wrong is told."""

from dataclasses import replace
from functools import cache

import pytest

from kafkaproof.checker.commands.main import main
from kafkaproof.traces.reading.recording import Recording, read_recording
from kafkaproof.traces.zookeeper.znodes.quorum import claim_in
from tests.traces.log_writer import write_log
from tests.traces.replaying import BUNDLED, read, run_json
from tests.traces.tampering import renumbered

WHOLE, BACK, LOST, THREE = (
    BUNDLED / f"3.9.1-migration{each}" for each in ("", "-rolled-back", "-lost", "-three-brokers")
)
STUCK = {
    name: BUNDLED / f"3.9.1-migration-{name}" for name in ("behind-copy", "late-write", "half-created", "created-anew")
}
"""Of trials in which what was found in the model came true."""
FORMER = {name: BUNDLED / f"{name}-migration" for name in ("3.7.2", "3.8.1")}
"""Of releases whose controllers write nothing behind a claim."""


@cache
def replayed(directory, *options):
    """The exit code and the JSON of a replay, once for all tests."""
    import contextlib
    import io
    import json

    with contextlib.redirect_stdout(out := io.StringIO()):
        code = main(["replay", str(directory), "--json", *options])
    return code, json.loads(out.getvalue())


def rulers(found: dict) -> list[tuple]:
    return [(each["broker"], each["controller"], each["kraft_epoch"]) for each in found["migration"]["rulers"]]


@pytest.mark.parametrize(
    "directory", [WHOLE, BACK, LOST, THREE, *FORMER.values(), *STUCK.values()], ids=lambda each: each.name
)
def test_every_record_is_accounted_for(directory):
    code, found = replayed(directory)
    assert (code, found["verdict"], found["migration"]["verdict"]) == (0, "conforms", "conforms")
    stretches = [found, *found["earlier"]]
    records = len(read_recording(directory).transactions)
    assert sum(each["audit"]["records"] for each in stretches) + found["migration"]["records"] == records
    assert found["problems"] == []
    assert all(each["audit"]["unexplained"] == each["audit"]["not_followed"] == 0 for each in stretches)


@pytest.mark.parametrize("directory", [WHOLE, BACK, LOST, THREE, *FORMER.values()], ids=lambda each: each.name)
def test_both_stores_agree(directory):
    assert replayed(directory)[1]["migration"]["differences"] == []


def told_of(name: str) -> list[tuple[str, str]]:
    """What is told of a migration that does not go on, each with its way out."""
    incidents = replayed(STUCK[name])[1]["incidents"]
    return [(each["text"], each["way_out"]) for each in incidents if each["kind"] in ("lost-metadata", "migration")]


def test_a_copy_that_migration_does_not_know_of_is_told():
    ((text, way_out),) = told_of("behind-copy")
    assert "the copy is complete in the quorum's log (offset 38)" in text and "begin anew" in way_out


def test_a_first_write_that_is_late_is_a_step_and_is_told():
    found = told_of("late-write")
    assert "controller 3000 of the quorum, KRaft epoch 2 was deposed, and wrote /migration" in found[0][0]
    assert "let another controller of the quorum lead" in found[0][1]
    assert "the copy is complete" in found[1][0] and len(found) == 2
    steps = {each["what"]: each["count"] for each in replayed(STUCK["late-write"])[1]["migration"]["by"]}
    assert steps["begin_to_rule"] == 2 and steps["claim"] == 2


def test_a_late_write_of_something_else_diverges(capsys, tmp_path):
    log = list(read(STUCK["late-write"]).transactions)
    late = next(each for each in log if each.zxid == 0xE7)
    data = late.first.data.replace(b'"kraft_metadata_offset":-1', b'"kraft_metadata_offset":7')
    other = replace(late, operations=(replace(late.first, data=data),))
    write_log(tmp_path / "log.1", [other if each is late else each for each in log])
    code, found = run_json(capsys, tmp_path)
    assert (code, found["first_divergence"]["zxid"]) == (1, "0xe7")
    assert "migration.begin_to_rule writes offset -1" in found["first_divergence"]["reason"]


def test_a_state_that_is_missing_is_told_and_an_operator_may_create_it(capsys, tmp_path):
    ((text, way_out),) = told_of("half-created")
    assert "sets what is not there (first at 0xee), and begins again" in text and "by hand" in way_out
    by = {each["what"]: each["count"] for each in replayed(STUCK["half-created"])[1]["migration"]["by"]}
    assert by["states created by hand"] == 1
    log = list(read(STUCK["half-created"]).transactions)
    write_log(tmp_path / "log.1", renumbered([each for each in log if not 0xED <= each.zxid < 0x104]))
    assert run_json(capsys, tmp_path)[0] == 1


def test_a_topic_that_is_created_again_and_goes_is_told():
    found = told_of("created-anew")
    assert any("deleted from ZooKeeper what its log has not" in text for text, _ in found)
    differences = replayed(STUCK["created-anew"])[1]["migration"]["differences"]
    assert [(each["what"], each["until"]) for each in differences] == [
        ("the state of other-0-0", None),
        ("topic other-0", None),
    ]


def test_a_whole_migration_has_a_failover_in_the_copy_and_one_behind_it():
    found = replayed(WHOLE)[1]
    assert rulers(found)[3:] == [(None, 3001, 1), (None, 3002, 3), (None, 3001, 5), (None, 3002, 6)]
    (log,) = found["migration"]["metadata_logs"]
    assert [(each["begin"], each["end"], each["aborted"]) for each in log["copies"]] == [
        (22, 24, True),
        (26, 40, False),
    ]
    assert [each["state"] for each in log["states"]] == ["PRE_MIGRATION", "MIGRATION", "POST_MIGRATION"]
    assert [(each["broker"], each["migrating"]) for each in log["brokers"]] == [
        (0, True),
        (1, True),
        (0, False),
        (1, False),
    ]
    assert not [each for each in found["incidents"] if each["kind"] in ("lost-metadata", "migration")]


@pytest.mark.parametrize("release", FORMER)
def test_a_controller_that_writes_nothing_behind_its_claim_is_followed(release):
    by = replayed(FORMER[release])[1]["migration"]["by"]
    steps = {each["what"]: each["count"] for each in by if each["system"]}
    assert steps["claim"] == 5 and "begin_to_rule" not in steps
    assert {each["what"] for each in replayed(WHOLE)[1]["migration"]["by"]} >= {"begin_to_rule", "record_copy"}


def test_a_rollback_leaves_a_cluster_in_zookeeper_mode_and_nothing_to_tell():
    found = replayed(BACK)[1]
    assert rulers(found)[3:] == [(None, 3001, 2), (1, None, None), (0, None, None)]
    assert [each["text"] for each in found["migration"]["events"]][-2:] == [
        "/controller deleted by hand",
        "/migration deleted by hand",
    ]
    assert not [each for each in found["incidents"] if each["kind"] in ("lost-metadata", "migration")]
    assert [each["topic"] for each in found["topics"]["created"]] == ["again"]


def test_a_second_try_with_migration_left_behind_is_told_with_the_way_out():
    found = replayed(LOST)[1]
    told = {each["zxid"]: each for each in found["incidents"] if each["kind"] in ("lost-metadata", "migration")}
    assert [(zxid, each["kind"]) for zxid, each in sorted(told.items())] == [
        ("0x19d", "lost-metadata"),
        ("0x1b4", "lost-metadata"),
        ("0xe2", "migration"),
    ]
    assert "past offset 41 of epoch 2" in told["0x19d"]["text"].replace("passed", "past")
    assert sorted(told["0x1b4"]["what"]) == ["again", "both", "kept", *(f"other-{n}" for n in range(4))]
    assert all("delete /migration" in each["way_out"] or "and /migration" in each["way_out"] for each in told.values())
    assert main(["replay", str(LOST), "--fail-on", "lost-metadata", "--json"]) == 1


def in_epoch(transaction, former: int, later: int):
    """A record of a quorum whose leader has a later epoch."""
    names = ("kraft_controller_epoch", "kraftControllerEpoch", "controller_epoch", "kraft_metadata_epoch")

    def changed(data: bytes | None) -> bytes | None:
        for name in names:
            data = data and data.replace(b'"%s":%d' % (name.encode(), former), b'"%s":%d' % (name.encode(), later))
        return data

    written = [
        replace(each, data=changed(each.data)) if hasattr(each, "data") else each for each in transaction.operations
    ]
    return replace(transaction, operations=tuple(written))


def test_states_that_the_controller_leaves_alone_behind_a_rollback_are_told(capsys, tmp_path):
    log = list(read(BACK).transactions)
    claim = next(each for each in log if claim_in(each, ""))
    write_log(tmp_path / "log.1", [in_epoch(each, 2, 9) if each.session == claim.session else each for each in log])
    found = run_json(capsys, tmp_path)[1]
    told = [each for each in found["incidents"] if each["kind"] == "migration"]
    assert found["migration"]["verdict"] == "conforms" and told[0]["zxid"] == "0x12f"
    assert "of a later epoch than 5" in told[0]["text"] and "both-0" in told[0]["what"]
    assert "delete /controller" in told[0]["way_out"]


@pytest.mark.parametrize("directory", [WHOLE, LOST], ids=lambda each: each.name)
def test_without_the_quorum_s_log_who_rules_is_told_all_the_same(directory, tmp_path):
    write_log(tmp_path / "log.1", read(directory).transactions)
    code, found = replayed(tmp_path)
    assert (code, found["verdict"], found["migration"]["metadata_logs"]) == (0, "conforms", [])
    assert rulers(found) == rulers(replayed(directory)[1])


def test_names_are_redacted_everywhere(capsys):
    assert main(["replay", str(LOST), "--redact", "--json"]) == 0
    told = capsys.readouterr().out
    assert "other-1" not in told and "kept" not in told.replace("kept_lost", "") and '"topic-3"' in told


def test_a_divergence_while_a_quorum_rules_is_told_on_the_terminal_and_on_the_page(capsys, tmp_path):
    log = list(read(WHOLE).transactions)
    lost = next(each for each in log if each.zxid == 0xE6)
    write_log(tmp_path / "log.1", renumbered([each for each in log if each is not lost]))
    page = tmp_path / "report.html"
    assert main(["replay", str(tmp_path), "--html", str(page)]) == 1
    told = capsys.readouterr().out
    assert "diverges: while a quorum rules, at 0xe6" in told
    assert "migration.begin_to_rule writes offset -1 of epoch -1, by controller 3002" in told.replace("\n", " ")
    assert "diverges at 0xe6, while a quorum rules" in page.read_text()


def test_a_log_of_another_quorum_is_noticed(capsys):
    code, found = run_json(capsys, WHOLE, "--metadata-log", str(BACK / "metadata"))
    assert code == 0
    assert found["problems"][0] == "the quorum's log is not there in which controller 3001 leads in epoch 1"
    code, found = run_json(capsys, BACK, "--metadata-log", str(WHOLE / "metadata"))
    assert (code, found["first_divergence"]["reason"]) == (1, "in the quorum's log nobody leads in epoch 2")


def test_a_damaged_metadata_log_is_bad_input(capsys, tmp_path):
    place = tmp_path / "__cluster_metadata-0"
    place.mkdir()
    (place / "00000000000000000000.log").write_bytes(bytes(12) + b"\x7f" * 60)
    code, found = run_json(capsys, WHOLE, "--metadata-log", str(tmp_path))
    assert (code, found["verdict"]) == (2, "bad-input") and str(place) in found["reason"]


def test_a_recording_in_memory_is_cut_into_stretches():
    log = list(read(BACK).transactions)
    part = Recording(BACK, None, log, []).between(None, 0x10, 0x20)
    assert [each.zxid for each in part.transactions] == list(range(0x10, 0x21))
