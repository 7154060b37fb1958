"""Recordings that cannot be read are told in a line; what a killed process leaves behind can be read."""

import json
import shutil
from dataclasses import replace

import pytest

from kafkaproof.spec.errors import UserError
from kafkaproof.traces.processes.recorded.lines import read_process
from kafkaproof.traces.processes.recorded.reading import is_recording, read_cluster
from kafkaproof.traces.zookeeper.log import read_log
from tests.traces.log_writer import write_log
from tests.traces.processes.recordings import FAILOVER, SPLIT_BRAIN, Copy, replayed


@pytest.fixture
def copy(tmp_path):
    return Copy(FAILOVER, tmp_path / "copy")


def test_a_recording_is_told_from_a_log():
    assert is_recording(FAILOVER) and is_recording(SPLIT_BRAIN)
    assert not is_recording(FAILOVER / "zookeeper")


def test_a_torn_last_line_is_left_out(copy):
    file = copy.directory / "recording" / "broker-1.1.jsonl"
    whole = len(read_process(file))
    with open(file, "a") as stream:
        stream.write('{"n": 99, "part": "elec')
    assert len(read_process(file)) == whole


def test_a_torn_last_line_is_told(copy, kafkaproof):
    file = copy.directory / "recording" / "broker-2.2.jsonl"
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    answer = kafkaproof("replay", copy.directory)
    assert answer.code == 0 and "broker-2.2.jsonl: torn last line left out" in answer.out.replace("\n", "")
    assert kafkaproof("replay", copy.directory, "--json").json["problems"] == [f"{file}: torn last line left out"]


def test_a_log_of_zookeeper_in_which_records_are_missing_is_refused(copy):
    log = copy.directory / "zookeeper" / "version-2" / "log.1"
    write_log(log, [each for each in read_log(log).transactions if each.zxid != 5])
    with pytest.raises(UserError, match="gap: records 0x5 to 0x5 are missing"):
        read_cluster(copy.directory)


def test_what_is_asked_for_again_is_told_once(copy):
    """An answer that does not come: the first time may have landed, and the step that is recorded is one."""
    file = copy.directory / "recording" / "broker-1.1.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    whole, again = read_process(file), []
    for row in rows:
        again += [row, row | {"zxid": row["zxid"] + 1}, row | {"zxid": row["zxid"] + 2}] if "asks" in row else [row]
    assert len(again) > len(rows) + 2
    file.write_text("".join(json.dumps(row) + "\n" for row in again))
    found = read_process(file)
    assert {line.attempts for line in found if line.asked} == {3}
    assert [replace(line, attempts=1) for line in found] == whole


def test_what_comes_between_does_not_hide_that_it_is_asked_again(copy):
    """Messages may, of any step; of a registration other steps may, too, so that it has another number."""
    file = copy.directory / "recording" / "broker-1.1.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    place, asks = next((i, row) for i, row in enumerate(rows) if "register_broker" in row.get("asks", ""))
    sends = {"sends": "1.1-0", "kind": "Fetch", "content": {}, "zxid": 1, "clock": 1, "answers": None}
    between = (
        rows[: place + 1] + [sends, asks | {"n": asks["n"] + 1, "zxid": asks["zxid"] + 1}, sends] + rows[place + 1 :]
    )
    file.write_text("".join(json.dumps(row) + "\n" for row in between))
    found = read_process(file)
    (step,) = [line for line in found if line.step and line.name == "register_broker"]
    assert (step.attempts, step.asked, step.asks) == (2, asks["zxid"], False)
    assert not any(line.asks for line in found) and sum(line.sends == "1.1-0" for line in found) == 2


@pytest.mark.parametrize("text", ["nonsense", "[]", '{"n": 1}', '{"step": "no step", "n": 1}', '{"sends": "x"}'])
def test_a_damaged_line_is_named(copy, text):
    file = copy.directory / "recording" / "broker-1.1.jsonl"
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines[:4], text, *lines[4:]]) + "\n")
    with pytest.raises(UserError, match=r"broker-1.1.jsonl: line 5 cannot be read"):
        read_cluster(copy.directory)


@pytest.mark.parametrize(
    "change",
    [
        {"format": 1},
        {"variant": "x"},
        {"brokers": 0},
        {"partitions": None},
        {"replicas": 1.5},
        {"partitions": 10**9},
        {"offsets": "x"},
        {"room": 1},
    ],
)
def test_a_description_of_another_form_is_refused(copy, change):
    file = copy.directory / "recording" / "cluster.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(UserError, match="not the description of a recording"):
        read_cluster(copy.directory)


def test_a_recording_without_the_log_of_its_zookeeper(copy):
    (copy.directory / "zookeeper").rename(copy.directory / "elsewhere")
    with pytest.raises(UserError, match="no zookeeper/ in it"):
        read_cluster(copy.directory)


def test_the_command(kafkaproof):
    answer = kafkaproof("replay", "--json", FAILOVER)
    assert (answer.code, answer.json["verdict"], answer.json["violations"]) == (0, "conforms", [])
    assert answer.json["steps"] == sum(answer.json["transitions"].values()) == replayed(FAILOVER).steps
    assert kafkaproof("replay", SPLIT_BRAIN).code == 1
    told = kafkaproof("replay", SPLIT_BRAIN, "--expect", "C4", "--expect", "C5", "--expect", "C8", "--expect", "C12")
    assert told.code == 0 and "conforms to legacy" in told.out and "violates C4" in told.out
    refused = kafkaproof("replay", SPLIT_BRAIN, "--variant", "legacy-checked")
    assert refused.code == 1 and "diverges from legacy-checked" in refused.out and "FENCED" in refused.out


@pytest.mark.parametrize(
    "arguments, wanted",
    [
        (["--variant", "zkclient"], "no cluster is 'zkclient'"),
        (["--expect", "X9"], "of a recording replay evaluates"),
        (["--chroot", "/k"], "for the log of a ZooKeeper only"),
    ],
)
def test_wrong_use(kafkaproof, arguments, wanted):
    assert wanted in kafkaproof("replay", FAILOVER, *arguments).complaint


@pytest.mark.parametrize("name", ["broker-x.jsonl", "broker-1.jsonl", "broker-9.1.jsonl"])
def test_a_file_of_no_process_of_the_recording_is_named(copy, name):
    (copy.directory / "recording" / "broker-1.1.jsonl").rename(copy.directory / "recording" / name)
    with pytest.raises(UserError, match=f"{name}: not of a process of this recording"):
        read_cluster(copy.directory)


@pytest.mark.parametrize(
    "change",
    [
        {"at": [7, True]},
        {"n": {}},
        {"part": "x"},
        {"part": {}},
        {"at": [1]},
        {"zxids": [[1]]},
        {"took": []},
        {"sent": [1]},
        {"session": 1},
    ],
)
def test_a_step_of_another_form_is_named(copy, change):
    rows = copy.rows("1.1")
    place = next(place for place, row in enumerate(rows) if "step" in row)
    copy.write("1.1", rows[:place] + [rows[place] | change] + rows[place + 1 :])
    with pytest.raises(UserError, match=r"broker-1.1.jsonl: line \d+ cannot be read"):
        read_cluster(copy.directory)


@pytest.mark.parametrize(
    "found", [[1.5], [{}], [{"log": "", "length": "x", "hw": 0}], 1, [{"log": "", "length": 0, "hw": 0}] * 2]
)
def test_what_was_found_on_a_disk_in_another_form_is_named(copy, found):
    first, *rows = copy.rows("1.1")
    copy.write("1.1", [first | {"found": found}, *rows])
    with pytest.raises(UserError, match="broker-1.1.jsonl: line 1 cannot be read"):
        read_cluster(copy.directory)


def test_the_log_of_another_zookeeper_is_told_by_the_session_that_is_missing(copy):
    shutil.rmtree(copy.directory / "zookeeper")
    shutil.copytree(SPLIT_BRAIN / "zookeeper", copy.directory / "zookeeper")
    with pytest.raises(UserError, match="ZooKeeper's log has no session 0x.*, which broker .* has opened"):
        replayed(copy.directory)


@pytest.mark.parametrize("format, partner", [(4, "load"), (5, "clean")])
def test_what_goes_with_a_write_that_was_refused_is_read_as_it_is_now(tmp_path, format, partner):
    copy = Copy(FAILOVER, tmp_path / "copy")
    process, row = next(
        (file.stem.removeprefix("broker-"), row)
        for file in sorted((FAILOVER / "recording").glob("b*.jsonl"))
        for row in copy.rows(file.stem.removeprefix("broker-"))
        if ".clean(" in str(row.get("with"))
    )
    first, *rows = copy.rows(process)
    answer = row["step"].replace("-> OK", "-> BADVERSION")
    copy.write(process, [first | {"format": format}, *rows])
    copy.change(process, row["n"], step=answer)
    found = next(
        line
        for line in read_process(copy.directory / "recording" / f"broker-{process}.jsonl")
        if line.step and str(line.step) == answer
    )
    assert [step.name for _, step in found.partners] == [partner]
