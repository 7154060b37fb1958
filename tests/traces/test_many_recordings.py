"""Several recordings at once: a row each, alone and in tasks of Spark, and the worst exit code."""

import shutil

import pytest

from kafkaproof.checker.commands.main import OK, UNFINISHED, VIOLATED, WRONG_USE
from kafkaproof.traces.commands.recording_rows import Row, recordings_in, worst
from tests.traces.processes.recordings import BUNDLED, FAILOVER, SPLIT_BRAIN, Copy, steps

ZOMBIE = BUNDLED / "1.1.1-zombie"


@pytest.fixture
def recordings(tmp_path):
    """A directory of recordings: one that conforms, one that is altered, one that is torn, and one of a real log."""
    folder = tmp_path / "recordings"
    shutil.copytree(FAILOVER, folder / "good")
    altered, torn = Copy(FAILOVER, folder / "altered"), Copy(FAILOVER, folder / "torn")
    process, step = steps(FAILOVER)[20]
    altered.change(process, step["n"], state="0" * 16)
    torn.write("1.1", [{"n": 1}])
    shutil.copytree(ZOMBIE, folder / "zombie")
    (folder / "notes.txt").write_text("not a directory")
    return folder


def told(answer):
    return {row["recording"].rsplit("/", 1)[1]: row for row in answer.json["recordings"]}


def test_a_row_of_each_and_the_worst_code(kafkaproof, recordings):
    answer = kafkaproof("replay", "--json", recordings)
    rows = told(answer)
    assert answer.code == VIOLATED and list(rows) == ["altered", "good", "torn", "zombie"]
    assert {name: (row["verdict"], row["code"]) for name, row in rows.items()} == {
        "altered": ("diverges", 1),
        "good": ("conforms", 0),
        "torn": ("bad-input", 2),
        "zombie": ("conforms", 1),
    }
    alone = kafkaproof("replay", "--json", recordings / "altered").json
    assert rows["altered"]["first_divergence"] == ": ".join(alone["first_divergence"].values())
    assert (rows["good"]["steps"], rows["good"]["error"]) == (len(steps(FAILOVER)), None)
    assert "line 1 cannot be read" in rows["torn"]["error"]
    assert (rows["zombie"]["incidents"], rows["good"]["incidents"]) == (["split-brain"], [])
    assert rows["zombie"]["violations"] == [
        each["property"] for each in kafkaproof("replay", "--json", ZOMBIE).json["violations"]
    ]


def test_tasks_of_spark_tell_the_same(kafkaproof, recordings):
    alone = kafkaproof("replay", "--json", recordings, SPLIT_BRAIN)
    inside = kafkaproof("replay", "--json", "--master", "local[2]", recordings, SPLIT_BRAIN)
    assert (inside.code, inside.json) == (alone.code, alone.json) and len(alone.json["recordings"]) == 5
    (row,) = kafkaproof("replay", "--json", "--master", "local[2]", FAILOVER).json["recordings"]
    assert row["verdict"] == "conforms"


def test_the_table_tells_what_is_wrong(kafkaproof, recordings):
    answer = kafkaproof("replay", recordings / "good", recordings / "torn")
    assert answer.code == WRONG_USE and "1 of 2 recordings conform" in answer.out
    assert "cannot be read" in answer.out and "another hash" not in answer.out
    violated = "--expect C4 --expect C5 --expect C8 --expect C12".split()
    expected = kafkaproof("replay", recordings / "good", SPLIT_BRAIN, *violated)
    assert expected.code == OK and "2 of 2 recordings conform" in expected.out


def test_a_log_that_conforms_and_yet_hurt_is_not_green(kafkaproof, tmp_path):
    answer = kafkaproof("replay", BUNDLED / "3.9.1-lost-records", FAILOVER)
    assert answer.code == OK and "went wrong" in answer.out and "offline" in answer.out


def test_what_is_imperfect_in_a_log_is_told(kafkaproof, tmp_path, monkeypatch):
    shutil.copytree(ZOMBIE, tmp_path / "torn")
    log = tmp_path / "torn" / "version-2" / "log.1"
    log.write_bytes(log.read_bytes()[:10_000])
    monkeypatch.chdir(tmp_path)
    answer = kafkaproof("replay", "torn", FAILOVER)
    assert answer.code == OK and "problem: torn/version-2/log.1: torn last record at byte" in answer.out
    rows = kafkaproof("replay", "--json", "torn", FAILOVER).json["recordings"]
    assert [len(row["problems"]) for row in rows] == [1, 0]


def test_the_worst_code():
    codes = [OK, UNFINISHED, WRONG_USE, VIOLATED]
    assert [worst([Row("r", code=code) for code in codes[:n]]) for n in (1, 2, 3, 4)] == codes


def test_what_is_replayed():
    assert recordings_in([ZOMBIE, FAILOVER / "zookeeper"]) == [ZOMBIE, FAILOVER / "zookeeper"]
    assert recordings_in([BUNDLED]) == sorted(each for each in BUNDLED.iterdir() if each.is_dir())


def test_a_variant_of_no_log_is_told_in_the_row_of_a_log(kafkaproof):
    rows = kafkaproof("replay", "--json", "--variant", "legacy-checked", FAILOVER / "zookeeper", FAILOVER).json[
        "recordings"
    ]
    assert rows[0]["error"].startswith("--variant legacy-checked: there are ") and rows[0]["code"] == WRONG_USE


@pytest.mark.parametrize(
    "arguments, wanted", [(["--history", "h.json"], "for one recording only"), (["--expect", "X9"], "replay evaluates")]
)
def test_wrong_use_of_several(kafkaproof, arguments, wanted):
    assert wanted in kafkaproof("replay", FAILOVER, SPLIT_BRAIN, *arguments).complaint
