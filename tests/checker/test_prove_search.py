"""The search for lemmas: what a proof lacks is found, can be pasted, and is nothing where a mistake makes it false."""

import pytest

from kafkaproof.checker.prove.proof import NOT_INDUCTIVE, PROVED
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.language.domains import NOBODY, Array, Bound, Flag, Id, Number, Record
from kafkaproof.spec.language.model import always
from kafkaproof.spec.language.text import function_from
from tests.checker.proving import model_of, verdicts

Holder = Id("brokers")
LOCK = Record(
    owner=(Id("brokers", nobody=True), "who owns the lock"),
    brokers=(Array(Record(holds=(Flag(), "believes that it holds it")), "brokers"), "what each believes"),
)


def nobody_owns(s):
    """Nobody owns it."""
    s.owner = NOBODY


def take(s, b: Holder):
    if s.owner != NOBODY:
        return False
    s.owner = b
    s.brokers[b].holds = 1
    return True


def release(s, b: Holder):
    if s.brokers[b].holds == 0:
        return False
    s.owner = NOBODY
    s.brokers[b].holds = 0
    return True


def one_holder(s):
    """No two hold it."""
    holders = 0
    for broker in s.brokers:
        holders += broker.holds
    return holders <= 1


def test_a_missing_lemma_is_found_and_can_be_pasted():
    model = model_of(LOCK, (take, release), (always(one_holder),), nobody_owns)
    without, _ = verdicts(model, {"brokers": 3, "steps": 1})
    assert without["one_holder"] == NOT_INDUCTIVE
    found, proof = verdicts(model, {"brokers": 3, "steps": 1}, searching=60.0)
    assert found["one_holder"] == PROVED and 1 <= len(proof.found) <= 2
    pasted = {"NOBODY": NOBODY, "Holder": Holder}
    functions = [function_from(name, text, pasted) for name, text in proof.found.items()]
    again, _ = verdicts(model, {"brokers": 3, "steps": 1}, lemmas=tuple(functions))
    assert again["one_holder"] == PROVED


SEEN = Record(
    **{name: (field.domain, field.meaning) for name, field in LOCK.fields.items()},
    seen=(Id("brokers"), "who owned it when a holder looked"),
)


def look(s, b: Holder):
    if s.brokers[b].holds == 0:
        return False
    s.seen = s.owner
    return True


def holding_is_a_flag(s):
    """Needs nothing: what is missing, a declared range needs."""
    for broker in s.brokers:
        if broker.holds > 1:
            return False
    return True


def test_a_lemma_that_only_a_declared_range_needs_is_found_and_kept():
    model = model_of(SEEN, (take, release, look), (always(holding_is_a_flag),), nobody_owns)
    without, _ = verdicts(model, {"brokers": 3, "steps": 1})
    found, proof = verdicts(model, {"brokers": 3, "steps": 1}, searching=60.0)
    assert without["declared ranges"] == NOT_INDUCTIVE
    assert set(found.values()) == {PROVED} and len(proof.found) == 1


OFFICE = Record(
    owner=(Id("brokers", nobody=True), "who was elected last, until it leaves"),
    term=(Number(0, Bound("steps")), "terms so far"),
    brokers=(
        Array(
            Record(
                working=(Flag(), "has begun its term"), term=(Number(0, Bound("steps")), "the term that it has begun")
            ),
            "brokers",
        ),
        "each broker",
    ),
    stale=(Flag(), "somebody has worked in a term that was over"),
)


def nobody_is_elected(s):
    """Nobody."""
    s.owner = NOBODY


def elect(s, b: Id("brokers")):
    if s.owner != NOBODY:
        return False
    s.owner = b
    s.term += 1
    s.brokers[b].working = 0
    return True


def begin_term(s, b: Id("brokers")):
    if s.owner != b:
        return False
    s.brokers[b].working = 1
    s.brokers[b].term = s.term
    return True


def do_work(s, b: Id("brokers")):
    if s.owner != b or s.brokers[b].working == 0:
        return False
    if s.brokers[b].term != s.term:
        s.stale = 1
    return True


def leave(s, b: Id("brokers")):
    if s.owner != b:
        return False
    s.owner = NOBODY
    return True


def elect_at_work(s, b: Id("brokers")):
    """As `elect`, without an end of what the broker did before."""
    if s.owner != NOBODY:
        return False
    s.owner = b
    s.term += 1
    return True


def never_stale(s):
    """Nobody works in a term that is over."""
    return s.stale == 0


@pytest.mark.parametrize("first, verdict", [(elect, PROVED), (elect_at_work, NOT_INDUCTIVE)])
def test_a_lemma_of_three_literals_is_found_unless_a_mistake_makes_it_false(first, verdict):
    functions = (first, begin_term, do_work, leave)
    model = model_of(OFFICE, functions, (always(never_stale),), nobody_is_elected)
    without, _ = verdicts(model)
    found, proof = verdicts(model, searching=100.0)
    assert without["never_stale"] == NOT_INDUCTIVE and found["never_stale"] == verdict
    assert any(text.count(" or ") == 2 for text in proof.found.values()) == (verdict == PROVED)


@pytest.mark.parametrize("only", ["epoch_bound", None], ids=["one property", "all properties"])
def test_the_election_is_proved_without_a_lemma_written_by_hand(only):
    (model,) = find("election", "fenced")
    without, _ = verdicts(model, only=only)
    found, proof = verdicts(model, most=3000.0, only=only, searching=1500.0)
    assert NOT_INDUCTIVE in without.values()
    assert set(found.values()) == {PROVED} and proof.found
