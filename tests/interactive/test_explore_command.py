"""`explore` opens at a model, a run, a trace or a scenario, and works through a pipe."""

import io
import json

import pytest
from served import legacy

from kafkaproof.checker.interactive.terminal import Terminal
from tests.checker.arguments import kept, replication

ELECTION = ["explore", "election", "--variant", "legacy", "--brokers", "2", "--text"]


@pytest.fixture
def piped(kafkaproof, monkeypatch):
    """What the command prints when it reads these lines."""

    def ask(arguments, *lines):
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        return kafkaproof(*arguments)

    return ask


def test_steps_are_taken_by_number_or_text_and_taken_back(piped):
    told = piped(
        ELECTION, "1", "session.register_broker(b=0) -> OK", "path", "back", "why session.notice_expiry", "quit", "1"
    )
    assert told.code == 0
    assert "after 1 step: session.start(b=0) -> OK\n    zk.clients[0].session: false -> true\n" in told.out
    assert "   1  session.start(b=0) -> OK\n   2  session.register_broker(b=0) -> OK\n" in told.out
    assert told.out.count("after 1 step:") == 2 and "refuses: " in told.out
    assert "beyond the bounds (faults)" not in told.out


def test_a_wrong_line_is_told_and_does_not_end_it(piped):
    told = piped(ELECTION, "nonsense", "77", "session.start(b=9)", "why nothing", "back x", "save x.y", "1")
    for text in ("no command 'nonsense'", "no step 77; 2 are possible", "no transition nothing", "'x' is not a number"):
        assert text in told.out
    assert "'x.y' ends in none of .scenario, .json, .html" in told.out and "after 1 step" in told.out


def test_what_is_found_shown_and_saved(piped, tmp_path):
    told = piped(ELECTION, "1", "find expire_session", "state epoch", "properties one_owner", "metrics", "save p.json")
    assert "faults.expire_session(b=0)  ZooKeeper" in told.out and "zk.epoch: " in told.out
    assert "one_owner (always): holds so far" in told.out and "wrote p.json" in told.out
    again = piped(["explore", "p.json", "--text"], "command", "impossible elect")
    assert "after 1 step" in again.out and "kafkaproof explore election --variant legacy --brokers 2 " in again.out


def test_it_opens_along_a_counterexample_and_a_scenario(piped, kafkaproof):
    kafkaproof(*replication("kip101", 3, 1, 1, 1), *kept("run"))
    whole = piped(["explore", "run", "--text"])
    assert "after 11 steps" in whole.out and "** violates strong_isr **" in whole.out
    assert "after 4 steps" in piped(["explore", "run", "--step", "4", "--text"]).out
    assert "no step 12; run has 11" in piped(["explore", "run", "--step", "12", "--text"]).complaint
    assert "leave out --steps" in piped(["explore", "run", "--steps", "x", "--text"]).complaint
    told = piped(["explore", "zombie-controller", "--text"], "command")
    assert "kafkaproof explore " in told.out and "after " in told.out


def test_steps_that_are_given_are_taken(piped):
    steps = "session.start(b=0) -> OK; session.start(b=1) -> OK"
    assert "after 2 steps: session.start(b=1)" in piped([*ELECTION, "--steps", steps]).out
    refused = piped([*ELECTION, "--steps", "session.register_broker(b=0)"])
    assert refused.code == 2 and "register_broker(b=0), is not enabled: " in refused.complaint


def test_what_cannot_be_explored_is_told_in_one_line(piped, tmp_path):
    assert "has several variants" in piped(["explore", "election", "--text"]).complaint
    (tmp_path / "history.json").write_text(json.dumps({"steps": []}))
    assert piped(["explore", "history.json", "--text"]).code == 2


def test_an_empty_line_is_nothing_and_help_lists_the_commands(capsys):
    session = legacy()
    Terminal(session, session.trace(0, []), io.StringIO("\nhelp\n")).run()
    told = capsys.readouterr().out
    assert "why TRANSITION" in told and told.count("in its initial state") == 1


def test_a_model_of_ones_own_is_explored_saved_and_opened_again(piped, kafkaproof, tmp_path):
    assert kafkaproof("new", "mine").code == 0
    told = piped(["explore", "mine/mine.py:MODEL", "--text"], "1", "command", "save p.scenario", "save p.json")
    assert "kafkaproof explore mine/mine.py:MODEL --clients " in told.out
    assert kafkaproof("scenario", "p.scenario").code == 0
    assert "after 1 step" in piped(["explore", "p.json", "--text"]).out
