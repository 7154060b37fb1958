"""The report of a replay as a page: what is in it, against the report itself; bounds; files that cannot be written."""

import errno
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.commands.main import main
from kafkaproof.traces.basics.whole_files import write_whole
from kafkaproof.traces.reading.missing import Missing
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.reading.times import Times
from kafkaproof.traces.report.log import BAD_INPUT, UNDECIDED, Report
from kafkaproof.traces.report.page import bounds, incidents, records
from kafkaproof.traces.report.page.bounds import bounded_items, bounded_lanes
from kafkaproof.traces.report.page.incidents import Clusters, clusters_as_json
from kafkaproof.traces.report.page.items import KINDS, Item, Lane
from kafkaproof.traces.report.page.render import items_of, render
from tests.traces.page.pages import data_in, items_in, page, report, report_of
from tests.traces.replaying import FENCED, FIVE_LEGACY, LEGACY, REASSIGN, altered, first, read, run_json

ALL = (LEGACY, FENCED, REASSIGN, FIVE_LEGACY)


@pytest.mark.parametrize("directory", ALL, ids=lambda directory: directory.name)
def test_every_record_is_behind_an_item(directory):
    found = report(directory)
    items = items_of(found, Times(found.recording))
    assert {zxid for item in items for zxid in item.zxids} >= {t.zxid for t in found.recording.transactions}
    assert {item.kind for item in items} <= KINDS.keys()
    assert all(item.end is None or item.start <= item.end for item in items)


@pytest.mark.parametrize("directory", ALL, ids=lambda directory: directory.name)
def test_the_items_count_what_the_report_counts(directory):
    found = report(directory)
    items = items_in(data_in(page(directory)))
    counts = Counter(item["kind"] for item in items)
    assert counts["term"] == len(found.result.controllers.all)
    assert counts["violation"] == sum(violation.count for violation in found.result.violations.found.values()) + len(
        found.streams.overlapping
    )
    assert counts["late"] == sum(each.unowned + each.stale for each in found.facts.terms)
    assert counts["refused"] == sum(each.refused for each in found.facts.terms)
    assert counts["up"] == len(found.facts.registrations)
    assert counts["unclean"] == len(found.facts.unclean)
    assert counts["reassignment"] == len(found.streams.reassignments)
    assert counts["deletion"] == len(found.streams.deletions)
    assert counts["created"] == len(found.streams.made)
    states = ("unclean", "election", "lost", "state", "isr-shrink", "isr-expand")
    assert sum(counts[kind] for kind in states) == len(found.streams.partitions)


@pytest.mark.parametrize("directory", ALL, ids=lambda directory: directory.name)
def test_bands_last_as_long_as_the_metric_is_above_zero(directory):
    """The union of the times of all partitions is the time in which the metric is a worry."""
    metrics = report(directory).metrics
    items = items_in(data_in(page(directory)))
    for kind, name in (("offline", "offline_partitions"), ("under-replicated", "under_replicated")):
        spans = sorted((item["start"], item["start"] + item["length"]) for item in items if item["kind"] == kind)
        covered, until = 0, 0
        for start, end in spans:
            covered += max(0, end - max(start, until))
            until = max(until, end)
        states = [(metrics.began, metrics.initial[name]), *((s.time, s.values[name]) for s in metrics.samples)]
        ends = [time for time, _ in states[1:]] + [metrics.ended]
        assert covered == sum(end - time for (time, value), end in zip(states, ends) if value > 0)


def test_leaders_are_those_of_the_states():
    found = report(REASSIGN)
    bars = [item for item in items_in(data_in(page(REASSIGN))) if item["kind"] == "leader"]
    for each in found.streams.partitions:
        change = each.change
        at = change.time - found.recording.transactions[0].time
        name = f"{change.topic}-{change.number}"
        leads = [
            bar["brokers"][0]
            for bar in bars
            if bar["lane"] == name and f"{change.zxid:#x}" in bar["zxids"] and bar["start"] == at
        ]
        began = change.before is None or change.before.leader != change.after.leader
        assert leads == ([change.after.leader] if began and change.after.leader != -1 else [])


def test_the_verdict_comes_first_and_the_records_say_what_explains_them():
    data = data_in(page(LEGACY))
    assert data["sentence"].startswith("The log conforms to legacy, but violates C4") and data["weight"] == 3
    assert data["lines"][0]["zxid"] == "0x9b" and "951 records" in data["lines"][0]["text"]
    time, session, broker, account, operations, told = data["records"]["0x9b"]
    assert (broker, account, told) == (1, ["partition", "create_first_state: new_topic"], "new_topic: topic creation")
    assert session == "0x1a1fc225ec20001" and time > 0
    assert operations[0][0] == "create /brokers/topics/za0/partitions/8/state" and '"leader":' in operations[0][1]
    assert data["glossary"]["partition.create_first_state"].startswith(
        "machines.create_first_state: A controller creates"
    )
    assert len(data["records"]) == data["count"] == 6425 and data["notes"] == []


def test_every_step_and_kind_has_words():
    for directory in ALL:
        data = data_in(page(directory))
        for *_, account, _, _ in data["records"].values():
            system, name = account
            names = (
                [f"{system}.{part.split(' -> ')[0].split(':')[0]}" for part in name.split(" or ")] if system else [name]
            )
            assert all(data["glossary"].get(each) for each in names), account


def test_a_divergence_has_the_records_around_it():
    data = data_in(render(report_of(read(FENCED), "legacy")))
    (mark,) = [item for item in items_in(data) if item["kind"] == "divergence"]
    assert data["sentence"].startswith("The log diverges from legacy at") and data["weight"] == 3
    assert len(mark["zxids"]) == 11 and mark["zxids"][5] in data["sentence"]
    assert all(zxid in data["records"] for zxid in mark["zxids"])


def test_what_cannot_be_followed_is_a_page_too():
    lost = replace(altered(first(FENCED, 0x60), 0x20, lambda t: None), gaps=(Missing(0x20, 0x20, 0x21),))
    assert (
        data_in(render(report_of(lost)))["sentence"] == "The verdict is undecided: records are missing; all others fit."
    )
    whole = read(FENCED)
    data = data_in(render(Report(whole, None, (), UNDECIDED, "what was before the first record is unknown")))
    assert data["weight"] == 2 and len(data["items"]) == len(data["records"]) == 471
    empty = Report(Recording(Path("x"), None, [], []), None, ("empty",), BAD_INPUT, "no record")
    assert data_in(render(empty))["count"] == 0


def test_what_is_before_a_missing_file_is_told():
    wrong = report_of(read(FENCED), "legacy")
    whole = report(FENCED).after(wrong)
    data = data_in(render(whole))
    assert data["sentence"].startswith(f"The log diverges from legacy at {wrong.divergence[0]:#x}")
    told = [
        line["text"] for line in data["lines"] if line["text"].startswith("before a missing file, not on this page")
    ]
    assert len(told) == 1 and told[0].endswith(", diverges") and data["weight"] == 3
    data = data_in(render(report(FENCED).after(report(LEGACY))))
    assert data["sentence"] == "The verdict is undecided: records are missing; all others fit."


def test_a_page_is_self_contained_and_markup_stays_text():
    text = render(replace(report(FENCED), problems=("</script><b>{{data}}",)))
    assert text.count("</script>") == 2 and "<link" not in text and "src=" not in text and "@import" not in text
    assert not re.findall(r"https?://", text) and not re.findall(r"\{\{\w+\.", text)
    assert data_in(text)["problems"] == ["</script><b>{{data}}"]


LANES = [Lane("Topics and partitions", f"t-{number}", "t", number) for number in range(4)]
ITEMS = st.lists(
    st.builds(
        lambda lane, kind, start, long, zxid: Item(
            lane, kind, start, "x", (zxid,), None if long is None else start + long
        ),
        st.sampled_from(LANES),
        st.sampled_from(["election", "offline", "unclean"]),
        st.integers(0, 10_000),
        st.none() | st.integers(0, 5_000),
        st.integers(1, 1 << 40),
    ),
    min_size=1,
    max_size=60,
)


@given(ITEMS, st.integers(12, 40))
def test_what_is_made_one_loses_nothing_but_places(items, most):
    keep, bounds.MOST_ITEMS = bounds.MOST_ITEMS, most
    try:
        found, cell, raised = bounded_items(items, 0, 10_000)
    finally:
        bounds.MOST_ITEMS = keep
    assert sum(item.count for item in found) == len(items)
    assert len(found) <= most or cell > 10_000
    assert cell or found == items
    counts = Counter()
    for item in found:
        counts[item.lane.topic, item.kind] += item.count
        assert raised or item.lane.partition is not None
    assert counts == Counter((item.lane.topic, item.kind) for item in items)
    assert {(item.kind, item.start, item.end) for item in items if item.end and item.end - item.start >= cell} <= {
        (item.kind, item.start, item.end) for item in found
    }
    assert {item.lane for item in items if item.weight > 1} <= {item.lane for item in found}


def test_lanes_with_trouble_stay_when_there_are_too_many(monkeypatch):
    monkeypatch.setattr(bounds, "MOST_LANES", 2)
    items = [Item(lane, "election", 0, "x") for lane in LANES]
    items += [Item(LANES[3], "unclean", 1, "x"), Item(Lane("Found", "x"), "state", 0, "")]
    found, lost = bounded_lanes(items)
    assert lost == 3 and {item.lane.name for item in found} == {"t-3", "x"}


def test_a_page_with_fewer_records_says_so(monkeypatch):
    monkeypatch.setattr(records, "MOST_RECORDS", 100)
    data = data_in(render(report(FENCED)))
    assert len(data["records"]) == 100 and "100 of 471 records are in this page" in data["notes"][0]
    monkeypatch.setattr(records, "MOST_BYTES", 3_000)
    assert 5 < len(data_in(render(report(FENCED)))["records"]) < 100


def test_the_command_writes_it_and_says_where(tmp_path, capsys):
    file = tmp_path / "report.html"
    assert main(["replay", str(FENCED), "--html", str(file)]) == 0
    assert f"report in {file}" in capsys.readouterr().err
    data = data_in(file.read_text())
    assert data["count"] == 471 and list(tmp_path.iterdir()) == [file]
    told = [line["text"] for line in data["lines"] if line["text"].startswith("Kafka ")]
    assert told[-1] == "Kafka 3.4 to 3.9 (fenced): explains the log"
    assert len(told) == 4 and all(": no, " in text for text in told[:-1])
    code, found = run_json(capsys, FENCED, "--html", file)
    assert code == 0 and found["verdict"] == "conforms"


@pytest.mark.parametrize("name, text", [("", "is a directory"), ("none/report.html", "there is no directory")])
def test_where_it_cannot_be_it_is_told_before_any_work(tmp_path, capsys, name, text):
    assert main(["replay", str(tmp_path / "no log"), "--html", str(tmp_path / name)]) == 2
    told = capsys.readouterr().err
    assert text in told and told.count("\n") == 1


def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch):
    file = tmp_path / "report.html"
    file.write_text("before")

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(UserError, match="report.html: cannot be written: No space left on device"):
        write_whole("--html", file, "after")
    assert file.read_text() == "before" and list(tmp_path.iterdir()) == [file]


def test_what_is_no_file_is_written_to_and_not_replaced(tmp_path):
    device = tmp_path / "full"
    device.symlink_to("/dev/full")
    with pytest.raises(UserError, match="full: cannot be written: No space left on device"):
        write_whole("--html", device, "text")
    assert device.is_char_device() and list(tmp_path.iterdir()) == [device]


def test_the_page_leads_with_the_incidents_of_the_terminal(kafkaproof, tmp_path):
    file = tmp_path / "report.html"
    told = kafkaproof("replay", LEGACY, "--expect", "C4", "--html", file)
    data = data_in(file.read_text())
    lines = [f"{each['severity']} {of['kind']}: {each['line']}" for of in data["incidents"] for each in of["incidents"]]
    shown = [line for line in told.out.splitlines() if line.startswith(("critical", "serious", "warning"))]
    assert lines == shown and data["incidents"][0]["ways_out"][0] in told.out
    assert data["sentence"].endswith(", but these went wrong: split-brain (see the top).")
    assert data["incidents"][0]["incidents"][0]["zxid"] in data["records"]


def test_the_cluster_on_the_page_is_what_at_prints(kafkaproof, tmp_path):
    file = tmp_path / "report.html"
    assert kafkaproof("replay", REASSIGN, "--at", "0x90", "--topic", "r1", "--html", file).code == 0
    clusters = data_in(file.read_text())["clusters"]
    moments = {each["zxid"]: each for each in clusters["moments"]}
    assert (clusters["chosen"], clusters["asked"]) == ("0x90", True) and [*moments] == sorted(
        moments, key=lambda z: int(z, 0)
    )
    printed = kafkaproof("replay", REASSIGN, "--at", "0x90", "--topic", "r1").out
    assert all(line in printed for line in moments["0x90"]["lines"])
    assert all(cell in printed for row in moments["0x90"]["rows"] for cell in row)
    assert len(moments["0x90"]["rows"]) == 4 and moments["0x90"]["left_out"] == 0
    of_incidents = {each["zxid"] for of in data_in(file.read_text())["incidents"] for each in of["incidents"]} - {None}
    assert of_incidents and of_incidents | {"0x90", hex(read(REASSIGN).transactions[-1].zxid)} == set(moments)


def test_of_many_partitions_the_page_has_those_with_trouble(monkeypatch):
    recording = read(LEGACY)
    everything = Clusters(recording, "", None, lambda _: True)
    monkeypatch.setattr(incidents, "MOST_ROWS", 200)
    (moment,) = [each for each in clusters_as_json(everything, report(LEGACY))["moments"] if each["zxid"] == "0x87e"]
    assert moment["left_out"] > 0 and moment["rows"] and all(row[-1] for row in moment["rows"])
