"""The page of a replay in a real browser: it draws, it moves, its filters let through what they say."""

import pytest

from kafkaproof.traces.report.page.render import render
from tests.pictures.picture_browser import BROWSER, ask, run
from tests.traces.page.pages import data_in, page, report_of
from tests.traces.replaying import FENCED, LEGACY, REASSIGN, read

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome is installed")


def test_it_draws_the_lanes_and_says_the_verdict_before_them(tmp_path):
    answer = ask(
        tmp_path,
        page(LEGACY),
        """
        return { verdict: find("#verdict").textContent, first: find("main").textContent.indexOf("The log conforms"),
                 sections: [...document.querySelectorAll(".section")].map((one) => one.textContent),
                 lanes: [...document.querySelectorAll(".label")].map((one) => one.textContent),
                 bars: count("#lanes path.c0"), marks: count("#lanes .k-late"), metric: count("#lanes path.metric"),
                 axis: count("#axis text"), overview: find("#overview .o3").getAttribute("d").length > 10,
                 resources: performance.getEntriesByType("resource").length, title: document.title,
                 items: items.length, hidden: find("#panel").hidden, legend: count("#legend button") };""",
    )
    assert answer["verdict"].startswith("The log conforms to legacy, but violates C4") and 0 < answer["first"] < 1000
    assert answer["sections"][:3] == ["▾ Found", "▾ Controllers", "▾ Brokers"]
    assert answer["lanes"][:4] == ["violates C4", "controller 1", "controller 2", "controller 3"]
    assert answer["bars"] >= 2 and answer["marks"] == 3 and answer["metric"] > 2 and answer["axis"] > 4
    assert answer["overview"] and answer["resources"] == 0 and answer["hidden"] and answer["legend"] > 10
    assert answer["items"] == len(data_in(page(LEGACY))["items"])


def test_filters_let_through_what_they_say(tmp_path):
    answer = ask(
        tmp_path,
        page(REASSIGN),
        """
        const set = (name, value, event) => { find(name).value = value; find(name).dispatchEvent(new Event(event)); };
        const lanesNow = () => [...new Set(shown.map((item) => item.lane.name))].sort();
        const found = { all: shown.length };
        set("#topic", "r1", "change"); found.topic = lanesNow().filter((name) => name.startsWith("r"));
        set("#topic", "", "change"); set("#broker", "3", "change");
        found.broker = shown.every((item) => item.brokers.includes(3)) && shown.length;
        set("#broker", "", "change"); set("#text", "0x10f", "input");
        found.record = shown.map((item) => item.zxids.includes("0x10f"));
        set("#text", '"ISOLATION', "input"); found.none = [shown.length, find("#lanes").textContent.includes("Nothing passes")];
        set("#text", "", "input");
        for (const kind of ["leader", "election"]) find(`[data-kind=${kind}]`).click();
        found.kinds = shown.filter((item) => ["leader", "election"].includes(item.kind.id)).length;
        found.pressed = find("[data-kind=leader]").getAttribute("aria-pressed");
        for (const kind of ["leader", "election"]) find(`[data-kind=${kind}]`).click();
        find("#trouble").click(); found.trouble = rows.filter((row) => row.lane).every((row) => row.lane.trouble);
        find("#trouble").click(); found.again = shown.length;
        return found;""",
    )
    assert {"r1", "r1-0", "r1-1", "r1-2", "r1-3"} <= set(answer["topic"])
    assert not [name for name in answer["topic"] if name.startswith(("r2", "r3"))]
    assert 0 < answer["broker"] < answer["all"] and answer["record"] and all(answer["record"])
    assert answer["none"] == [0, True] and answer["kinds"] == 0 and answer["pressed"] == "false"
    assert answer["trouble"] and answer["again"] == answer["all"]


def test_an_item_opens_the_records_and_the_transition_behind_it(tmp_path):
    answer = ask(
        tmp_path,
        page(LEGACY),
        """
        const text = find("#panel").textContent;
        find("#panel .close").click();
        return { text, closed: find("#panel").hidden, pre: text.includes('"leader_epoch":0') };""",
        "#0x9b",
    )
    assert (
        "violates C4" in answer["text"] and "0x9b" in answer["text"] and "session 0x1a1fc225ec20001" in answer["text"]
    )
    assert "create /brokers/topics/za0/partitions/8/state" in answer["text"] and answer["pre"]
    assert "partition: create_first_state: new_topic (new_topic: topic creation)" in answer["text"]
    assert "A controller creates the state of a new partition" in answer["text"] and answer["closed"]


def test_keys_and_buttons_move_and_choose(tmp_path):
    answer = ask(
        tmp_path,
        page(FENCED),
        """
        const found = [], wide = () => (view.to - view.from) / span;
        find("#scroll").focus();
        press("+"); found.push(wide());
        const before = view.from; press("ArrowRight"); found.push(view.from > before);
        press("0"); found.push(wide());
        press("n"); const one = selected.place; press("n"); const two = selected.place; press("p");
        found.push(one !== two && selected.place === one, !find("#panel").hidden, location.hash.startsWith("#0x"));
        press("v"); found.push(selected.kind.weight);
        press("Escape"); found.push(find("#panel").hidden, selected);
        for (let i = 0; i < 80; i++) find("#in").click();
        found.push(view.to - view.from >= 20 && count("#lanes path") > 0);
        find("#all").click();
        find("#axis").dispatchEvent(new WheelEvent("wheel", { deltaY: -100, clientX: 600, bubbles: true, cancelable: true }));
        found.push(wide() < 1);
        press("?"); found.push(find("#help").open);
        return found;""",
    )
    assert answer == [0.5, True, 1, True, True, True, 2, True, None, True, True, True]


def test_a_click_in_the_picture_finds_what_is_drawn_there(tmp_path):
    answer = ask(
        tmp_path,
        page(LEGACY),
        """
        const row = rows.find((one) => one.lane && one.lane.name === "controller 1");
        const item = row.items.find((one) => one.kind.id === "late");
        const box = find("#space").getBoundingClientRect();
        const at = { clientX: box.left + x(item.start), clientY: box.top + row.top + 10, bubbles: true, button: 0 };
        find("#lanes").dispatchEvent(new PointerEvent("pointerdown", at));
        find("#lanes").dispatchEvent(new PointerEvent("pointerup", at));
        const told = find("#panel h2").textContent, here = count("#panel .here button");
        find("#panel .here button:last-child").click();
        const other = find("#panel [aria-current]") === find("#panel .here button:last-child");
        return { told, here, other, ring: count("#lanes .chosen") };""",
    )
    assert answer["told"] == "write of a controller that is one no more: controller 1"
    assert answer["here"] > 1 and answer["other"] and answer["ring"] == 1


def test_topics_fold_and_unfold(tmp_path):
    answer = ask(
        tmp_path,
        page(LEGACY),
        """
        const before = rows.filter((row) => row.folds).length, all = rows.length;
        press("f"); const unfoldedRows = rows.length, folds = rows.filter((row) => row.folds).length;
        press("f");
        return [before, unfoldedRows > all + 200, folds, rows.length === all];""",
    )
    assert answer == [10, True, 0, True]


def test_the_table_tells_what_is_in_view(tmp_path):
    answer = ask(
        tmp_path,
        page(REASSIGN),
        """
        find("#told").open = true; tell();
        const all = count("#told tbody tr");
        look(0, 20000);
        const some = count("#told tbody tr");
        find("#told tbody button").click();
        return [all > some && some > 0, !find("#panel").hidden];""",
    )
    assert answer == [True, True]


def test_a_divergence_is_drawn(tmp_path):
    answer = ask(
        tmp_path,
        render(report_of(read(FENCED), "legacy")),
        """
        find("#lines button").click();
        return [find("#verdict").className, count("#panel .record"), count(".record .unexplained") > 0];""",
    )
    assert answer == ["w3", 11, True]


def test_it_can_be_printed(tmp_path):
    target = tmp_path / "page.pdf"
    run(tmp_path, page(REASSIGN), "", f"--print-to-pdf={target}")
    assert target.read_bytes().startswith(b"%PDF") and target.stat().st_size > 20_000


def test_incidents_come_first_and_open_their_record_and_the_cluster_then(tmp_path, kafkaproof):
    file = tmp_path / "report.html"
    kafkaproof("replay", LEGACY, "--at", "0x99", "--html", file)
    answer = ask(
        tmp_path,
        file.read_text(),
        """
        const first = find("#incidents li"), found = { first: first.textContent, asked: find("#then").textContent };
        found.leads = !!(first.compareDocumentPosition(find("#verdict")) & Node.DOCUMENT_POSITION_FOLLOWING);
        found.open = find("#cluster").open;
        first.querySelectorAll("button")[1].click();
        found.then = find("#then").textContent; found.chosen = find("#moment").value;
        found.rows = count("#partitions tbody tr"); found.line = count("#lanes .moment");
        first.querySelector("button").click(); found.panel = find("#panel").textContent.includes("0x9b");
        return found;""",
    )
    assert answer["first"].startswith("criticalsplit-brain: a deposed controller has written (C4): 951 records")
    assert (
        answer["leads"]
        and answer["open"]
        and answer["asked"].startswith("after 0x99, 2026-11-21 03:24:44 UTC: broker 3")
    )
    assert answer["then"].startswith("after 0x9b") and answer["chosen"] == "0x9b"
    assert answer["rows"] > 10 and answer["line"] == 1 and answer["panel"]
