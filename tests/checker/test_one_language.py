"""Every way in asks for the same language, and what goes wrong at run time is told with its line, wherever it runs."""

from dataclasses import replace

import pytest

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.check.local import explore_here
from kafkaproof.checker.commands.main import main
from kafkaproof.checker.compile.kernel import Kernel
from kafkaproof.checker.explore.graph import state_graph
from kafkaproof.checker.explore.reference import explore
from kafkaproof.checker.model.execution import Execution, ExecutionError
from kafkaproof.checker.prove.bmc import violations_within
from kafkaproof.checker.prove.proof import prove
from kafkaproof.spec.language.domains import Array, Bound, Id, Number, Record, SetOf
from kafkaproof.spec.language.model import always, eventually
from kafkaproof.spec.language.sets import contains, with_member
from kafkaproof.spec.language.subset import RuleError
from tests import toys
from tests.spec.broken_rules import line_of

MODEL = replace(toys.clock(), others={"quick": {}})
WAYS = {
    "check": lambda model: explore_here(model, model.scope),
    "reference": lambda model: explore(model, model.scope),
    "plain": lambda model: Execution(model, model.scope),
    "kernel": lambda model: Kernel(model, model.scope, model.properties_at(model.scope)),
    "graph": lambda model: state_graph(model, model.scope, 100),
    "prove": lambda model: prove(model, model.scope, model.properties, (), 100.0),
    "depth": lambda model: violations_within(model, model.scope, model.properties, 3, 100.0),
}


def forgets_true(s):
    """A step.

    Guards:  none.
    """
    if s.time == 1:
        return False

    s.time = 1  # here


def refuses_late(s):
    """A step.

    Guards:  the clock shows 0, which it finds out too late.
    """
    s.time = 1
    if s.time == 1:
        return False  # here
    return True


def writes(s):
    s.time = 0  # here
    return True


def with_transition(function):
    return replace(MODEL, transitions=(replace(MODEL.transitions[0], function=function),), properties=())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("model", "function", "rule"),
    [
        (with_transition(forgets_true), forgets_true, "a function that returns a value returns one on every path"),
        (with_transition(refuses_late), refuses_late, "guards first"),
        (replace(MODEL, properties=(always(writes),)), writes, "a property writes nothing"),
    ],
    ids=["forgets_true", "refuses_late", "writes"],
)
def test_no_way_in_takes_another_language(way, model, function, rule):
    with pytest.raises(RuleError, match=rf"{rule}.*test_one_language.py:{line_of(function)}$"):
        WAYS[way](model)


NAMES = Record(
    numbers=(Array(Number(0, Bound("numbers")), "ids"), ""),
    owner=(Id("ids", nobody=True), ""),
    members=(SetOf("ids"), ""),
)


def leave(s, x: Id("ids")):
    """The owner becomes nobody.

    Guards:  it owns.
    """
    if s.owner != x:
        return False

    s.owner = -1
    return True


def owner_has_none(s):
    return s.numbers[s.owner] == 0  # here


def owner_is_no_member(s):
    return not contains(s.members, s.owner)  # here


def write_behind(s, x: Id("ids")):
    """Nobody's number grows.

    Guards:  nobody owns.
    """
    if s.owner != -1:
        return False

    s.numbers[s.owner] += 1  # here
    return True


def add_nobody(s):
    """Nobody becomes a member.

    Guards:  nobody owns.
    """
    if s.owner != -1:
        return False

    s.members = with_member(s.members, s.owner)  # here
    return True


def names(functions, predicates):
    transition = MODEL.transitions[0]
    return replace(
        MODEL,
        system="names",
        state=NAMES,
        initial=nothing,
        scope={"ids": 3, "numbers": 1},
        largest={"ids": 3, "numbers": 1},
        transitions=tuple(replace(transition, function=f) for f in functions),
        properties=tuple(map(always, predicates)),
    )


def nothing(s):
    pass


OUT_OF_RANGE = {
    owner_has_none: names([leave], [owner_has_none]),
    owner_is_no_member: names([leave], [owner_is_no_member]),
    write_behind: names([leave, write_behind], []),
    add_nobody: names([leave, add_nobody], []),
}


@pytest.mark.parametrize(("function", "model"), OUT_OF_RANGE.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_what_is_out_of_range_is_told_with_its_line(function, model, monkeypatch):
    place = rf"test_one_language.py:{line_of(function)}"
    with pytest.raises(ExecutionError, match=place):
        explore(model, model.scope)
    with pytest.raises(UserError, match=place):
        explore_here(model, model.scope)


def test_a_condition_of_liveness_is_asked_within_range_too():
    model = names([leave], [])
    model = replace(model, properties=(eventually(owner_has_none, given=()),))
    with pytest.raises(UserError, match=rf"test_one_language.py:{line_of(owner_has_none)}"):
        explore_here(model, model.scope)


def starts_behind(s):
    s.numbers[s.owner - 1] = 0  # here


def test_an_initial_state_is_made_within_range_too():
    model = replace(names([leave], []), initial=starts_behind)
    for way in ("check", "reference", "plain"):
        with pytest.raises(UserError, match=rf"test_one_language.py:{line_of(starts_behind)}"):
            Execution(model, model.scope).initial_states() if way == "plain" else WAYS[way](model)


def test_a_property_of_ones_own_that_writes_is_refused_by_check_and_prove(tmp_path, capsys):
    file = tmp_path / "mine.py"
    file.write_text("def quiet(s):\n    s.zk.epoch = 0\n    return True\n")
    for command in ("check", "prove"):
        assert (
            main([command, "election", "--variant", "fenced", "--scope", "quick", "--property", f"{file}:quiet"]) == 2
        )
        assert "a property writes nothing: s.zk.epoch" in capsys.readouterr().err
