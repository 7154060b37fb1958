"""What samples say of literals is what plain Python says, and lemmas printed say what their clauses say."""

import random
from collections import Counter
from functools import cache

import numpy as np
import pytest

from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.prove.candidates import Clause
from kafkaproof.checker.prove.printed import lemmas
from kafkaproof.checker.prove.sampler import Sampler
from kafkaproof.checker.prove.samples import Block, Predicates, bindings, told
from kafkaproof.checker.prove.vocabulary import Vocabulary
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.election.broker_state import Doing
from kafkaproof.spec.kafka.zookeeper import ABSENT
from kafkaproof.spec.language.text import function_from

SCOPE = {"brokers": 2, "receivers": 2, "epochs": 3, "faults": 3}
CODES = Doing.names
AWAKE = ("session_open(s.zk, {})", "s.zk.clients[{}].registered == ABSENT")


@cache
def sampled(most=400):
    """A vocabulary, states in columns, and the same states in plain Python."""
    (model,) = find("election", "fenced")
    vocabulary, sampler = Vocabulary(model), Sampler(model, SCOPE)
    words = sampler.states(sampler.initial, most, 16)
    execution = Execution(model, SCOPE)
    states = [execution.from_values(sampler.kernel.packing.unpack(row)) for row in words]
    return vocabulary, Block(vocabulary, sampler, Predicates(vocabulary, sampler), words), states


def test_samples_are_distinct_reachable_states_as_many_as_asked():
    (model,) = find("election", "fenced")
    sampler, execution = Sampler(model, SCOPE), Execution(model, SCOPE)
    words = sampler.states(sampler.initial, 500)
    assert len({row.tobytes() for row in words}) == len(words) == 500
    seen = {execution.key(state) for state in execution.initial_states()}
    for row in words:
        state = execution.from_values(sampler.kernel.packing.unpack(row))
        assert execution.key(state) in seen
        seen |= {execution.key(after) for _, _, after in execution.successors(state, Counter())}


def test_every_literal_holds_in_columns_where_it_holds_in_plain_python():
    vocabulary, block, states = sampled()
    compared = 0
    for literal in vocabulary.literals:
        for at in bindings(vocabulary, SCOPE, literal.names):
            wanted = [told(vocabulary, literal, state, at) for state in states]
            if all(isinstance(value, bool) for value in wanted):
                shown = np.unpackbits(block.showing([literal.text], at))
                opposite = np.unpackbits(block.showing([literal.negated], at))
                assert shown.tolist() == wanted, literal.text
                assert opposite.tolist() == [not value for value in wanted], literal.negated
                compared += 1
    assert compared > 1700


def test_what_some_literals_show_together_is_one_state():
    vocabulary, block, states = sampled()
    shown = block.showing([text.format("a") for text in AWAKE], {"a": 1})
    (at,) = np.flatnonzero(np.unpackbits(shown))[:1]
    assert states[at].zk.clients[1].session == 1 and states[at].zk.clients[1].registered == ABSENT


def doing(code, ab="a"):
    return f"s.brokers[{ab}].doing == {code}"


@pytest.mark.parametrize(
    "clauses, number, text",
    [
        ([(doing(code), "s.brokers[a].active == 1") for code in ("CREATING", "CONFIRMING")], 1, "and"),
        (
            [(doing(code), "s.brokers[a].active == 1") for code in CODES if code not in ("IDLE", "DYING")],
            1,
            "doing == DYING",
        ),
        ([(doing("CREATING"), doing("CREATING", "b")), (doing("LOADING"), doing("LOADING", "b"))], 2, "a == b"),
        ([(doing("CREATING"), doing("CLEANING", "b")), (doing("CREATING", "b"), doing("LOADING"))], 1, "a == b"),
        ([("s.brokers[a].active == 1", "s.zk.epoch == -1")], 1, "return not s.brokers[a].active or s.zk.epoch != -1"),
        ([("s.zk.epoch == -1", "s.zk.controller != NOBODY"), (doing("MOVING"), "s.zk.epoch == 0")], 2, "s.zk.epoch"),
    ],
    ids=["two codes", "all codes but two", "two clauses", "ids exchanged", "a flag", "numbers"],
)
def test_a_printed_lemma_says_what_its_clauses_say(clauses, number, text):
    vocabulary, _, _ = sampled()
    told = lemmas([Clause(literals) for literals in clauses], vocabulary, 1)
    assert len(told) == number and any(text in function for function in told.values())
    functions = [function_from(name, function, vocabulary.namespace) for name, function in told.items()]
    chance, execution, found = random.Random(1), Execution(find("election", "fenced")[0], SCOPE), set()
    for _ in range(3000):
        state = execution.from_values(chance.randint(leaf.low, leaf.high) for leaf in execution.leaves)
        pairs = [{"a": a, "b": 1 - a} for a in range(2)]
        said = all(f(state, *(at[n] for n in f.__annotations__)) for f in functions for at in pairs)
        found.add(said)
        assert said == all(
            not all(eval(l, dict(vocabulary.namespace), {"s": state, **at}) for l in literals)
            for literals in clauses
            for at in pairs
        )
    assert found == {True, False}


@pytest.mark.parametrize("system, variant", [("election", "fenced"), ("group", "current"), ("requests", "current")])
def test_ids_exchanged_twice_are_as_before(system, variant):
    vocabulary = Vocabulary(find(system, variant)[0])
    exchanged = {text: vocabulary.swapped(text) for text in vocabulary.texts}
    assert all(exchanged[other] == text for text, other in exchanged.items())
    assert any(text != other for text, other in exchanged.items())


def test_a_predicate_of_another_kind_of_record_is_left_out():
    (model,) = find("partition", "reassigning")
    vocabulary, sampler = Vocabulary(model), Sampler(model, model.scope)
    asked = {text for text, *_ in Predicates(vocabulary, sampler).numbers}
    assert any(text.startswith("session_open") for text in asked)
    assert not any(text.startswith("is_listed") for text in asked)
