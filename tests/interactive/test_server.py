"""The page is served to who knows its address, and in a browser one explores with it."""

import json
import urllib.error
import urllib.request

import pytest
from served import asked, legacy, served

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.interactive.server import Explored
from tests.pictures.picture_browser import BROWSER

in_a_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome is installed")
START = "session.start(b=0) -> OK"


def answered(address, question=None, host=None):
    """The status and the text of an answer."""
    body = question if question is None or isinstance(question, bytes) else json.dumps(question).encode()
    request = urllib.request.Request(address, body, {"Host": host} if host else {})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_only_who_knows_the_token_and_asks_this_machine_is_answered():
    with served(legacy()) as server:
        place = {"initial": 0, "steps": []}
        status, page = answered(server.address)
        assert status == 200 and "Explore" in page
        assert answered(server.address + "look", place)[0] == 200
        wrong = server.address.replace(server.token, "x" * len(server.token))
        assert answered(wrong)[0] == answered(wrong + "look", place)[0] == 404
        assert answered(server.address, host="attacker.example")[0] == 404
        assert answered(server.address + "elsewhere", place)[0] == answered(server.address + "elsewhere")[0] == 404


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (b"{", "not JSON"),
        ([], "a question is a JSON object"),
        ({"initial": 0}, "a place is "),
        ({"initial": 0, "steps": [1]}, "a place is "),
        ({"initial": 9, "steps": []}, "no initial state 9"),
        ({"initial": 0, "steps": ["nonsense"]}, "not a step"),
        ({"initial": 0, "steps": ["session.start(b=9)"]}, "b"),
    ],
)
def test_a_wrong_question_is_answered_in_one_line(question, told):
    with served(legacy()) as server:
        status, text = answered(server.address + "look", question)
        assert status == 422 and told in text and "\n" not in text


def test_why_and_what_is_written_are_answered():
    with served(legacy()) as server:
        place = {"initial": 0, "steps": [START]}
        status, why = answered(server.address + "why", place | {"transition": "session.notice_expiry"})
        assert status == 200 and any(" refuses: " in guard for guard in json.loads(why))
        assert "session.start(b=0) -> OK" in answered(server.address + "scenario", place)[1]
        assert json.loads(answered(server.address + "trace", place)[1])["trace"] == [START]
        assert answered(server.address + "picture", place)[1].startswith("<!doctype html>")


def test_a_port_that_is_taken_is_told():
    with served(legacy()) as server, pytest.raises(UserError, match=r"cannot serve at 127\.0\.0\.1:"):
        Explored(server.session, server.session.trace(0, []), server.server_port)


@in_a_browser
def test_keys_alone_take_steps_and_go_back(tmp_path):
    with served(legacy()) as server:
        found = asked(
            BROWSER,
            tmp_path,
            server,
            """
            press("1"); await until(() => place.steps.length === 1);
            const first = [...place.steps], changed = texts(".changed td:first-child");
            press("ArrowDown"); press("ArrowDown"); const second = document.activeElement.dataset.number;
            document.activeElement.click(); await until(() => place.steps.length === 2);
            press("Backspace"); await until(() => place.steps.length === 1);
            const later = texts("#path .later");
            press("3"); await until(() => place.steps.length === 2);
            return { first, changed, second, later, fork: place.steps, none: texts("#path .later"), hash: location.hash };
            """,
        )
    assert found["first"] == [START] and found["changed"] == ["clients[0].session", "session", "doing"]
    assert found["second"] == "2" and len(found["later"]) == 1 and found["none"] == []
    assert found["fork"][0] == START and found["fork"][1] not in found["later"][0]
    assert "session.start" in found["hash"]


@in_a_browser
def test_an_address_opens_its_place_and_a_transition_says_why_not(tmp_path):
    with served(legacy()) as server:
        found = asked(
            BROWSER,
            tmp_path,
            server,
            """
            const row = document.querySelector("#impossible details");
            row.open = true; await until(() => row.querySelector(".why li"));
            find.value = "brokers[1]"; filter();
            return { path: texts("#path button"), why: row.querySelector(".why").textContent, command: texts("#command")[0],
                     shown: texts("#state table:not([hidden]) caption"), error: error.hidden };""",
            "#initial=0&steps=session.start(b%3D0)%20-%3E%20OK",
        )
    assert found["path"][1].endswith(START) and " refuses: " in found["why"] and found["error"]
    assert found["shown"] == ["brokers[1]"] and "--steps 'session.start(b=0) -> OK'" in found["command"]


@in_a_browser
def test_an_address_that_is_none_is_told_on_the_page(tmp_path):
    with served(legacy()) as server:
        script = """return { error: error.textContent, hidden: error.hidden };"""
        found = asked(BROWSER, tmp_path, server, f"seen = 1; await until(() => !error.hidden); {script}", "#steps=x")
    assert "not a step" in found["error"] and not found["hidden"]
