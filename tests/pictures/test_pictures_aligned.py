"""Two histories are aligned by what their steps are."""

import json
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from picture_browser import BROWSER, ask
from picture_examples import fixed_replication, recording, replication
from test_pictures_page import embedded

from kafkaproof.checker.pictures import beside_text, render_beside, to_svg
from kafkaproof.checker.pictures.aligned import key_of, parting, rows_of, without_ids
from kafkaproof.checker.pictures.histories import HISTORY
from kafkaproof.checker.runs.counterexample import executed, in_order_of
from kafkaproof.impl.harness.real import recorded
from kafkaproof.spec.catalogue import find

SVG = "{http://www.w3.org/2000/svg}"


def history(texts, **fields):
    """A history with steps of these texts, which change nothing."""
    steps = [{"text": text, "lane": 0, "words": "It acts.", "arrows": [], "state": {}, **fields} for text in texts]
    return {
        "format": 1,
        "title": "a title",
        "system": "s",
        "variant": "v",
        "scope": {},
        "property": None,
        "lanes": ["broker 0", "ZooKeeper"],
        "initial": {},
        "steps": steps,
    }


STEPS = st.builds(
    "{}.{}(b={}, epoch={}){}".format,
    st.sampled_from(["one", "two"]),
    st.sampled_from(["elect", "write", "read"]),
    st.integers(0, 2),
    st.integers(1, 2),
    st.sampled_from(["", " -> OK", " -> LOST"]),
)
HISTORIES = st.lists(STEPS, max_size=12).map(history)


@given(HISTORIES, HISTORIES)
def test_every_step_of_both_occurs_once_and_in_order(left, right):
    rows = rows_of([left, right])
    for side, each in enumerate((left, right)):
        assert [row.numbers[side] for row in rows if row.numbers[side] is not None] == [*range(len(each["steps"]) + 1)]
    assert all(set(row.numbers) != {None} for row in rows)


@given(HISTORIES, HISTORIES)
def test_steps_that_belong_together_have_one_key_and_others_have_not(left, right):
    for row in rows_of([left, right])[1:]:
        if None in row.numbers:
            assert not row.alike
        else:
            keys = {key_of(each["steps"][number - 1]["text"]) for each, number in zip((left, right), row.numbers)}
            assert len(keys) == (1 if row.alike else 2) or not row.alike


@given(HISTORIES)
def test_a_history_beside_itself_is_the_same_rows_and_never_parts(one):
    rows = rows_of([one, one])
    assert [row.numbers for row in rows] == [(n, n) for n in range(len(one["steps"]) + 1)]
    assert all(row.alike for row in rows) and parting([one, one], rows) is None


@given(HISTORIES, st.permutations([0, 1, 2]))
def test_other_brokers_and_modules_are_no_difference(one, brokers):
    texts = [step["text"] for step in one["steps"]]
    other = history(
        [
            text.replace("one.", "three.").replace(
                f"b={text[text.index('b=') + 2]}", f"b={brokers[int(text[text.index('b=') + 2])]}"
            )
            for text in texts
        ]
    )
    rows = rows_of([one, other])
    assert all(row.alike and len(set(row.numbers)) == 1 for row in rows) and parting([one, other], rows) is None


@given(HISTORIES, st.data())
def test_a_step_more_leaves_one_gap(one, data):
    place = data.draw(st.integers(0, len(one["steps"])))
    texts = [step["text"] for step in one["steps"]]
    more = history([*texts[:place], "three.rest(b=0)", *texts[place:]])
    rows = rows_of([one, more])
    gaps = [row.numbers for row in rows if None in row.numbers]
    assert gaps == [(None, place + 1)] and parting([one, more], rows) == place + 1


@pytest.mark.parametrize(
    "one, other, alike",
    [
        ("failover.elect(b=0) -> OK", "session.elect(b=3) -> OK", True),
        ("a.expire(session=0x100)", "a.expire(session=0x10f)", True),
        ("a.change_isr(b=0, isr=3) -> OK", "a.change_isr(b=1, isr=6) -> OK", True),
        ("a.leader_and_isr(b=0, epoch=1, p=0)", "a.leader_and_isr(b=0, epoch=2, p=0)", False),
        ("a.write(b=0, delivery=1) -> LOST", "a.write(b=0, delivery=2) -> LOST", False),
        ("a.clean(b=1) -> OK", "a.clean(b=1) -> OK, 25 times", False),
        ("a.create(b=1)", "a.create(b=1, delivery=0)", False),
        ("broker 1 is elected", "broker 2 is elected", False),
    ],
)
def test_only_ids_may_differ(one, other, alike):
    assert (without_ids(one) == without_ids(other)) == alike


def test_a_step_counts_as_the_same_with_any_arguments_and_not_with_another_answer():
    assert key_of("a.clean(b=1) -> OK, 25 times") == key_of("b.clean(b=2) -> OK") == ("clean", "OK")
    assert key_of("a.clean(b=1) -> OK") != key_of("a.clean(b=1) -> LOST") != key_of("a.clean(b=1)")
    assert key_of("broker 1 is elected.") == ("broker 1 is elected.", "")


LEFT = history(["a.elect(b=0) -> OK", "a.read(b=0)", "a.write(b=0) -> OK", "a.end(b=0)"])
RIGHT = history(["a.elect(b=2) -> OK", "a.write(b=2) -> OK", "a.end(b=2)", "a.more(b=2)"], notes=["done by the driver"])


@pytest.mark.parametrize("width", [40, 61, 80])
def test_two_histories_fit_into_the_width(width):
    lines = beside_text(LEFT, RIGHT, width).splitlines()
    assert max(map(len, lines)) <= width and all(line.find(" | ") in (-1, (width - 3) // 2) for line in lines)


def test_text_has_an_empty_column_for_a_gap():
    lines = beside_text(LEFT, RIGHT).splitlines()
    assert any("1  a.elect(b=0) -> OK" in line and "1  a.elect(b=2) -> OK" in line for line in lines)
    part = next(n for n, line in enumerate(lines) if "here they part" in line)
    assert lines[part + 2].startswith("   2  a.read(b=0)") and lines[part + 2].endswith("|")
    assert any("3  a.write(b=0)" in line and "2  a.write(b=2)" in line for line in lines)
    assert any(line.startswith(" " * 57 + " |    4  a.more(b=2)") for line in lines)
    assert sum("done by the driver" in line for line in lines) == 4


def test_rows_that_say_the_same_are_one_line_and_those_with_notes_are_not():
    assert beside_text(LEFT, LEFT).count("a.read(b=0)") == 1
    noted = history([step["text"] for step in LEFT["steps"]], notes=["held until then"])
    assert beside_text(LEFT, noted).count("a.read(b=0)") == 2 and "here they part" not in beside_text(LEFT, noted)


def test_a_page_has_the_rows_and_folds_stop_at_gaps():
    data = embedded(render_beside(LEFT, RIGHT))
    assert data["rows"] == [[0, 0], [1, 1], [2, None], [3, 2], [4, 3], [None, 4]] and data["parting"] == 2
    assert [each["address"] for each in data["histories"]] == ["step", "beside"]
    shorter = recording(400)
    shorter["steps"] = shorter["steps"][:10] + shorter["steps"][15:]
    data = embedded(render_beside(recording(400), shorter))
    within = [{None in row for row in data["rows"][fold["first"] : fold["last"] + 1]} for fold in data["folds"]]
    assert {True} in within and {False} in within and {True, False} not in within


def test_a_picture_of_both_has_every_step_on_the_height_of_its_row():
    root = ElementTree.fromstring(to_svg(LEFT, RIGHT))
    heights = {
        group.get("id"): float(group.find(f"{SVG}line").get("y1")) for group in root.iter(f"{SVG}g") if group.get("id")
    }
    assert heights.keys() == {*(f"step-{n}" for n in range(1, 5)), *(f"beside-{n}" for n in range(1, 5))}
    assert heights["step-1"] == heights["beside-1"] and heights["step-3"] == heights["beside-2"]
    assert heights["step-2"] < heights["step-3"] < heights["step-4"] < heights["beside-4"]
    assert "here they part" in [text.text for text in root.iter(f"{SVG}text")]
    lanes = [line for line in root.iter(f"{SVG}line") if line.get("x1") == line.get("x2") and not line.get("stroke")]
    ends = sorted({float(line.get("y2")) for line in lanes})
    assert len(lanes) == 4 and ends[0] == heights["beside-4"] < ends[1] < float(root.get("height"))
    widths = [float(group.get("transform")[10:-3]) for group in root.iter(f"{SVG}g") if group.get("transform")]
    assert widths[0] == 0 < widths[1] < float(root.get("width"))


def test_a_picture_of_equal_histories_does_not_part():
    assert "here they part" not in to_svg(replication(), replication())
    assert "here they part" in to_svg(replication(), fixed_replication())


@pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome is installed")
def test_a_gap_on_the_page_and_the_addresses_of_both(tmp_path):
    answer = ask(
        tmp_path,
        render_beside(LEFT, RIGHT),
        """
        const ids = [...document.querySelectorAll("li.step")].map((row) => row.id);
        const heads = [...document.querySelectorAll("#panel h3")].map((head) => head.textContent);
        press("End");
        const last = [...document.querySelectorAll("#panel h3")].map((head) => head.textContent);
        return { ids, gaps: count(".gap"), over: count(".over"), heads, last, end: chosen(),
                 parts: find(".parting").nextElementSibling.id, cell: find("#beside-2").parentElement.id };""",
        "#beside-2",
    )
    assert answer == {
        "ids": ["step-0", "step-1", "step-2", "step-3", "step-4", "beside-4"],
        "gaps": 1,
        "over": 1,
        "heads": ["a title: state after step 3", "a title: state after step 2"],
        "last": ["a title: state after step 4", "a title: state after step 4"],
        "end": "beside-4",
        "parts": "step-2",
        "cell": "step-3",
    }


@pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome is installed")
def test_violations_of_both_are_visited_in_the_order_of_the_rows(tmp_path):
    left, right = (history([step["text"] for step in each["steps"]]) for each in (LEFT, RIGHT))
    left["steps"][3]["violates"], right["steps"][1]["violates"], right["steps"][3]["violates"] = ["p"], ["q"], ["r"]
    answer = ask(
        tmp_path,
        render_beside(left, right),
        """
        return ["n", "n", "n", "n"].map((key) => { press(key); return chosen(); });""",
    )
    assert answer == ["step-3", "step-4", "beside-4", "step-3"]


def test_show_finds_the_history_where_a_run_leaves_it():
    assert HISTORY == recorded.HISTORY


def test_show_draws_what_a_run_has_left(kafkaproof, tmp_path):
    file = tmp_path / "real" / HISTORY
    file.parent.mkdir(parents=True)
    assert kafkaproof("show", "real").complaint.startswith(
        "kafkaproof: real is the directory of a cluster, and has no recording/history"
    )
    file.write_text(json.dumps(RIGHT))
    assert kafkaproof("show", "real").out == "4 steps; open real/history.html\n"
    (tmp_path / "left.json").write_text(json.dumps(LEFT))
    answer = kafkaproof("show", "left.json", "--beside", "real", "--svg", "both.svg", "--output", "both.html")
    assert answer.out == "4 steps and 4 steps; open both.svg, both.html\n"
    assert "here they part" in (tmp_path / "both.svg").read_text()
    assert "here they part" in kafkaproof("show", "left.json", "--beside", "real", "--text").out
    file.write_text(json.dumps({**RIGHT, "lanes": []}))
    spoilt = kafkaproof("show", "left.json", "--beside", "real")
    assert spoilt.code == 2 and spoilt.complaint == 'kafkaproof: real/recording/history.json: history: "lanes" is empty'


EARLY = [
    "failover.elect(b=0) -> OK",
    "faults.delete_controller()",
    "failover.load_brokers(b=0) -> OK",
    "failover.load_state(b=0, p=0) -> NONODE",
    "failover.elect(b=1) -> OK",
    "machines.create_first_state(b=0, p=0, delivery=0) -> OK",
]
LATE = [EARLY[0], *EARLY[2:4], EARLY[1], *EARLY[4:]]


@pytest.mark.parametrize(
    "recorded_as, shown_as",
    [
        (LATE, LATE),
        (LATE[:4], LATE),
        (EARLY, EARLY),
        ([EARLY[1], *LATE], EARLY),  # nobody has created what is deleted first
        ([EARLY[4], *LATE], EARLY),
        ([LATE[-1], *LATE], EARLY),
        (["a.step(b=0)"], EARLY),
    ],
)
def test_a_counterexample_comes_in_the_order_of_a_recording_where_that_leads_to_the_same_state(recorded_as, shown_as):
    model = find("partition", "legacy")[0]
    scope = {**model.scope, "brokers": 2}
    trace = executed(model, scope, EARLY)
    found = in_order_of(trace, recorded_as)
    assert [str(step) for step, *_ in found.steps] == shown_as and found.last.zk.controller == 1
    assert (found is trace) == (shown_as == EARLY)


def test_show_tells_that_steps_come_in_another_order(kafkaproof, tmp_path):
    named = {
        "system": "partition",
        "variant": "legacy",
        "scope": {**find("partition", "legacy")[0].scope, "brokers": 2},
    }
    (tmp_path / "trace.json").write_text(json.dumps({**named, "property": "no_stale_write", "trace": EARLY}))
    (tmp_path / "real.json").write_text(json.dumps(history(LATE)))
    for names in (("trace.json", "--beside", "real.json"), ("real.json", "--beside", "trace.json")):
        text = kafkaproof("show", *names, "--text").out
        assert "here they part" not in text and "Steps that may come in any order" in " ".join(text.split())
    assert "any order" not in kafkaproof("show", "trace.json", "--text").out
