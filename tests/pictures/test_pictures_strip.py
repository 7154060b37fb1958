"""Metrics and the story in pictures: the strip, the text, the table; and what is refused."""

import copy
from xml.etree import ElementTree

import pytest
from picture_examples import replication

from kafkaproof.checker.pictures import HistoryError, metrics_text, render, to_svg, to_text
from kafkaproof.checker.pictures.strip import BAD, strip


def measured() -> dict:
    """The example with two metrics, a story and a note."""
    history = copy.deepcopy(replication())
    states = len(history["steps"]) + 1
    history["metrics"] = [
        {"name": "offline", "text": "nobody leads", "values": [1] + [0] * (states - 1)},
        {"name": "produced", "text": "records", "values": list(range(states))},
    ]
    history["steps"][0] |= {"story": "It begins.", "notes": ["as expected: offline = 0"]}
    history["steps"][3]["violates"] = ["strong_isr"]
    return history


def texts(element):
    return ["".join(each.itertext()) for each in element.iter("text")]


def test_the_strip_has_a_row_for_each_metric_and_a_number_where_it_changes():
    history = measured()
    rows = [group for group in strip(history).findall("g")]
    assert [texts(row)[0] for row in rows] == ["offline", "produced"]
    assert texts(rows[0])[1:] == ["1", "0"]
    assert texts(rows[1])[1:] == [str(value) for value in history["metrics"][1]["values"]]
    assert [len(row.findall("rect")) for row in rows] == [len(history["steps"]) + 1] * 2


def test_a_step_that_violates_is_marked_and_every_number_leads_to_its_step():
    drawn = strip(measured())
    assert [link.get("href") for link in drawn.findall("a")] == [
        f"#step-{n}" for n in range(len(measured()["steps"]) + 1)
    ]
    marked = [link for link in drawn.findall("a") if link.find("text").get("fill") == BAD]
    assert [link.get("href") for link in marked][:1] == ["#step-4"]
    assert sum(rect.get("stroke") == BAD for rect in drawn.findall("rect")) == len(marked)


def test_a_long_history_has_narrow_columns_and_fewer_numbers():
    history = measured()
    history["steps"] = history["steps"] * 30
    for metric in history["metrics"]:
        metric["values"] = [0] * (len(history["steps"]) + 1)
    drawn = strip(history)
    assert int(drawn.get("width")) < 2_000 and len(drawn.findall("a")) < len(history["steps"])


def test_without_metrics_there_is_no_strip():
    assert strip(replication()) is None
    assert "metrics over the steps" not in to_svg(replication()) + render(replication())
    assert metrics_text(replication()) == "no metric changes\n"


def test_pictures_and_texts_have_metrics_story_and_notes():
    history = measured()
    for picture in (to_svg(history), render(history)):
        assert "metrics over the steps" in picture and "It begins." in picture and "as expected: offline = 0" in picture
    ElementTree.fromstring(to_svg(history))
    assert "# It begins." in to_text(history) and "produced 0 -> 1" in to_text(history)


def test_the_table_has_a_column_for_each_state_in_which_a_metric_changes():
    history = measured()
    history["metrics"][1]["values"] = [0] * len(history["metrics"][1]["values"])
    head, offline, produced = [line.split() for line in metrics_text(history).splitlines()]
    assert (head, offline, produced) == (["step", "0", "1"], ["offline", "1", "0"], ["produced", "0", "0"])


@pytest.mark.parametrize("width", [40, 60, 80])
def test_text_and_table_fit_into_the_width(width):
    history = measured()
    for told in (to_text(history, width), metrics_text(history, width)):
        assert max(map(len, told.splitlines())) <= width
    assert metrics_text(history, 40).count("produced") > metrics_text(history).count("produced") == 1


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda m: m.update(values=[0]), 'metric offline: "values" must be '),
        (lambda m: m["values"].__setitem__(0, True), 'metric offline: "values" must be '),
        (lambda m: m.update(unit="s"), 'metric: "unit" is not a known field'),
        (lambda m: m.pop("text"), 'metric: "text" is missing'),
    ],
)
def test_metrics_that_do_not_fit_are_refused(spoil, message):
    history = measured()
    spoil(history["metrics"][0])
    with pytest.raises(HistoryError) as caught:
        render(history)
    assert str(caught.value).startswith(message)
