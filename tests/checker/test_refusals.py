"""The guard that refuses a step: where it is, what holds, and the values that it reads."""

from itertools import islice

import pytest

from kafkaproof.checker.model.execution import Execution
from kafkaproof.checker.model.refusals import Refusal, refusal_of, told
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.language.combine import then
from kafkaproof.spec.language.domains import Choice, Flag, Record
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


def test_a_step_that_is_possible_is_not_refused():
    assert refused(write, doing=WRITING) is None


def test_the_same_guard_in_several_states_is_told_once():
    places = [Refusal("a.py:1", "x != A", {"x": name}) for name in ("B", "C", "B")]
    assert told(places) == "a.py:1 refuses: x != A (x is B or C)"


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
