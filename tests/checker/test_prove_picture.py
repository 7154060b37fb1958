"""Pictures of what a proof does not prove: counterexamples to induction, and violations found without exploring."""

import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from kafkaproof.checker.commands.main import main
from kafkaproof.checker.pictures import render, to_svg
from kafkaproof.checker.pictures.changes import changes
from kafkaproof.checker.prove.picture import history_of_cti
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.language.model import Property
from tests.checker.proving import verdicts

ALONE = ("--log", "1", "--records", "1", "--epochs", "1")


def counterexamples(system, variant, any_size=False, **sizes):
    (model,) = find(system, variant)
    _, proof = verdicts(model, {**model.scope, **sizes}, any_size=any_size)
    return {v.cti.family: (v.cti, history_of_cti(proof.relation, v.cti)) for v in proof.verdicts if v.cti}


@pytest.mark.parametrize(
    "system, variant, any_size, sizes",
    [
        ("election", "legacy", False, {"brokers": 2}),
        ("election", "legacy", True, {}),
        ("replication", "truncate-to-hw", False, {}),
        ("consumer", "roundrobin", False, {"consumers": 2}),
    ],
)
def test_a_counterexample_to_induction_is_one_step_between_the_leaves_that_matter(system, variant, any_size, sizes):
    found = counterexamples(system, variant, any_size, **sizes)
    assert found
    for name, (cti, history) in found.items():
        (step,) = history["steps"]
        assert step["text"] == cti.step and step["violates"] == [name]
        told = {path: (old, new) for path, old, new in changes(history["initial"], step["state"])}
        assert told == {leaf.text: (leaf.before, leaf.after) for leaf in cti.leaves if leaf.before != leaf.after}
        assert len(step["notes"]) + len(told) == len(cti.leaves) > 0
        assert name in render(history) and ElementTree.fromstring(to_svg(history)) is not None


def test_the_brokers_of_any_number_are_those_that_a_counterexample_speaks_of():
    cti, history = counterexamples("election", "legacy", any_size=True)["one_token"]
    ids = {text for leaf in cti.leaves for text in ("broker 0", "broker 1", "broker 2") if f"[{text[-1]}]" in leaf.text}
    assert ids and ids <= set(history["lanes"]) and history["scope"] == {}


def is_owned(s):
    return s.zk.controller >= 0


def test_what_fails_in_an_initial_state_is_told_without_a_step():
    (model,) = find("election", "fenced")
    owned = Property("is_owned", "always", is_owned, "Somebody is the controller.")
    _, proof = verdicts(replace(model, properties=(owned,)), {**model.scope, "brokers": 2})
    history = history_of_cti(proof.relation, proof.verdicts[-1].cti)
    assert history["steps"] == [] and "is_owned fails in an initial state" in history["story"]
    assert "zk.controller is null" in history["story"] and "is_owned fails" in to_svg(history)


def test_the_command_draws_the_property_that_was_asked_for(tmp_path, capsys):
    page, svg = tmp_path / "it.html", tmp_path / "it.svg"
    asked = ["prove", "replication", "--variant", "truncate-to-hw", "--property", "strong_isr"]
    assert main([*asked, "--output", str(page), "--svg", str(svg)]) == 1
    told = capsys.readouterr().out.splitlines()[-1]
    assert told == f"replication, variant truncate-to-hw: strong_isr is not inductive; open {page}, {svg}"
    assert "strong_isr is not inductive" in page.read_text() and "violates strong_isr" in svg.read_text()


def test_a_violation_found_without_exploring_is_drawn_whole_and_json_stays_json(tmp_path, capsys):
    svg = tmp_path / "it.svg"
    asked = ["prove", "replication", "--variant", "truncate-to-hw", "--property", "strong_isr", "--depth", "9", *ALONE]
    assert main([*asked, "--json", "--svg", str(svg)]) == 1
    out, told = capsys.readouterr()
    assert json.loads(out)["properties"][0]["trace_length"] == 9 and str(svg) in told
    assert svg.read_text().count('id="step-') == 8


def test_where_nothing_fails_nothing_is_drawn(tmp_path, capsys):
    svg = tmp_path / "it.svg"
    asked = ["prove", "async-isr", "--variant", "maximal-isr", "--brokers", "2", "--svg", str(svg)]
    assert main(asked) == 0 and not svg.exists()
    assert "there is no counterexample to draw" in capsys.readouterr().out
