"""`runs`, `list` and `show`: what is kept, what there is, and pictures of what went wrong."""

import json
from collections import Counter
from pathlib import Path

import pytest

from kafkaproof.checker.check import run
from kafkaproof.checker.model.execution import Execution
from kafkaproof.spec.catalogue import all_models, find
from tests.checker.arguments import kept, replication, resumed

KIP101 = replication("kip101", 3, 1, 1, 1)


@pytest.fixture
def violated(kafkaproof):
    """The name of a run that found a violation."""
    assert kafkaproof(*KIP101, *kept("runs/bad")).code == 1
    return "runs/bad"


def test_runs_are_listed_with_their_sizes_and_deleted(kafkaproof, violated, tmp_path):
    kafkaproof(*replication("kip320", 2, 1, 1, 1), "--max-depth", "3", *kept("runs/some"))
    bad, some = kafkaproof("runs", "--json").json["runs"]
    assert (bad["run_dir"], bad["state"], bad["variant"]) == ("runs/bad", "violated", "kip101")
    assert (some["state"], some["distinct"]) == ("incomplete", 17) and some["bytes"] > 0
    assert "runs/bad" in kafkaproof("runs").out and "runs/some" in kafkaproof("runs").out
    assert kafkaproof("runs", "--delete", "runs/bad", "--delete", "runs/some").code == 0
    assert kafkaproof("runs").out.strip() == "no runs in runs" and not (tmp_path / violated).exists()


def test_a_run_that_was_killed_is_listed_as_unfinished(kafkaproof, violated, tmp_path):
    (tmp_path / violated / "result.json").unlink()
    assert [run["state"] for run in kafkaproof("runs", "--json").json["runs"]] == ["unfinished"]
    assert "runs/bad is not finished; go on with: kafkaproof check --resume" in kafkaproof("show", violated).complaint


def test_the_list_names_every_model_its_bounds_properties_and_recorded_verdicts(kafkaproof):
    models = kafkaproof("list", "--json").json["models"]
    assert [(m["system"], m["variant"]) for m in models] == [(m.system, m.variant) for m in all_models()]
    assert all(m["scope"].keys() == m["largest"].keys() and m["properties"] and m["transitions"] for m in models)
    kip101 = next(m for m in models if m["variant"] == "kip101")
    scope = {"brokers": 3, "log": 1, "records": 1, "epochs": 1}
    assert {"scope": scope, "violated": {"strong_isr": 12}} in kip101["recorded_verdicts"]
    assert "strong_isr" in kafkaproof("list", "replication").out
    every = kafkaproof("list").out
    assert "Who becomes the controller" in every and "unlocked" in every and len(every.splitlines()) < 60


def test_a_counterexample_becomes_a_page_beside_the_run(kafkaproof, violated, tmp_path):
    answer = kafkaproof("show", violated)
    assert answer.code == 0 and answer.out.strip() == "11 steps; open runs/bad/counterexample.html"
    page = (tmp_path / violated / "counterexample.html").read_text()
    assert "become_follower" in page and "http://" not in page.replace("http://www.w3.org", "")


def test_a_counterexample_is_shown_as_text_and_beside_another(kafkaproof, violated, tmp_path):
    assert "kip101.become_follower(" in kafkaproof("show", violated, "--text").out
    answer = kafkaproof("show", violated, "--beside", violated, "--output", "both.html")
    assert answer.code == 0 and (tmp_path / "both.html").exists()
    assert kafkaproof("show", violated, "--beside", violated, "--text").code == 0


def test_the_answer_of_check_can_be_shown_too(kafkaproof, violated, tmp_path):
    found = json.loads((tmp_path / violated / "result.json").read_text())
    (tmp_path / "answer.json").write_text(json.dumps({"format": 1, "runs": [found]}))
    assert kafkaproof("show", "answer.json", "--text").out == kafkaproof("show", violated, "--text").out


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "trace.json is not JSON"),
        ("[]", "trace.json holds neither a history nor a trace"),
        ("{}", "trace.json holds neither a history nor a trace: no 'system'"),
        ("[" * 100_000, "trace.json is not JSON"),
        ('{"runs": [5]}', "trace.json holds neither a history nor a trace"),
        ('{"system": "replication", "variant": null, "scope": {}}', "neither a history nor a trace: no 'variant'"),
        ('{"system": "x", "variant": "y", "scope": {}, "violations": 3}', "violations are a list of objects"),
        ('{"system": "x", "variant": "y", "scope": {}, "violations": [{"property": 3}]}', "violations are a list"),
        (
            '{"system": "x", "variant": "y", "scope": {}, "violations": [{"property": "p"}]}',
            "a trace is a list of steps",
        ),
        ('{"system": "x", "variant": "y", "scope": {}, "undecided": 3}', "properties are a list of names"),
        (
            '{"system": "replication", "variant": "kip320", "scope": {"brokers": 9999999, "log": 1, "records": 1,'
            ' "epochs": 1}, "trace": []}',
            "brokers goes from 1 to 7, not 9999999",
        ),
        (
            '{"system": "replication", "variant": "kip320", "scope": {"brokers": "2", "log": 1, "records": 1, "epochs": 1},'
            ' "trace": []}',
            "the numbers of a scope are whole",
        ),
        ('{"steps": 1}', "trace.json: "),
        ('{"system": "x", "variant": "y", "scope": {}}', "nothing is violated"),
        ('{"system": "x", "variant": "y", "scope": {}, "trace": []}', "no system 'x'"),
        ('{"system": "replication", "variant": "kip320", "scope": {}, "trace": []}', "scope"),
        (
            '{"system": "replication", "variant": "kip320", "scope": {"brokers": 2, "log": 1, "records": 1, "epochs": 1},'
            ' "trace": ["replication.leader_write(leader=0)"]}',
            "step 1, replication.leader_write",
        ),
    ],
)
def test_what_cannot_be_shown_is_told_in_a_line(kafkaproof, tmp_path, text, complaint):
    (tmp_path / "trace.json").write_text(text)
    answer = kafkaproof("show", "trace.json").complaint
    assert complaint in answer and "defect" not in answer


def test_what_a_run_did_not_decide_is_not_called_sound(kafkaproof, monkeypatch):
    """It stopped at the violation of one property; of another it knows nothing, until that is asked."""
    with monkeypatch.context() as at_once:
        at_once.setattr(run, "FURTHER", 0)
        kafkaproof(*KIP101, *kept("runs/stopped"))
    told = kafkaproof("show", "runs/stopped", "--property", "weak_isr").complaint
    said, command = told.split("; decide it with: kafkaproof ")
    assert said.endswith("weak_isr was not decided, the run stopped at the violation of strong_isr")
    assert kafkaproof(*command.split(), *kept("runs/asked")).result["properties"] == ["weak_isr"]
    assert "nothing is violated (holds)" in kafkaproof("show", "runs/asked").complaint
    told = kafkaproof("show", "runs/asked", "--property", "strong_isr").complaint
    assert "strong_isr was not asked in this run; ask it with: kafkaproof check replication --variant kip101" in told
    told = kafkaproof("show", "runs/asked", "--property", "strong_is").complaint
    assert "replication has no property 'strong_is'; it has " in told and told.endswith("; did you mean strong_isr?")
    kafkaproof(*KIP101, *kept("runs/whole"))
    told = kafkaproof("show", "runs/whole", "--property", "weak_isr").complaint
    assert "weak_isr is not violated at this scope; violated are strong_isr" in told


def test_of_a_run_that_a_limit_stopped_it_is_said_how_to_go_on(kafkaproof):
    kafkaproof(*KIP101, "--max-depth", "3", *kept("runs/some"))
    for more in ([], ["--property", "weak_isr"]):
        told = kafkaproof("show", "runs/some", *more).complaint
        assert "--resume" in told and "holds" not in told and "not violated" not in told
    assert "weak_isr was not decided, the run stopped at --max-depth" in told


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"property": "weak_isr"}, "weak_isr is not violated at the end of this trace"),
        ({"property": "deadlock"}, "deadlock is not violated at the end of this trace"),
        ({"trace": []}, "strong_isr is not violated at the end of this trace"),
        ({"trace": [1]}, "a trace is a list of steps as text"),
        ({"trace": 5}, "a trace is a list of steps as text"),
        ({"loop": 99}, "a loop is a number of steps of the trace"),
    ],
)
def test_a_trace_that_does_not_violate_what_it_says_is_not_shown(kafkaproof, violated, tmp_path, change, complaint):
    found = json.loads((tmp_path / violated / "result.json").read_text())
    found = {name: found[name] for name in ("system", "variant", "scope")} | found["violations"][0] | change
    (tmp_path / "trace.json").write_text(json.dumps(found))
    assert complaint in kafkaproof("show", "trace.json").complaint


def test_an_outcome_that_was_edited_is_not_shown(kafkaproof, violated, tmp_path):
    result = tmp_path / violated / "result.json"
    result.write_text(result.read_text().replace('"verdict": "violated"', '"verdict": "holds"'))
    told = kafkaproof("show", violated).complaint
    assert "result.json is not as it was written; resume the run to have it written again" in told
    assert "result.json is not as it was written" in kafkaproof("runs", "--json").json["runs"][0]["state"]
    assert kafkaproof(*resumed(violated)).code == 1 and kafkaproof("show", violated).code == 0


def first_reached(model, scope):
    """The states of a shortest path to each goal, by a search in plain Python."""
    execution, lengths, depth = Execution(model, scope), {}, 1
    level, seen = execution.initial_states(), set()
    while level:
        for state in level:
            for goal, holds in execution.state_verdicts(state):
                if goal.kind == "sometimes" and holds:
                    lengths.setdefault(goal.name, depth)
        following = {
            execution.key(after): after for state in level for _, _, after in execution.successors(state, Counter())
        }
        seen |= {execution.key(state) for state in level}
        level, depth = [state for key, state in following.items() if key not in seen], depth + 1
    return lengths


def test_the_shortest_way_to_a_goal_is_kept_and_drawn(kafkaproof):
    small = replication("kip320", 2, 1, 1, 1)
    told = kafkaproof(*small, "--witness", "--run-dir", "runs/good", "--master", "local[2]").out
    assert "two_leaders" in told and "draw a path: kafkaproof show " in told
    result = json.loads(Path("runs/good/result.json").read_text())
    lengths = {goal["property"]: goal["trace_length"] for goal in result["reached"]}
    assert lengths == first_reached(find("replication", "kip320")[0], result["scope"]) and lengths["two_leaders"] == 5
    drawn = kafkaproof("show", "runs/good", "--property", "two_leaders", "--text")
    assert drawn.code == 0 and "reaches two_leaders: " in drawn.out and "\n   4  " in drawn.out
    assert "\n   5  " not in drawn.out
    assert "after 4 steps" in kafkaproof("explore", "runs/good", "--property", "two_leaders", "--text").out
