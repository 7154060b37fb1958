"""`check --profile` tells where a run's states and time went; counts are compared with a search in plain Python."""

import re
from collections import defaultdict

import pytest

from kafkaproof.checker.basics.spent import PHASES
from kafkaproof.checker.explore.reference import explore
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.language.layout import leaves
from tests.checker.arguments import kept, replication

SIZES = (2, 2, 2, 1)


@pytest.fixture(scope="module")
def reference():
    model = find("replication", "kip320")[0]
    scope = dict(zip(model.scope, SIZES, strict=True))
    return model, scope, explore(model, scope)


def test_new_states_are_counted_by_the_transition_that_found_them(kafkaproof, reference):
    _, _, explored = reference
    result = kafkaproof(*replication("kip320", *SIZES), *kept("run"), "--profile").result
    rows = result["profile"]["transitions"]
    assert sum(row["new"] for row in rows) == explored.distinct - 1
    assert {row["transition"]: row["taken"] for row in rows} == explored.coverage
    assert all(row["new"] <= row["taken"] for row in rows)


def test_a_field_has_its_values_and_what_there_would_be_without_it(kafkaproof, reference):
    model, scope, explored = reference
    result = kafkaproof(*replication("kip320", *SIZES), *kept("run"), "--profile").result
    found = {row["name"]: row for row in result["profile"]["fields"]}
    places = defaultdict(list)
    for place, leaf in enumerate(leaves(model.state, scope)):
        places[re.sub(r"\d+", "*", leaf.expression)].append(place)
    keys = list(explored.graph.states)
    for name in places.keys() & found.keys():
        without = {tuple(value for place, value in enumerate(key) if place not in places[name]) for key in keys}
        assert found[name]["values"] == len({key[place] for key in keys for place in places[name]})
        assert found[name]["without"] == round(len(keys) / len(without), 2)
    parts = sorted(place for name in places if name.startswith("replicas[") for place in places[name])
    assert found["replicas"]["values"] == len({tuple(key[place] for place in parts) for key in keys})
    assert found["replicas"]["without"] > 1


def test_each_phase_takes_time_and_is_printed(kafkaproof):
    answer = kafkaproof(*replication("kip320", *SIZES), *kept("run"), "--profile")
    assert {row["phase"] for row in answer.result["profile"]["phases"]} == {*PHASES}
    assert all(row["seconds"] > 0 for row in answer.result["profile"]["phases"])


def test_it_is_of_one_run(kafkaproof):
    answer = kafkaproof("check", "replication", "--scope", "quick", "--profile")
    assert answer.code == 2 and "one search" in answer.err
