"""Bounded model checking finds what the explorer finds, at the same depth."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
import z3
from pysat.solvers import Cadical195

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.explore.reference import explore
from kafkaproof.checker.model.execution import ExecutionError
from kafkaproof.checker.prove.bmc import shortest, violations_within
from kafkaproof.checker.prove.clauses import Bits, Clauses, truth_of
from kafkaproof.checker.prove.encoding import Encoding
from kafkaproof.checker.prove.naming import Naming, naming_of
from kafkaproof.checker.prove.relation import Relation
from kafkaproof.checker.prove.unrolling import Unrolling
from kafkaproof.spec.async_isr import model as async_isr
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.election import model as election
from kafkaproof.spec.language.domains import Number, Record
from kafkaproof.spec.language.model import Transition, always
from kafkaproof.spec.partition import model as partition
from kafkaproof.spec.replica import model as replica
from kafkaproof.spec.replication import model as replication
from kafkaproof.spec.requests import model as requests
from tests import toys

SMALL, WIDE = (replication.scope(brokers=brokers, log=1, records=1, epochs=1) for brokers in (2, 3))


def found(model, scope, depth, only=None, most=1000, symmetric=False):
    """For each property, the length of the shortest violation, or None."""
    asked = tuple(p for p in model.properties if p.kind != "sometimes" and only in (None, p.name))
    result = violations_within(model, scope, asked, depth, most, symmetric)
    assert {e["verdict"] for e in result["properties"]} <= {"violated", "holds"}
    return {e["property"]: e["trace_length"] for e in result["properties"]}


@pytest.mark.parametrize(
    "model",
    [
        toys.clock(failing=True),
        toys.counter(6, failing=True),
        toys.queue(failing=True),
        toys.graph([(0, 1), (1, 2)], [0], failing=True),
        toys.graph([(0, 1), (0, 2), (1, 3), (2, 3)], [0], failing=True),
        toys.clock(),
        toys.queue(),
    ],
    ids=lambda model: f"{model.system}-{model.variant}",
)
def test_toys_fail_at_the_depth_of_the_explorer(model):
    lengths = explore(model, model.scope).violated
    assert {n: length for n, length in found(model, model.scope, 6).items() if length} == lengths


def climb(s):
    """One more, up to what no field of its range holds.

    Guards:  none.
    Effects: the number grows.
    Kafka:   none.
    """
    s.number += 1
    return True


def at_zero(s):
    """The number is 0."""
    s.number = 0


def is_low(s):
    """The number is at most 1: fails in 3 states."""
    return s.number <= 1


def is_small(s):
    """The number is in its range."""
    return s.number <= 3


def test_what_leaves_its_range_is_told_after_what_was_violated_before():
    asked = always(is_low), always(is_small)
    model = replace(
        toys.clock(),
        state=Record(number=(Number(0, 3), "")),
        initial=at_zero,
        transitions=(Transition(climb),),
        properties=asked,
        scope={},
    )
    low, small = violations_within(model, {}, asked, 9, 10)["properties"]
    assert (low["verdict"], low["trace_length"]) == ("violated", 3)
    assert small["verdict"] == "not decided"
    assert re.search("within 3 states; then .*number to 4.* in state 4", small["where"])
    with pytest.raises(ExecutionError, match="climb.* sets number to 4, outside 0..3.*in state 4, after .*climb"):
        violations_within(model, {}, (always(is_small),), 9, 10)
    assert found(replace(model, properties=(always(is_small),)), {}, 3) == {"is_small": None}


def test_a_replication_exhibit_at_the_recorded_depth():
    (model,) = find("replication", "truncate-to-hw")
    assert found(model, WIDE, 9, "weak_isr") == {"weak_isr": model.expectation(WIDE)["weak_isr"]}


def test_up_to_symmetry_it_is_as_long_and_ids_are_named_in_order():
    (model,) = find("replication", "truncate-to-hw")
    asked = tuple(p for p in model.properties if p.name == "weak_isr")
    (entry,) = violations_within(model, WIDE, asked, 9, 300, symmetric=True)["properties"]
    assert entry["trace_length"] == model.expectation(WIDE)["weak_isr"]
    named = [int(i) for step in entry["trace"] for i in re.findall(r"(?:leader|follower|replica)=(\d)", step)]
    assert list(dict.fromkeys(named)) == [0, 1, 2]


@pytest.mark.parametrize(
    "system, variant, scope, waits",
    [
        ("election", "fenced", election.scope(brokers=3), {2: 1}),
        ("async-isr", "shrunk-isr", async_isr.scope(brokers=3, versions=1), {2: 1}),
        ("replication", "kip320", WIDE, {1: 0, 2: 1}),
    ],
)
def test_only_ids_that_are_alike_at_the_start_wait_for_each_other(system, variant, scope, waits):
    (model,) = find(system, variant)
    relation = Relation(model, scope, frozenset(), 8, ())
    naming = naming_of(relation)
    assert set(naming.named) == {("brokers", former) for former in waits.values()}
    for (_, former), numbers in naming.needed.items():
        (latter,) = (b for b, before in waits.items() if before == former)
        assert numbers and all(latter in relation.actions[i].arguments for i in numbers)


@pytest.mark.parametrize("named, length", [([1, 2], 4), ([2], None)])
def test_a_step_that_waits_for_an_id_comes_after_a_step_that_names_it(named, length):
    model = toys.counter(6, failing=True)
    (prop,) = (p for p in model.properties if p.name == "below_four")
    relation = Relation(model, model.scope, frozenset(), 8, (prop,))
    by_amount = {action.arguments[0]: i for i, action in enumerate(relation.actions)}
    naming = Naming({("ids", 0): [by_amount[amount] for amount in named]}, {("ids", 0): [by_amount[2]]})
    trace = shortest(Unrolling(Encoding(relation, naming), 100), 4)["below_four"].trace
    assert (trace and trace.states) == length


def test_up_to_symmetry_a_model_without_interchangeable_ids_is_refused():
    (model,) = find("consumer", "orderly")
    with pytest.raises(UserError, match="no ids are declared interchangeable"):
        found(model, dict(model.scope), 2, symmetric=True)


@pytest.mark.parametrize(
    "system, variant, name, scope",
    [
        ("async-isr", "shrunk-isr", "valid_high_watermark", async_isr.scope()),
        ("replica", "shrunk-isr", "committed", replica.scope()),
        ("partition", "legacy", "no_stale_write", partition.scope()),
        ("requests", "legacy", "former_changes_nothing", requests.scope(epochs=1)),
        ("election", "zkclient", "own_epoch", election.scope()),
    ],
)
def test_exhibits_of_other_systems_fail_at_the_recorded_depth(system, variant, name, scope):
    (model,) = find(system, variant)
    recorded = model.expectation(scope)[name]
    assert found(model, scope, recorded, name) == {name: recorded}


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("variant", ["truncate-to-hw", "kip101", "kip320"])
def test_small_scopes_agree_with_the_explorer(variant, symmetric):
    (model,) = find("replication", variant)
    lengths = explore(model, SMALL).violated
    assert {n: length for n, length in found(model, SMALL, 8, symmetric=symmetric).items() if length} == {
        n: length for n, length in lengths.items() if length <= 8
    }


def test_without_work_nothing_is_decided():
    model = toys.counter(6, failing=True)
    result = violations_within(model, model.scope, model.properties, 5, 0)
    assert "not decided" in {e["verdict"] for e in result["properties"]}


def test_work_that_ends_on_the_way_says_how_far_it_came():
    (model,) = find("replication", "kip101")
    asked = tuple(p for p in model.properties if p.name == "strong_isr")
    result = violations_within(model, WIDE, asked, 12, 0.2)
    (entry,) = result["properties"]
    assert entry["verdict"] == "not decided" and 3 < int(re.search(r"\d+", entry["where"]).group()) < 11
    assert 0.2 <= result["work"] < 2


@pytest.mark.parametrize(
    "bits, values", [(Bits(range(3, 6), True), range(-4, 4)), (Bits(range(3, 6), False), range(8))]
)
def test_a_number_is_its_bits_with_a_sign_or_without(bits, values):
    for value in values:
        truths = [False] * 6
        for literal in bits.literals(value):
            truths[abs(literal)] = literal > 0
        term = z3.substitute(bits.term(7), *((truth_of(i), z3.BoolVal(truths[i])) for i in bits.numbers))
        assert bits.value(truths) == value == z3.simplify(z3.BV2Int(term, is_signed=True)).as_long()


def test_clauses_say_what_their_formula_says_under_any_numbers():
    one, two, own = truth_of(1), truth_of(2), z3.BitVec("own", 3)
    clauses = Clauses([one == (own * own == 4), z3.Implies(two, z3.And(own > 2, one))])
    with Cadical195() as solver:
        last = 10
        for shared in ([0, 7, 5], [0, 5, 9]):
            found, last = clauses.at(np.array(shared), last)
            solver.append_formula(found)
        answers = {asked: solver.solve(asked) for asked in ((7,), (-7,), (5,), (9,), (7, 5), (9, -5))}
    assert answers == {(7,): True, (-7,): True, (5,): False, (9,): False, (7, 5): False, (9, -5): False}


def test_the_result_is_plain_json_with_steps_as_text():
    model = toys.counter(6, failing=True)
    result = json.loads(json.dumps(violations_within(model, model.scope, model.properties, 5, 60)))
    (entry,) = [e for e in result["properties"] if e["verdict"] == "violated"]
    assert entry["trace"] == ["toys.add(amount=2)", "toys.add(amount=2)"] and entry["trace_length"] == 3
