"""Histories as one SVG, and as a path of states in Graphviz's language."""

import copy
import shutil
from xml.etree import ElementTree

import pytest
from picture_browser import BROWSER, run
from picture_examples import election, recording, replication

from kafkaproof.checker.pictures import HistoryError, path_dot, to_svg
from kafkaproof.checker.pictures.dot import drawn

SVG = "{http://www.w3.org/2000/svg}"
EXAMPLES = {
    "replication": replication(),
    "election": election(),
    "recording": recording(300),
    "empty": {**replication(), "steps": []},
}
examples = pytest.mark.parametrize("history", EXAMPLES.values(), ids=EXAMPLES.keys())


def texts(root):
    """All texts that are drawn, in order, each once."""
    return ["".join(text.itertext()).strip() for text in root.iter(f"{SVG}text") if text.get("aria-hidden") is None]


def rows(root):
    """The groups of the steps by their numbers."""
    return {int(group.get("id").removeprefix("step-")): group for group in root.iter(f"{SVG}g") if group.get("id")}


@examples
def test_every_lane_and_every_step_is_there(history):
    root = ElementTree.fromstring(to_svg(history))
    assert set(history["lanes"]) <= set(texts(root))
    assert [row.find(f"{SVG}title").text for row in rows(root).values()] == [step["text"] for step in history["steps"]]
    for number, row in rows(root).items():
        step, seen = history["steps"][number - 1], " ".join(texts(row))
        assert step["text"] in seen and step["words"] in seen
        assert len(row.findall(f"{SVG}g")) == len(step["arrows"])
        assert all(arrow["label"][:39] in seen for arrow in step["arrows"])


def test_the_violated_property_stands_there_in_words_and_its_step_is_marked():
    root = ElementTree.fromstring(to_svg(replication()))
    seen = " ".join(texts(root))
    assert replication()["property"]["text"] in seen and "✕ strong_isr violated at step 12" in seen
    red = [number for number, row in rows(root).items() if "✕ violates strong_isr" in texts(row)]
    assert red == [12]


def test_changes_show_old_and_new_and_the_new_value_is_marked():
    row = rows(ElementTree.fromstring(to_svg(replication())))[8]
    assert "replicas[0].hw: 0 →1" in texts(row) and "acknowledged: [] →[m1@0]" in texts(row)
    assert [span.text for span in row.iter(f"{SVG}tspan")] == ["1", "[m1@0]"]
    assert len(row.findall(f"{SVG}rect")) == 2


def test_it_is_as_high_as_its_rows_and_its_paper_is_white():
    root = ElementTree.fromstring(to_svg(election()))
    paper = root.find(f"{SVG}rect")
    assert (paper.get("fill"), paper.get("height")) == ("#ffffff", root.get("height"))
    lowest = max(float(text.get("y")) for text in root.iter(f"{SVG}text"))
    assert lowest < float(root.get("height")) < lowest + 80


def test_long_histories_fold_as_on_the_page():
    root = ElementTree.fromstring(to_svg(recording()))
    assert list(rows(root)) == list(range(40, 601, 40))
    assert "1 to 39: fetch rounds, 39 steps" in texts(root) and texts(root).count("×13") == 15 * 3


def test_markup_and_control_signs_stay_text():
    history = copy.deepcopy(replication())
    history["title"] = "<script>&amp; \x1b[31m\0"
    history["steps"][0]["words"] = "]]> <b>"
    root = ElementTree.fromstring(to_svg(history))
    assert root.find(f"{SVG}title").text == "<script>&amp;  [31m " and "]]> <b>" in texts(rows(root)[1])


@pytest.mark.parametrize("write", [to_svg, path_dot])
def test_what_is_not_a_history_is_refused(write):
    with pytest.raises(HistoryError):
        write({"format": 1})


@pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome is installed")
def test_a_browser_draws_it(tmp_path):
    target = tmp_path / "picture.png"
    run(tmp_path, f"<!doctype html><body>{to_svg(election())}</body>", "", f"--screenshot={target}")
    assert target.read_bytes().startswith(b"\x89PNG") and target.stat().st_size > 40_000


def test_a_path_has_a_node_for_each_state_and_an_edge_for_each_step():
    source = path_dot(replication())
    edges = [line for line in source.splitlines() if " -> " in line]
    assert len(edges) == 13 and '0 -> 1 [label="  controller.elect(leader=0) "' in edges[1]
    assert r'"state 8\lreplicas[0].hw: 0 → 1\lacknowledged: [] → [m1@0]\l"' in source
    assert r"violates strong_isr\l" in source and "every member of the in-sync" in source


def test_a_path_holds_no_character_that_a_terminal_obeys():
    source = path_dot({**replication(), "title": "\x1b[31m\u202e\x9b"})
    assert not any(unsafe in source for unsafe in "\x1b\u202e\x9b") and r"\\x1b[31m\\u202e" in source


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz's program dot is not installed")
def test_a_path_can_be_drawn():
    root = ElementTree.fromstring(drawn(path_dot(replication())).encode())
    assert "replication.commit(broker=0)" in [text.strip() for text in texts(root)]
