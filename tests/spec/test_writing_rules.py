"""Every model keeps the writing rules, and each rule for all functions refuses a function that breaks it."""

import math
import textwrap

import numpy as np
import pytest

from kafkaproof.spec.catalogue import SYSTEMS, all_models, find
from kafkaproof.spec.language.accepted import check_text, require_predicate
from kafkaproof.spec.language.kinds import Part, kind_of
from kafkaproof.spec.language.model import Transition
from kafkaproof.spec.language.rules import RuleError, check_model
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.language.subset import place_in
from kafkaproof.spec.proofs import PROOFS
from tests import toys
from tests.spec.broken_rules import broken, line_of

ONE = 1
HALF = 0.5
TOYS = [toys.clock(), toys.graph([(0, 1)], [0]), toys.counter(3), toys.queue(failing=True)]


@pytest.mark.parametrize("model", [*all_models(), *TOYS], ids=lambda m: f"{m.system}-{m.variant}")
def test_every_model_keeps_the_rules(model):
    check_model(model)


@pytest.mark.parametrize("name", PROOFS, ids="/".join)
def test_every_lemma_keeps_the_language(name):
    (model,) = find(*name)
    for lemma in PROOFS[name].lemmas:
        domains = Transition(lemma).declared.values()
        require_predicate(lemma, (Part(model.state, "s"), *map(kind_of, domains)))


def test_a_place_is_told_from_where_people_are(tmp_path, monkeypatch):
    """The whole path where the file is elsewhere, and where the directory that they are in is gone."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    assert place_in(str(gone / "model.py"), 3) == "model.py:3"
    assert place_in("/elsewhere/model.py", 3) == "/elsewhere/model.py:3"
    gone.rmdir()
    assert place_in("/elsewhere/model.py", 3) == "/elsewhere/model.py:3"


@pytest.mark.parametrize("system", [system for system in SYSTEMS if system != "group"])
def test_every_goal_is_asked_at_a_recorded_scope(system):
    """Of groups some are reached only at scopes that are explored by hand."""
    models = [model for model in all_models() if model.system == system]
    goals = {p.name for model in models for p in model.properties if p.kind == "sometimes"}
    asked = {
        p.name
        for model in models
        for scope in model.expected
        for p in model.properties_at(scope)
        if p.kind == "sometimes"
    }
    assert asked == goals


def loops_while(s):
    while s.x > 0:  # here
        s.x -= 1


def leaves_a_loop(s):
    for i in range(3):
        if s.x == i:
            break  # here


def goes_on(s):
    for i in range(3):
        if s.x == i:
            continue  # here


def tries(s):
    try:  # here
        s.x = 1
    finally:
        s.x = 0


def raises(s):
    raise ValueError  # here


def opens(s):
    with s.x:  # here
        s.x = 1


def defines_a_lambda(s):
    s.x = lambda: 1  # here


def defines_a_function(s):
    def inner():  # here
        return 1

    return inner()


def defines_a_class(s):
    class Inner:  # here
        pass


def yields(s):
    yield s.x  # here


async def awaits(s):  # here
    await s.x


def imports(s):
    import math  # here


def uses_global(s):
    global HALF  # here
    return True


def asserts(s):
    assert s.x  # here


def comprehends(s):
    return len([i for i in range(3)]) == s.x  # here


def makes_a_dict(s):
    return {} == s.x  # here


def makes_a_tuple(s):
    a, b = s.x  # here
    return a == b


def slices(s):
    return len(s.x[1:])  # here


def formats(s):
    return f"{s.x}" == s.x  # here


def compares_text(s):
    return s.x == "text"  # here


def compares_none(s):
    return s.x is None  # here


def names_its_argument(s):
    return contains(s.x, x=1)  # here


def spreads(s):
    return contains(*s.x)  # here


def assigns_in_passing(s):
    return (y := s.x) == 1  # here


def divides(s):
    return s.x / 2  # here


def shifts(s):
    return s.x << 1  # here


def inverts(s):
    return ~s.x  # here


def adds_bits(s):
    s.x |= 1  # here


def iterates_over_a_local(s):
    x = s.x
    for y in x:  # here
        y.z = 1


def has_an_else(s):
    for i in range(3):  # here
        s.x = i
    else:
        s.x = 0


def calls_a_method(s):
    s.x.append(1)  # here


def calls_a_library(s):
    return textwrap.dedent(s.x)  # here


def calls_an_argument(s, f):
    return f(s)  # here


def calls_another_builtin(s):
    return sum(s.x)  # here


def uses_a_float(s):
    return s.x < HALF  # here


def passes_a_function(s):
    return contains(s.x, ONE) == contains  # here


def calls_itself(s):
    return calls_itself(s)  # here


def has_a_default(s, x=1):  # here
    return s.x == x


def takes_any(s, *x):  # here
    return True


@pytest.mark.parametrize(
    "function, rule",
    [
        (loops_while, "no while"),
        (leaves_a_loop, "no break"),
        (goes_on, "no continue"),
        (tries, "no try"),
        (raises, "no raise"),
        (opens, "no with"),
        (defines_a_lambda, "no lambda"),
        (defines_a_function, "no function def"),
        (defines_a_class, "no class def"),
        (yields, "no yield"),
        (awaits, "plain functions only"),
        (imports, "no import"),
        (uses_global, "no global"),
        (asserts, "no assert"),
        (comprehends, "no list comp"),
        (makes_a_dict, "no dict"),
        (makes_a_tuple, "no tuple"),
        (slices, "no slice"),
        (formats, "no joined str"),
        (compares_text, "constants are ints, True or False"),
        (compares_none, "comparisons are == != < <= > >="),
        (names_its_argument, "no keyword"),
        (spreads, "no starred"),
        (assigns_in_passing, "no named expr"),
        (divides, "arithmetic is + - *"),
        (shifts, "bit operators only in the sets module"),
        (inverts, "bit operators only in the sets module"),
        (adds_bits, "bit operators only in the sets module"),
        (iterates_over_a_local, "loops only over range(...) or a declared array"),
        (has_an_else, "loops only over range(...) or a declared array"),
        (calls_a_method, "calls only to functions of the specification"),
        (calls_a_library, "calls only to functions of the specification"),
        (calls_an_argument, "calls only to functions of the specification"),
        (calls_another_builtin, "calls only to functions of the specification"),
        (uses_a_float, "globals are functions or ints"),
        (passes_a_function, "globals are functions or ints"),
        (calls_itself, "no recursion"),
        (has_a_default, "parameters are plain names, without defaults, stars or decorators"),
        (takes_any, "parameters are plain names, without defaults, stars or decorators"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_no_function_does_this(function, rule):
    broken(check_text, function, rule)


def calls_divides(s):
    return divides(s)


def test_what_a_function_calls_keeps_the_rules_too():
    with pytest.raises(RuleError, match=rf"s\.x / 2, .*test_writing_rules\.py:{line_of(divides)}$"):
        check_text(calls_divides)


def test_a_closure_is_refused():
    limit = 3

    def below(s):  # here
        return s.x < limit

    broken(check_text, below, "globals are functions or ints, no closures")


def test_library_functions_are_refused_wherever_they_come_from():
    for library in (np.clip, textwrap.dedent, math.floor):
        names = {"library": library, "__builtins__": {}}
        function = type(calls_divides)(calls_library.__code__, names)
        with pytest.raises(RuleError, match="calls only"):
            check_text(function)


def calls_library(s):
    return library(s)  # noqa: F821
