"""The guard that refuses a step: where it is, what holds, and the values that it reads."""

from itertools import islice

import pytest

from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.model.refusals import Refusal, guards_by_choice, refusal_of, told
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.language.combine import then
from kafkaproof.spec.language.domains import Array, Choice, Flag, Record
from kafkaproof.spec.language.plain import new_state

STATE = Record(doing=(Choice("IDLE", "WRITING"), "what goes on"), written=(Flag(), "whether it is written"))
IDLE, WRITING = 0, 1


def at_work(s):
    return s.doing == WRITING


def write(s):
    if not at_work(s) or s.written:
        return False
    s.written = 1
    return True


def note(s):
    s.doing = IDLE


def refused(function, **fields):
    s = new_state(STATE, {})
    for name, value in fields.items():
        setattr(s, name, value)
    return refusal_of(function, STATE, s)


@pytest.mark.parametrize("function", [write, then(write, note)], ids=["alone", "within a composed step"])
def test_of_a_guard_only_what_holds_is_told(function):
    found = refused(function)
    assert (found.guard, found.values) == ("not at_work(s)", {"s.doing": "IDLE"})
    assert found.place.endswith(f"tests/checker/test_refusals.py:{write.__code__.co_firstlineno + 1}")
    assert refused(function, doing=WRITING, written=1).guard == "s.written"
    assert refused(function, written=1).guard == "not at_work(s) or s.written"


def write_unless_known(s):
    if write(s):
        return False
    s.written = 0
    return True


def test_what_a_guard_writes_is_not_among_what_it_reads():
    found = refused(write_unless_known, doing=WRITING)
    assert (found.guard, found.values) == ("write(s)", {"s.written": 1})


def test_an_element_of_an_array_is_read_without_a_word_of_how():
    declared = Record(clients=(Array(STATE, "clients"), "clients"))

    def begin(s, c):
        if s.clients[c].doing != WRITING:
            return False
        return True

    found = refusal_of(begin, declared, new_state(declared, {"clients": 2}), 1)
    assert found.values == {"s.clients[c].doing": "IDLE", "c": 1}


def test_a_step_that_is_possible_is_not_refused():
    assert refused(write, doing=WRITING) is None


def test_the_same_guard_in_several_states_is_told_once():
    places = [Refusal("a.py:1", "x != A", {"x": name}) for name in ("B", "C", "B")]
    assert told(places) == "a.py:1 refuses: x != A (x is B or C)"


def chosen(read):
    """All choices of two brokers and three answers, each refused by one of two guards, or none."""
    return [({"b": b, "answer": answer}, read(b, answer)) for b in range(2) for answer in range(3)]


def test_values_that_differ_are_told_of_each_choice_and_arguments_that_do_not_matter_are_not():
    told = guards_by_choice(chosen(lambda b, _: Refusal("a.py:1", "x[b] != A", {"x[b]": "BC"[b], "b": b})))
    assert told == ["a.py:1 refuses: x[b] != A (x[b] is B) with b=0", "a.py:1 refuses: x[b] != A (x[b] is C) with b=1"]
    every = guards_by_choice(chosen(lambda b, _: Refusal("a.py:1", "x", {"x": 1})))
    assert every == ["a.py:1 refuses: x (x is 1)"]


def test_the_guard_that_a_step_gets_to_last_comes_first():
    def read(b, answer):
        return Refusal("a.py:1", "x", {}) if b else Refusal("a.py:20", "y", {}) if answer else None

    assert guards_by_choice(chosen(read)) == [
        "a.py:20 refuses: y with b=0, answer=1 or 2",
        "a.py:1 refuses: x with b=1",
    ]
    odd = guards_by_choice(chosen(lambda b, answer: Refusal("a.py:1", "x", {}) if b != answer else None))
    assert odd == ["a.py:1 refuses: x with (b=0, answer=1) or (b=0, answer=2) or (b=1, answer=0) and 1 more"]


def test_of_many_values_the_first_are_told():
    many = [({"b": b}, Refusal("a.py:1", "x[b]", {"x[b]": b})) for b in range(9)]
    assert len(guards_by_choice(many)) == 4
    assert guards_by_choice(many)[-1] == "a.py:1 refuses: x[b], with other values for other choices, too"


@pytest.mark.parametrize("system, variant", [("election", "legacy"), ("partition", "fenced"), ("topics", "kip455")])
def test_what_is_refused_is_what_is_not_possible(system, variant):
    model = find(system, variant)[0]
    execution = Execution(model, dict(model.scope))
    states = execution.initial_states()
    for s in islice(states, 8):
        for transition in model.transitions:
            for arguments in islice(transition.choices(execution.scope), 2):
                after = execution.after(s, transition, arguments)
                why = execution.refusal(s, transition, arguments)
                assert (after is None) == (why is not None), transition.name
                assert why is None or why.guard and why.place.startswith("spec/")
                states += [after] if after is not None and len(states) < 8 else []
