"""Histories as pages: what is refused, and how the data is embedded."""

import json
import re

import pytest
from picture_examples import election, fixed_replication, recording, replication

from kafkaproof.checker.pictures import HistoryError, render, render_beside


def embedded(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page)[1])


def without(name):
    return lambda history: history.pop(name)


def in_step(**fields):
    return lambda history: history["steps"][1].update(fields)


ARROW = {"from": 0, "to": 1, "label": "x", "kind": "request"}


@pytest.mark.parametrize(
    "spoil, message",
    [
        (without("lanes"), 'history: "lanes" is missing'),
        (without("property"), 'history: "property" is missing'),
        (lambda h: h.update(format=2), "history: format 2 is not known, only 1"),
        (lambda h: h.update(title=3), 'history: "title" must be a string'),
        (lambda h: h.update(titel="x"), 'history: "titel" is not a known field'),
        (lambda h: h.update(lanes=[]), 'history: "lanes" is empty'),
        (lambda h: h.update(lanes=[1]), 'history: "lanes" must be a list of strings'),
        (lambda h: h.update(property={"name": "x"}), 'property: "text" is missing'),
        (lambda h: h.update(initial=[]), 'history: "initial" must be an object'),
        (lambda h: h["initial"].update(x=float("nan")), "history: not plain JSON: Out of range float values"),
        (lambda h: h["initial"].update(x={1, 2}), "history: not plain JSON: Object of type set"),
        (lambda h: h["steps"][1].pop("words"), 'step 2: "words" is missing'),
        (in_step(lane=9), 'step 2: "lane" is 9, but the lanes are 0 to 4'),
        (in_step(lane=True), 'step 2: "lane" must be a whole number'),
        (in_step(violate=["x"]), 'step 2: "violate" is not a known field'),
        (in_step(violates=[3]), 'step 2: "violates" must be a list of strings'),
        (in_step(arrows=[{**ARROW, "kind": "x"}]), 'step 2, arrow 1: "kind" must be one of request'),
        (in_step(arrows=[{**ARROW, "to": -1}]), 'step 2, arrow 1: "to" is -1'),
        (in_step(arrows=["x"]), "step 2, arrow 1: must be an object"),
    ],
)
def test_what_is_not_a_history_is_refused_in_one_line(spoil, message):
    history = replication()
    spoil(history)
    with pytest.raises(HistoryError) as caught:
        render(history)
    assert str(caught.value).startswith(message) and "\n" not in str(caught.value)


def test_a_history_that_is_no_object_is_refused():
    with pytest.raises(HistoryError, match="history: must be an object"):
        render([])


def test_a_page_is_self_contained():
    page = render(election())
    assert "{{" not in page and "<link" not in page and "src=" not in page and "@import" not in page
    assert set(re.findall(r"https?://[^\s\"']+", page)) == {"http://www.w3.org/2000/svg"}


def test_markup_in_the_data_cannot_end_the_script():
    history = replication()
    history["title"] = "</script><!-- {{page.js}} & <b>"
    page = render(history)
    assert page.count("</script>") == 2
    assert not set("<>&") & set(re.search(r'id="data">(.*)</script>', page)[1])
    assert embedded(page)["histories"][0]["title"] == history["title"]


def test_integers_too_large_for_javascript_are_embedded_as_text():
    history = embedded(render(recording(2)))["histories"][0]
    assert history["initial"]["session"] == "1152960285603638221"
    assert history["initial"]["hw"] == [0, 0, 0]


def test_changes_are_embedded_with_their_paths():
    steps = embedded(render(replication()))["histories"][0]["steps"]
    assert steps[0]["changes"] == [
        {"path": "partition.leader", "keys": ["partition", "leader"], "old": "null", "new": "0", "value": 0}
    ]


def test_short_histories_do_not_fold_and_violations_never_do():
    assert embedded(render(recording(300)))["folds"] == []
    history = recording(301)
    history["steps"][9]["violates"] = ["x"]
    folds = embedded(render(history))["folds"]
    assert [(fold["first"], fold["last"]) for fold in folds[:3]] == [(1, 9), (11, 39), (41, 79)]


def test_beside_folds_stop_where_the_histories_part():
    other = recording(400)
    other["steps"][19]["text"] = "broker.fetch(broker=other)"
    data = embedded(render_beside(recording(400), other))
    assert data["parting"] == 20
    assert [(fold["first"], fold["last"]) for fold in data["folds"][:2]] == [(1, 19), (20, 39)]


def test_beside_of_equal_histories_has_no_parting():
    assert embedded(render_beside(replication(), replication()))["parting"] is None
    assert embedded(render_beside(replication(), fixed_replication()))["parting"] == 9


def test_a_history_without_steps_is_a_page():
    assert embedded(render({**replication(), "steps": []}))["histories"][0]["steps"] == []
