"""Every recording of a real cluster conforms, and its controllers are those that its README tells."""

import re
from collections import Counter
from pathlib import Path

import pytest

from kafkaproof.traces.explain.log.streams import unexplained
from kafkaproof.traces.report.log import CONFORMS, refused_by_epoch, verdict_of
from tests.traces.conftest import DIRECTORIES
from tests.traces.readmes import records
from tests.traces.replaying import BUNDLED, FIVE_FENCED, FIVE_LEGACY, REASSIGN, all_of, cut, read, told, whole

ROW = re.compile(r"\| (\d+) \| (\d+) \| (0x\w+) \| (0x\w+) \| [\d:.]+ \| (0x\w+) \| ([\w ]+) at (0x\w+) \|")


def written(controller) -> tuple:
    """A controller as a row of a README's table."""
    how = controller.ended.replace("an operator", "the driver")
    return (
        str(controller.epoch),
        str(controller.broker),
        hex(controller.session),
        hex(controller.zxid),
        hex(controller.epoch_zxid),
        how,
        hex(controller.ended_zxid),
    )


def test_conforms(recording_directory):
    result, accounts = all_of(recording_directory).result, all_of(recording_directory).audit
    assert verdict_of(read(recording_directory), result, accounts) == (CONFORMS, None), result.divergence
    assert result.explained + result.skipped.total() == result.records
    expected = {"C4"} if recording_directory.parts[-2:] == ("1.1.1", "zombie") else set()
    assert set(result.violations.found) == expected


STREAM_WRITES = {
    "1.1.1/controller-failover": (207, 48),
    "1.1.1/isr-and-unclean": (94, 37),
    "1.1.1/topic-deletion": (160, 112),
    "1.1.1/zombie": (3034, 539),
    "3.9.1/controller-failover": (217, 30),
    "3.9.1/groups": (91, 32),
    "3.9.1/isr-and-unclean": (114, 25),
    "3.9.1/reassign": (121, 85),
    "3.9.1/steady": (151, 28),
    "3.9.1/topic-deletion": (166, 100),
    "3.9.1/zombie": (2523, 511),
    "1.1.1-five-brokers": (606, 422),
    "2.8.2-five-brokers": (735, 528),
}
"""Changes of a leader or an ISR, and other writes to topics and for reassignments: each is explained."""


def check_streams(directory: Path, name: str) -> None:
    streams = all_of(directory).streams
    assert unexplained(all_of(directory).gathered.common, streams) == []
    assert (len(streams.partitions), len(streams.writes)) == STREAM_WRITES[name]


def test_every_write_of_every_stream_is_explained(recording_directory):
    check_streams(recording_directory, "/".join(recording_directory.parts[-2:]))


@pytest.mark.skipif(len(DIRECTORIES) < 11, reason="not all recordings are there")
def test_changes_of_leaders_and_isrs_in_all_recordings():
    assert sum(len(all_of(directory).streams.partitions) for directory in DIRECTORIES) == 6_878


@pytest.mark.parametrize("directory", [FIVE_FENCED, FIVE_LEGACY], ids=lambda directory: directory.name)
def test_bundled_recordings_of_five_brokers_conform(directory):
    result, accounts = all_of(directory).result, all_of(directory).audit
    assert verdict_of(read(directory), result, accounts) == (CONFORMS, None), result.divergence
    check_streams(directory, directory.name)


def test_bundled_recordings_stay_small():
    assert sum(file.stat().st_size for file in BUNDLED.rglob("log.*")) < 2_600_000


def test_reassignments_of_3_9_1_are_those_of_the_readme():
    moved = all_of(REASSIGN).streams.reassignments
    assert Counter(each.outcome for each in moved) == {"finished": 11, "cancelled": 3, "replaced": 1}
    found = {(*each.partition, each.zxid): (each.outcome, each.ended) for each in moved}
    assert found["r2", 0, 0x81] == ("finished", 0x8D)
    assert found["r3", 1, 0x83] == ("finished", 0x87)
    assert (found["r1", 0, 0x9A], found["r1", 1, 0x9C]) == (("finished", 0xC3), ("finished", 0xBF))
    assert (found["r1", 3, 0xDC], found["r1", 2, 0xDE]) == (("cancelled", 0xE0), ("cancelled", 0xE3))
    assert (found["r1", 0, 0x10B][0], found["r1", 1, 0x10D][0]) == ("cancelled", "replaced")


def test_controllers_are_those_of_the_readme(recording_directory):
    table = (recording_directory / "README.md").read_text().split("## Controllers")[1].split("\n## ")[0]
    rows = ROW.findall(table)
    assert len(rows) == table.count("\n| ") - 1
    assert [written(controller) for controller in whole(recording_directory).controllers.all] == rows


def test_refused_writes_of_deposed_controllers(recording_directory):
    lines = records(recording_directory)
    refused = Counter(tuple(op.get("err") for op in line.get("ops", ())) for line in lines)
    count = refused["badversion", "runtimeinconsistency"]
    assert len(refused_by_epoch(whole(recording_directory))) == count
    if recording_directory.parts[-2:] == ("3.9.1", "zombie"):
        assert count == 405


def stale_writes(directory: Path) -> tuple[list[str], int]:
    """The zxids of plain writes by controllers after a later election, and how many changed a leader."""
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
        result = told(cut(recording, int(records * share)), whole(recording_directory).variant).result
        assert (result.divergence, result.undecided) == (None, None)
        assert whole(recording_directory).controllers.all[-1] == result.controllers.all[-1]


@pytest.mark.parametrize(
    ("directory", "place"),
    [
        pytest.param(FIVE_LEGACY, 458, id="a broker tells of ISRs that it wrote before"),
        pytest.param(FIVE_FENCED, 406, id="a broker has started anew and its former session is open"),
        pytest.param(FIVE_FENCED, 706, id="reassignments were asked for before"),
    ],
)
def test_what_was_before_a_log_explains_what_is_in_it(directory, place):
    found = told(cut(read(directory), place), whole(directory).variant)
    assert (found.result.divergence, found.result.undecided, found.audit.unexplained) == (None, None, [])
