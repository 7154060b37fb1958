"""`explore` opens at a model, a run, a trace or a scenario, and works through a pipe."""

import io
import json
from pathlib import Path

import pytest
from served import legacy

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.interactive.terminal import Terminal
from kafkaproof.impl.harness.conducting.counterexample import read_counterexample
from kafkaproof.impl.harness.real.behaviour import read_behaviour
from tests.checker.arguments import kept, replication
from tests.traces.replaying import BUNDLED

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


WATCHED = """
from dataclasses import replace
from measured_own import MODEL
from kafkaproof.model import counter, gauge

def waiting(s):
    \"\"\"Clients that wait.\"\"\"
    count = 0
    for asks in s.asks:
        count += asks
    return count

def lost(before, after):
    \"\"\"Clients that were given up.\"\"\"
    return after.losses - before.losses

WATCHED = replace(MODEL, metrics=(gauge(waiting, "above 1, lasting"), counter(lost, of=("give_up",))))
"""
RECORDED = BUNDLED / "run-legacy-split-brain"


def test_it_opens_before_the_step_at_which_a_recording_diverges(piped):
    arguments = ["explore", RECORDED, "--variant", "legacy-checked", "--text"]
    told = piped(arguments, "state zk.epoch", "command", "save x.scenario", "live x.json", "save x.html")
    assert told.code == 0 and "the answer was OK; the specification's ZooKeeper answers FENCED." in told.out
    assert "machines.write_leader(b=1, p=0, delivery=0) -> FENCED" in told.out and "-> OK: the answer" in told.out
    assert f"kafkaproof explore {RECORDED} --variant legacy-checked\n" in told.out and "wrote x.html" in told.out
    assert told.out.count("this path begins in a recording") == 2
    further = piped([*arguments, "--steps", "machines.write_leader(b=1, p=0, delivery=0) -> FENCED"])
    assert "after 1 step: machines.write_leader" in further.out


def test_it_opens_at_the_first_violation_of_a_recording_that_conforms(piped):
    told = piped(["explore", RECORDED, "--text"], "why election.handle_change")
    assert (
        "violates C5" in told.out and "legacy.raise_epoch(b=2, delivery=0) -> OK  ** violates one_token **" in told.out
    )


@pytest.mark.parametrize(
    ("name", "more", "told"),
    [
        ("run-fenced-failover", [], "conforms to fenced and violates nothing: there is nothing to open it at"),
        ("run-legacy-split-brain", ["--brokers", "2"], "has its own scope"),
        ("run-legacy-split-brain", ["--variant", "nonsense"], "--variant: no cluster is 'nonsense'"),
    ],
)
def test_where_no_state_is_known_is_told_in_one_line(piped, name, more, told):
    answer = piped(["explore", BUNDLED / name, *more, "--text"])
    assert answer.code == 2 and told in answer.complaint and "\n" not in answer.complaint


def test_the_command_that_drives_brokers_along_a_path_or_why_there_is_none(piped, kafkaproof):
    told = piped(ELECTION, "1", "live p.json", "live p.scenario")
    assert "wrote p.json\nkafkaproof run --from-counterexample p.json\n" in told.out and "live FILE.json" in told.out
    found = read_counterexample(Path("p.json"))
    assert (found.violated, found.steps) == (None, ("session.start(b=0) -> OK",))
    with pytest.raises(UserError, match="the path violates nothing, and --kafka shows a violation"):
        read_behaviour(Path("p.json"), "1.1.1")
    elsewhere = piped(["explore", "topics", "--variant", "kip455", "--text"], "live p.json")
    assert "topics, variant kip455, does not run step by step; election (fenced and legacy)" in elsewhere.out
    assert kafkaproof("new", "mine").code == 0
    own = piped(["explore", "mine/mine.py:MODEL", "--text"], "1", "live q.json", "save q.json")
    assert "is a model of one's own, and nothing runs it" in own.out
    with pytest.raises(UserError, match="is a model of one's own, and nothing runs it"):
        read_counterexample(Path("q.json"))


def test_a_model_of_ones_own_has_the_metrics_that_it_declares(piped, kafkaproof):
    assert kafkaproof("new", "measured_own").code == 0
    Path("measured_own/watched.py").write_text(WATCHED)
    told = piped(
        ["explore", "measured_own/watched.py:WATCHED", "--text"], "measured_own.ask(c=0)", "metrics", "save p.json"
    )
    assert "  waiting 1\n  lost 0\n" in told.out
    assert kafkaproof("show", "p.json", "--metrics").out.splitlines()[1].split() == ["waiting", "0", "1"]
    (listed,) = kafkaproof("list", "measured_own/watched.py:WATCHED", "--json").json["models"]
    assert [each["name"] for each in listed["metrics"]] == ["waiting", "lost"]
