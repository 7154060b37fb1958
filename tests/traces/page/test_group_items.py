"""Groups on the page of a replay: each stored generation is there, and what diverges is in the verdict."""

from dataclasses import replace

from kafkaproof.checker.commands.main import main
from kafkaproof.traces.groups.replay import replay_groups
from kafkaproof.traces.report.page.render import render
from tests.traces.groups.segment_writer import altered, flip, rewritten
from tests.traces.page.pages import data_in, items_in, report
from tests.traces.replaying import BUNDLED

BOTH = BUNDLED / "3.9.1-groups"
SEGMENTS = BOTH / "consumer-offsets"


def test_every_record_of_a_group_is_in_its_lane():
    groups = replay_groups(SEGMENTS)
    data = data_in(render(report(BOTH), groups))
    found = [item for item in items_in(data) if item["kind"] == "group"]
    assert len(found) == groups.kinds["groups"] + groups.kinds["tombstones of groups"] == 25
    assert {item["lane"] for item in found} == {each.group.name for each in groups.followed}
    assert all(0 <= item["start"] <= data["ended"] - data["began"] for item in found)
    assert data["sentence"].endswith("Its groups conform.") and data["weight"] == 0
    assert any(item["text"].startswith("generation 1, Stable: 1 members: ") for item in found)


def test_groups_that_diverge_are_in_the_verdict(tmp_path):
    segments = altered(
        SEGMENTS, tmp_path, 2, lambda appends: rewritten(appends, 26, lambda v: replace(v, generation=40))
    )
    groups = replay_groups(segments)
    data = data_in(render(report(BOTH), groups))
    first = groups.divergences[0]
    (mark,) = [item for item in items_in(data) if item["kind"] == "divergence"]
    assert mark["lane"] == first.group and mark["text"].startswith(f"diverges at offset {first.offset} of ")
    assert data["sentence"].endswith("Its groups diverge, and violate G2.") and data["weight"] == 3
    assert any(line["text"].startswith(f"groups diverge at offset {first.offset} of") for line in data["lines"])


def test_the_command_puts_them_on_the_page(tmp_path):
    file = tmp_path / "report.html"
    assert main(["replay", str(BOTH), "--html", str(file)]) == 0
    assert "Groups" in [section for section, *_ in data_in(file.read_text())["lanes"]]


def test_segments_that_are_damaged_are_told(tmp_path):
    segments = altered(SEGMENTS, tmp_path, 2, lambda appends: appends)
    flip(segments / "broker-2" / "__consumer_offsets-2" / "00000000000000000000.log", 26)
    groups = replay_groups(segments)
    data = data_in(render(report(BOTH), groups))
    assert data["sentence"].endswith("Its groups cannot be read to the end.") and data["weight"] == 2
    assert groups.damage[0].reason in data["problems"]
