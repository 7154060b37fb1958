"""The pages in a real browser."""

import copy

import pytest
from picture_browser import BROWSER, ask, run
from picture_examples import election, fixed_replication, recording, replication

from kafkaproof.checker.pictures import render, render_beside

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome is installed")


def test_a_row_for_each_step_and_the_initial_state(tmp_path):
    answer = ask(
        tmp_path,
        render(replication()),
        """
        return { rows: count("li.step"), dots: count(".step .dot"), title: document.title,
                 arrows: count("#step-11 .arrow"), dashed: count("#step-11 .arrow.answer"),
                 red: [...document.querySelectorAll(".violating[id]")].map((row) => row.id),
                 badge: find("#step-12 .badge").textContent, top: find(".demand").textContent,
                 changes: find("#step-8 .changes").textContent, panel: find("#panel").hidden };""",
    )
    assert answer["rows"] == 13 and answer["dots"] == 12
    assert answer["arrows"] == 4 and answer["dashed"] == 1
    assert answer["red"] == ["step-12"] and answer["badge"] == "✕ violates strong_isr"
    assert "every member of the in-sync set" in answer["top"] and "step 12" in answer["top"]
    assert answer["changes"] == "replicas[0].hw: 0 → 1acknowledged: [] → [m1@0]"
    assert answer["title"] == replication()["title"] and answer["panel"]


def test_an_address_opens_the_state_of_its_step(tmp_path):
    answer = ask(
        tmp_path,
        render(replication()),
        """
        return { chosen: chosen(), title: find("#panel h2").textContent,
                 changed: [...document.querySelectorAll("#panel .changed")].map((leaf) => leaf.textContent) };""",
        "#step-3",
    )
    assert answer["chosen"] == "step-3"
    assert answer["title"] == "State after step 3"
    assert answer["changed"] == ["role: follower was offline", "epoch: 0 was -1"]


def test_the_page_rebuilds_every_state_from_the_changes(tmp_path):
    history = election()
    states = ask(
        tmp_path,
        render(history),
        """
        return histories[0].steps.map((_, place) => stateAt(histories[0], place + 1));""",
    )
    assert states == [step["state"] for step in history["steps"]]


def test_keys_move_the_choice(tmp_path):
    answer = ask(
        tmp_path,
        render(replication()),
        """
        return ["j", "ArrowDown", "k", "ArrowUp", "ArrowUp", "End", "Home", "n", "n"]
          .map((key) => { press(key); return chosen(); });""",
    )
    places = [1, 2, 1, 0, 0, 12, 0, 12, 12]
    assert answer == [f"step-{place}" for place in places]


def test_enter_opens_and_closes_the_state_and_the_question_mark_helps(tmp_path):
    answer = ask(
        tmp_path,
        render(replication()),
        """
        const shown = [];
        for (const key of ["j", "Enter", "j", "Enter", "Enter", "Escape"]) {
          press(key);
          shown.push(find("#panel").hidden ? "" : find("#panel h2").textContent);
        }
        press("?");
        return { shown, help: find("#help").open, address: location.hash };""",
    )
    assert answer["shown"] == ["", "State after step 1", "State after step 2", "", "State after step 2", ""]
    assert answer["help"] and answer["address"] == "#step-2"


def test_a_click_opens_the_state(tmp_path):
    answer = ask(
        tmp_path,
        render(replication()),
        """
        find("#step-5 .words").click();
        return [chosen(), find("#panel h2").textContent];""",
    )
    assert answer == ["step-5", "State after step 5"]


def test_many_changes_are_shortened_until_a_click(tmp_path):
    history = replication()
    history["steps"][0]["state"] = {**history["initial"], "many": {f"k{i}": i for i in range(9)}}
    history["initial"] = {**history["initial"], "many": {f"k{i}": -1 for i in range(9)}}
    answer = ask(
        tmp_path,
        render(history),
        """
        const visible = () => [...document.querySelectorAll("#step-1 .changes li")].filter((one) => one.offsetHeight).length;
        const before = visible(), label = find("#step-1 .more").textContent;
        find("#step-1 .more").click();
        return [before, label, visible(), find("#panel").hidden];""",
    )
    assert answer == [5, "4 more", 9, True]


def test_markup_in_a_history_stays_text(tmp_path):
    history = copy.deepcopy(replication())
    history["title"] = "</script><script>caught.push('title')</script>"
    history["steps"][0]["words"] = "<img src=x onerror=\"caught.push('words')\"> {{data}} &amp;"
    history["steps"][0]["state"]["<b>"] = "</script>"
    answer = ask(
        tmp_path,
        render(history),
        """
        return [find("h1").textContent, find("#step-1 p").textContent, count("img")];""",
        "#step-1",
    )
    assert answer == [history["title"], history["steps"][0]["words"], 0]


def test_long_histories_fold_their_groups(tmp_path):
    answer = ask(
        tmp_path,
        render(recording()),
        """
        const before = [count("li.fold"), count("li.step")];
        press("j"); press("Enter");
        const unfolded = count("li.step:not([hidden])");
        press("j");
        const inside = chosen();
        press("k"); press("Enter"); press("j");
        const after = chosen();
        press("n"); press("n");
        return { before, unfolded, inside, after, violation: chosen() };""",
    )
    assert answer == {
        "before": [15, 16],
        "unfolded": 55,
        "inside": "step-1",
        "after": "step-40",
        "violation": "step-480",
    }


def test_an_address_unfolds_its_run_and_large_numbers_stay_exact(tmp_path):
    answer = ask(
        tmp_path,
        render(recording()),
        """
        return [chosen(), find("#panel").textContent.includes("1152960285603638221")];""",
        "#step-100",
    )
    assert answer == ["step-100", True]


def test_beside_marks_where_they_part(tmp_path):
    answer = ask(
        tmp_path,
        render_beside(replication(), fixed_replication()),
        """
        press("Home"); for (let i = 0; i < 9; i++) press("j");
        const chosenAfter = chosen();
        press("Enter");
        return { line: find(".parting").nextElementSibling.id, shared: count(".shared"), titles: count("h1"),
                 over: count(".over"), chosenAfter, trees: count("#panel section"), cells: count("#step-9 .cell"),
                 level: new Set([...document.querySelectorAll("#step-10 .cell")].map((one) => one.offsetTop)).size };""",
    )
    assert answer == {
        "line": "step-9",
        "shared": 9,
        "titles": 2,
        "over": 2,
        "chosenAfter": "step-9",
        "trees": 2,
        "cells": 2,
        "level": 1,
    }


def test_it_asks_nothing_of_the_network(tmp_path):
    answer = ask(tmp_path, render(replication()), 'return performance.getEntriesByType("resource").length;')
    assert answer == 0


def test_it_can_be_photographed(tmp_path):
    target = tmp_path / "page.png"
    run(tmp_path, render(election()), "#step-13", f"--screenshot={target}")
    assert target.read_bytes().startswith(b"\x89PNG") and target.stat().st_size > 40_000
