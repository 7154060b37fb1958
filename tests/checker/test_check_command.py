"""`check` says what it found as JSON and by its exit code, and goes on where it was stopped."""

import json
import re

import pytest

from kafkaproof.checker.check import run
from kafkaproof.checker.check.answers import failure_of, not_shown
from kafkaproof.checker.commands.check import exit_code
from kafkaproof.checker.commands.tables import print_alone, verdict_text
from kafkaproof.checker.model.selection import Check, scope_for
from kafkaproof.spec.catalogue import all_models, find
from tests.checker.arguments import counts, kept, replication, resumed

SMALL = (2, 1, 1, 1)
ENTRY = {
    "system",
    "variant",
    "scope",
    "properties",
    "verdict",
    "expected",
    "violated",
    "trace_length",
    "violations",
    "unreached",
    "distinct",
    "generated",
    "depth",
    "memory",
    "older",
    "cuts",
    "seconds",
    "startup_seconds",
    "run_dir",
    "coverage",
    "undecided",
    "not_asked",
    "not_shown",
    "failure",
}
MODULE = '''
def no_record_yet(s):
    """No record was written."""
    return s.next_record == 0

def leader_knows_itself(s):
    for r in range(len(s.replicas)):
        if s.replicas[r].leader == r and s.replicas[r].leader_epoch < 0:
            return False
    return True
'''


def test_a_sound_variant_holds_with_the_known_counts(kafkaproof):
    answer = kafkaproof(*replication("kip320", 3, 1, 1, 1), *kept("run"))
    result = answer.result
    assert answer.code == 0 and answer.json["format"] == 1 and ENTRY <= result.keys()
    assert counts(result) == (6787, 16348, 18, "holds")
    assert (result["expected"], result["violated"], result["violations"], result["unreached"]) == (True, None, [], [])
    assert sum(result["coverage"].values()) == 16348 - 1 and result["cuts"].keys() == {"log", "records", "epochs"}
    assert result["run_dir"].endswith("/run") and result["never_enabled"] == []


def test_a_variant_of_the_museum_is_violated_as_recorded(kafkaproof):
    answer = kafkaproof(*replication("kip101", 3, 1, 1, 1), *kept("run"))
    result = answer.result
    assert (answer.code, result["verdict"], result["expected"]) == (1, "violated", True)
    assert (result["violated"], result["trace_length"]) == ("strong_isr", 12)
    (violation,) = result["violations"]
    assert len(violation["trace"]) == 11 and violation["trace"][0].startswith("replication.elect_leader(leader=")


def test_a_scope_that_is_too_small_for_what_is_known_says_so(kafkaproof):
    """`kip279` holds with two brokers, and loses records with three."""
    quick = ["check", "replication", "--variant", "kip279", "--scope", "quick"]
    answer = kafkaproof(*quick, *kept("run"))
    assert (answer.code, answer.result["verdict"], answer.result["expected"]) == (0, "holds", True)
    shown = {entry["property"]: entry for entry in answer.result["not_shown"]}
    assert shown.keys() == {"weak_isr", "strong_isr"} and shown["weak_isr"]["trace_length"] == 11
    assert shown["weak_isr"]["scope"] == {"brokers": 3, "log": 2, "records": 2, "epochs": 2}
    told = kafkaproof(*quick, "--run-dir", "told", "--master", "local[2]").out
    assert "replication/kip279 is violated at other scopes: at brokers 3: weak_isr, strong_isr" in told
    only = kafkaproof(*quick, "--property", "weak_isr", *kept("only")).result
    assert [entry["property"] for entry in only["not_shown"]] == ["weak_isr"]


@pytest.mark.parametrize("model", all_models(), ids=lambda model: f"{model.system}-{model.variant}")
def test_what_is_recorded_at_one_scope_is_told_at_every_other(model):
    """The records themselves are read: each violation that one scope has and another has not."""
    for at, lengths in model.expected.items():
        check = Check(model, at, ())
        asked = [p.name for p in model.properties_at(check.scope)]
        result = {"complete": True, "violations": [{"property": name} for name in lengths], "properties": asked}
        recorded = {name for others in model.expected.values() for name in others}
        told = not_shown(check, result)
        assert {entry["property"] for entry in told} == recorded & {*asked} - lengths.keys()
        for entry in told:
            assert model.expectation(entry["scope"])[entry["property"]] == entry["trace_length"]
        assert not_shown(check, result | {"complete": False}) == []


def test_what_holds_with_transitions_never_taken_says_how_many():
    result = {"verdict": "holds", "failure": None, "never_enabled": ["crash", "expire"], "not_shown": []}
    assert verdict_text(result) == ("holds, 2 transitions never taken", "green")
    shown = result | {"not_shown": [{}], "never_enabled": ["crash"]}
    assert verdict_text(shown)[0] == "holds, too small to show 1 known violation, 1 transition never taken"
    assert verdict_text(shown | {"failure": "unexpected"})[0].startswith("UNEXPECTED: holds, too small")
    assert verdict_text(result | {"never_enabled": []}) == ("holds", "green")
    assert verdict_text(result | {"verdict": "violated", "failure": "known"}) == ("known failure", "yellow")


def test_a_failure_is_open_where_the_newest_release_has_it():
    found = {"verdict": "violated", "expected": True}
    kinds = {name: failure_of(find(*name)[0], found) for name in (("election", "legacy"), ("election", "fenced"))}
    assert kinds == {("election", "legacy"): "known", ("election", "fenced"): "open"}
    draft = find("replication", "kip320-first-try")[0]
    assert draft.releases is None and failure_of(draft, found) == "known"
    assert failure_of(draft, found | {"expected": None}) == "new"
    assert failure_of(draft, {"verdict": "holds", "expected": False}) == "unexpected"
    assert failure_of(draft, {"verdict": "holds", "expected": True}) is None


def test_properties_that_were_not_asked_or_not_decided_are_named(kafkaproof, monkeypatch):
    small = ["check", "async-isr", "--variant", "maximal-isr", "--brokers", "2", "--log", "1", "--versions", "1"]
    result = kafkaproof(*small, *kept("small")).result
    why = {entry["property"]: entry["why"] for entry in result["not_asked"]}
    assert why == {
        "added_unknown": "needs versions 2",
        "waits_for_pending": "needs versions 2",
        "waits_no_more": "needs versions 3",
    }
    assert result["undecided"] == [] and why.keys().isdisjoint(result["properties"])
    assert (
        "not asked: added_unknown (needs versions 2), "
        in kafkaproof(*small, "--run-dir", "told", "--master", "local[2]").out
    )
    monkeypatch.setattr(run, "FURTHER", 100)
    stopped = kafkaproof(*replication("kip101", 3, 1, 1, 1), *kept("stopped")).result
    assert set(stopped["undecided"]) == {"weak_isr", "leader_in_isr"} and stopped["not_asked"] == []


@pytest.mark.parametrize(("further", "options"), ((250_000, ()), (0, ("--keep-going",))))
def test_what_is_small_and_what_keeps_going_is_explored_to_the_end(kafkaproof, monkeypatch, further, options):
    monkeypatch.setattr(run, "FURTHER", further)
    result = kafkaproof(*replication("kip101", 3, 1, 1, 1), *options, *kept("run")).result
    assert counts(result) == (9841, 28840, 18, "violated") and result["expected"] is True


def test_an_unrecorded_scope_has_no_expectation(kafkaproof):
    answer = kafkaproof(*replication("kip320", *SMALL), *kept("run"))
    assert answer.code == 0 and answer.result["expected"] is None


def test_a_goal_that_no_state_reaches_is_told_and_is_a_failure(kafkaproof):
    answer = kafkaproof(*replication("kip320", 1, 1, 1, 1), *kept("run"))
    assert (answer.code, answer.result["verdict"], answer.result["unreached"]) == (1, "holds", ["two_leaders"])
    assert "replication.follower_fetch" in answer.result["never_enabled"]


def test_a_violation_that_is_recorded_is_a_success_only_for_who_says_so(kafkaproof):
    sizes = "--brokers 2 --log 2 --records 2 --epochs 2".split()
    answer = kafkaproof("check", "replication", *sizes, "--recorded", *kept("suite"))
    results = answer.json["runs"]
    assert answer.code == 0 and [r["expected"] for r in results] == [True] * 5
    assert [r["failure"] for r in results] == ["known", "known", None, None, None]
    assert [r["trace_length"] for r in results] == [9, 12, None, None, None]
    assert all(r["run_dir"].endswith(f"/suite/replication-{r['variant']}") for r in results)


def test_of_several_runs_a_line_a_system_is_printed_with_what_to_look_at(kafkaproof):
    sizes = "--brokers 2 --log 2 --records 2 --epochs 2".split()
    told = kafkaproof("check", "replication", *sizes, "--run-dir", "suite", "--master", "local[2]")
    assert told.code == 1 and re.search(r"^replication +5 +[\d,]+ +1 +2 +2 +0 +0$", told.out, re.M)
    assert "look at replication/" not in told.out and "kafkaproof show " in told.out
    other = kafkaproof("check", "replication", "--log", "1", *sizes[4:], "--run-dir", "o", "--master", "local[2]")
    assert "look at replication/truncate-to-hw: VIOLATED (weak_isr" in other.out


def test_of_several_runs_each_is_printed_when_asked(kafkaproof):
    sizes = "--brokers 2 --log 1 --records 1 --epochs 1".split()
    every = kafkaproof("check", "replication", *sizes, "--verbose", "--run-dir", "all", "--master", "local[2]")
    assert "truncate-to-hw" in every.out and "weak_isr" in every.out and "look at" not in every.out


@pytest.mark.parametrize(
    ("verdict", "expected", "recorded", "code"),
    [
        ("holds", True, False, 0),
        ("holds", None, True, 0),
        ("holds", False, False, 1),
        ("violated", True, False, 1),
        ("violated", True, True, 0),
        ("violated", None, True, 1),
        ("violated", False, True, 1),
        ("incomplete", None, True, 3),
    ],
)
def test_one_rule_gives_the_exit_code_of_one_run_and_of_many(verdict, expected, recorded, code):
    result = {"verdict": verdict, "expected": expected, "unreached": []}
    holds = {"verdict": "holds", "expected": True, "unreached": []}
    assert exit_code([result], recorded) == exit_code([holds, result], recorded) == code


def test_a_property_of_ones_own_is_violated_and_never_unexpected(kafkaproof, tmp_path):
    (tmp_path / "mine.py").write_text(MODULE)
    quick = ["check", "replication", "--variant", "kip320", "--scope", "quick"]
    result = kafkaproof(*quick, "--property", "mine.py:no_record_yet", *kept("run")).result
    assert (result["verdict"], result["expected"], result["failure"]) == ("violated", None, "new")


def test_a_named_scope_gives_the_sizes_that_are_not_given(kafkaproof):
    answer = kafkaproof("check", "replication", "--variant", "kip320", "--scope", "quick", "--log", "1", *kept("run"))
    assert answer.result["scope"] == {"brokers": 2, "log": 1, "records": 2, "epochs": 2}


def test_there_are_no_more_replicas_than_brokers():
    model = find("partition", "fenced")[0]
    assert scope_for(model, None, {"brokers": 1})["replicas"] == 1


@pytest.mark.parametrize("model", all_models(), ids=lambda model: f"{model.system}-{model.variant}")
def test_every_named_scope_has_all_sizes_within_the_largest_and_a_recorded_verdict(model):
    assert model.scopes.keys() >= {"standard", "quick", "deep"} and model.sizes.keys() == model.scope.keys()
    for name, scope in model.scopes.items():
        assert scope_for(model, name, {}) == scope_for(model, None, scope) == scope
    assert None not in (model.expectation(model.scopes[name]) for name in ("standard", "quick"))


def test_a_deadlock_is_looked_for_when_asked(kafkaproof):
    """An ISR that was shrunk to nobody leaves nothing to do; steps beyond a bound are no deadlock."""
    answer = kafkaproof(*replication("kip320", *SMALL), "--deadlock", "--keep-going", *kept("run"))
    (violation,) = answer.result["violations"]
    assert (answer.code, violation["property"]) == (1, "deadlock")
    assert {step.split("(")[0] for step in violation["trace"]} == {"replication.controller_shrink_isr"}


def test_only_the_properties_that_are_named_are_checked(kafkaproof):
    named = ["--property", "weak_isr", "--property", "leader_in_isr"]
    answer = kafkaproof(*replication("kip101", 3, 1, 1, 1), *named, *kept("run"))
    assert answer.result["properties"] == ["weak_isr", "leader_in_isr"]
    assert (answer.code, answer.result["verdict"], answer.result["expected"]) == (0, "holds", True)


@pytest.mark.parametrize(("name", "code"), [("no_record_yet", 1), ("leader_knows_itself", 0)])
def test_a_property_of_ones_own_is_checked(kafkaproof, tmp_path, name, code):
    (tmp_path / "mine.py").write_text(MODULE)
    answer = kafkaproof(*replication("kip320", *SMALL), "--property", f"mine.py:{name}", *kept("run"))
    assert answer.code == code and answer.result["properties"] == [name]
    if code:
        assert answer.result["violations"][0]["trace"][-1].startswith("replication.leader_write(")


def test_tables_for_people_name_the_run_and_what_was_cut(kafkaproof):
    answer = kafkaproof(*replication("kip101", 3, 1, 1, 1), "--run-dir", "run", "--master", "local[2]")
    assert answer.code == 1
    for text in ("known failure", "strong_isr in 12 states", "steps cut by bounds", "exploration"):
        assert text in answer.out
    assert "kafkaproof show " in answer.out and "Traceback" not in answer.err


def test_people_are_told_how_many_properties_hold_and_what_the_scope_bounds(kafkaproof, monkeypatch):
    whole = kafkaproof(*replication("kip320", 2, 1, 1, 1), "--run-dir", "whole", "--master", "local[2]")
    assert "properties: 17 asked; 17 hold at this scope\n" in whole.out
    assert "  epochs 1: changes of the leader\n" in whole.out
    assert "replication alone" not in whole.out, "no system composes it"
    monkeypatch.setattr(run, "FURTHER", 0)
    stopped = kafkaproof(*replication("kip101", 3, 1, 1, 1), "--run-dir", "stopped", "--master", "local[2]")
    assert "properties: 3 asked; 2 not violated so far; violated: strong_isr\n" in stopped.out


def test_of_a_part_people_are_told_what_composes_it(capsys):
    print_alone({"system": "partition"}, ["cluster"])
    assert (
        "this run is about partition alone; " in (told := capsys.readouterr().out)
        and "kafkaproof check cluster\n" in told
    )


@pytest.mark.parametrize("limit", ["--max-states=900", "--max-depth=9", "--max-minutes=0", "--max-disk=40K"])
def test_a_limit_leaves_the_run_incomplete_and_resuming_gives_the_whole_counts(kafkaproof, limit):
    first = kafkaproof(*replication("kip320", 3, 1, 1, 1), limit, *kept("run"))
    assert (first.code, first.result["verdict"], first.result["expected"]) == (3, "incomplete", None)
    assert first.result["distinct"] < 6787 and f"--{first.result['stopped_by']}" == limit.split("=")[0]
    again = kafkaproof(*resumed("run"))
    assert again.code == 0 and counts(again.result) == (6787, 16348, 18, "holds")


def test_limits_may_follow_one_another(kafkaproof):
    first = kafkaproof(*replication("kip101", 3, 1, 1, 1), "--max-depth", "4", *kept("run")).result
    second = kafkaproof(*resumed("run"), "--max-depth", "8").result
    assert (first["depth"], second["depth"]) == (4, 8)
    assert kafkaproof(*resumed("run")).result["trace_length"] == 12


def test_a_finished_run_resumed_answers_the_same(kafkaproof):
    first = kafkaproof(*replication("kip101", 3, 1, 1, 1), *kept("run")).result
    again = kafkaproof(*resumed("run"))
    timed = {"seconds", "startup_seconds", "liveness_seconds"}
    assert again.code == 1
    assert {k: v for k, v in again.result.items() if k not in timed} == {
        k: v for k, v in first.items() if k not in timed
    }


def test_a_property_of_ones_own_is_resumed_with_it(kafkaproof, tmp_path):
    (tmp_path / "mine.py").write_text(MODULE)
    kafkaproof(*replication("kip320", *SMALL), "--property", "mine.py:no_record_yet", "--max-depth=2", *kept("run"))
    assert kafkaproof(*resumed("run")).result["violated"] == "no_record_yet"


def test_without_a_directory_a_fresh_one_in_runs_is_used(kafkaproof, tmp_path):
    result = kafkaproof(*replication("kip320", *SMALL), "--json", "--master", "local[2]").result
    assert result["run_dir"].startswith(str(tmp_path / "runs" / "replication-kip320-"))
    kept_result = json.loads((tmp_path / "runs" / result["run_dir"].split("/")[-1] / "result.json").read_text())
    assert kept_result["distinct"] == result["distinct"]
