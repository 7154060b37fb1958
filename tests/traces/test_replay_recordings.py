"""Every recording of a real cluster conforms, and its controllers are those that its README tells."""

import gzip
import json
import re
from collections import Counter
from pathlib import Path

from tests.traces.replaying import cut, read, replayed, whole
from traces.report import CONFORMS, fenced, verdict_of

ROW = re.compile(r"\| (\d+) \| (\d+) \| (0x\w+) \| (0x\w+) \| [\d:.]+ \| (0x\w+) \| ([\w ]+) at (0x\w+) \|")


def written(controller) -> tuple:
    """A controller as a row of a README's table."""
    how = controller.ended.replace("an operator", "the driver")
    return (str(controller.epoch), str(controller.broker), hex(controller.session), hex(controller.zxid),
            hex(controller.epoch_zxid), how, hex(controller.ended_zxid))


def test_conforms(recording_directory):
    result = whole(recording_directory)
    assert verdict_of(read(recording_directory), result) == (CONFORMS, None), result.divergence
    assert result.explained + result.skipped.total() == result.records
    expected = {"C4"} if recording_directory.parts[-2:] == ("1.1.1", "zombie") else set()
    assert set(result.violations.found) == expected


def test_controllers_are_those_of_the_readme(recording_directory):
    table = (recording_directory / "README.md").read_text().split("## Controllers")[1].split("\n## ")[0]
    rows = ROW.findall(table)
    assert len(rows) == table.count("\n| ") - 1
    assert [written(controller) for controller in whole(recording_directory).controllers.all] == rows


def test_refused_writes_of_deposed_controllers(recording_directory):
    lines = records(recording_directory)
    refused = Counter(tuple(op.get("err") for op in line.get("ops", ())) for line in lines)
    count = refused["badversion", "runtimeinconsistency"]
    assert fenced(whole(recording_directory)) == count
    if recording_directory.parts[-2:] == ("3.9.1", "zombie"):
        assert count == 405


def records(directory: Path) -> list[dict]:
    with gzip.open(directory / "txnlog.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def stale_writes(directory: Path) -> tuple[list[str], int]:
    """The zxids of plain writes by controllers after a later election, and how many changed a leader (KAFKA 7.1)."""
    brokers = {line["sid"] for line in records(directory) if line.get("path", "").startswith("/brokers/ids/")}
    own, states, epoch, stale, changed = {}, {}, 0, [], 0
    for line in records(directory):
        kind, path, data, writer = line["type"], line.get("path", ""), line.get("data"), line["sid"]
        if path == "/controller_epoch":
            own[writer] = epoch = data
        state = path.endswith("/state")
        before = states.get(path)
        if state:
            states[path] = data
        raised = state and kind == "setData" and data["leader_epoch"] > before["leader_epoch"]
        below = kind == "create" and path.startswith("/brokers/topics/") and path.count("/") > 3
        places = r"/(brokers/topics|admin|config/topics|isr_change_notification)/"
        controllers = raised or below or (kind == "delete" and re.match(places, path))
        written_epoch = data["controller_epoch"] if state and data else own.get(writer, 0)
        if writer in brokers and controllers and written_epoch < epoch:
            stale.append(line["zxid"])
            changed += bool(raised and data["leader"] != before["leader"])
    return stale, changed


def test_writes_after_a_later_election_are_those_of_an_independent_count(recording_directory):
    stale, changed = stale_writes(recording_directory)
    found = whole(recording_directory).violations.found.get("C4")
    assert (found.count if found else 0) == len(stale)
    if found:
        assert (hex(found.zxid), found.leader_changes) == (stale[0], changed)
    if recording_directory.parts[-2:] == ("1.1.1", "zombie"):
        assert (stale[0], len(stale), changed) == ("0x9b", 951, 228)


def test_a_log_that_begins_in_the_middle_conforms(recording_directory):
    recording = read(recording_directory)
    records = len(recording.transactions)
    for share in (0.15, 0.4, 0.7, 0.95) if records < 1000 else (0.9,):
        result = replayed(cut(recording, int(records * share)), whole(recording_directory).variant)
        assert (result.divergence, result.undecided) == (None, None)
        assert whole(recording_directory).controllers.all[-1] == result.controllers.all[-1]
