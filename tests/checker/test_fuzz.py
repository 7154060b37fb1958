"""Every program of the language means the same in plain Python, compiled, under z3 and in bounded model checking."""

import ast
from collections import Counter

import pytest

from kafkaproof.checker.compile import expressions as compiler_expressions
from kafkaproof.checker.compile import packing
from kafkaproof.checker.prove import bmc, encoding, expressions, loops
from tests.checker.fuzz.four import differences
from tests.checker.fuzz.fuzzing import Different, batches, fuzz
from tests.checker.fuzz.programs import DOCSTRING, HEAD, TAIL, Program

TEXT = (
    HEAD
    + """\
SCOPE = {{"ids": 2, "few": 1, "room": 1}}
STATE = Record(
    x=(Number(-1, 3), ""), up=(Number(0, Bound("room")), ""), slots=(Array(Number(0, 2), Bound("room")), ""),
    own=(Id("ids", nobody=True), ""), each=(Array(Number(0, 3), "ids"), ""), members=(SetOf("ids"), ""),
    few=(SetOf("few"), ""), kept=(Array(SetOf("few"), Bound("room")), ""),
)


def t0(s, a: Id("ids")):
{docstring}
{step}
    return True


def p0(s):
{asked}


def g(s):
    return s.x == 2


def q(before, after):
    return before.x != after.x + 3


def initial(s):
{initial}


"""
    + TAIL.format(transitions="t0", properties="always(p0), sometimes(g), always_step(q)")
)
GROW = "    if s.x >= 3:\n        return False\n    s.x += 1"
BY_HAND = {
    "a negative index": (GROW, "    return s.each[s.x - 1] == 0", "    s.x = 0"),
    "an index of nobody": ("    s.each[s.own] = 1\n    s.own = a", "    return s.x == 0", "    s.own = NOBODY"),
    "an index beyond, in a property": (GROW, "    return s.each[s.x] == 0", "    s.x = 0"),
    "an index beyond, in the initial state": (GROW, "    return s.x < 9", "    s.each[s.x + 2] = 1"),
    "an index beyond what a bound sizes": (GROW, "    return s.slots[2] == 0", "    s.x = 0"),
    "a set is asked for nobody": (
        "    if contains(s.members, NOBODY):\n        s.x = 1",
        "    return s.x == 0",
        "    s.x = 0",
    ),
    "nobody in a set": ("    s.members = with_member(s.members, s.own)", "    return s.x == 0", "    s.own = NOBODY"),
    "an id of another sort": ("    s.few = with_member(s.few, s.x + 1)", "    return s.x == 0", "    s.x = 0"),
    "an id of another sort, in what a bound sizes": (
        "    s.kept[0] = with_member(s.kept[0], max(s.x, 0))\n    s.x += 1",
        "    return s.x == 0",
        "    s.x = 0",
    ),
    "a literal of another sort": ("    s.few = only(1)", "    return s.x == 0", "    s.x = 0"),
    "everybody, and one more": (
        "    s.few = everybody(max(s.x, 0))\n    s.x += 1",
        "    return s.x < 3",
        "    s.x = 0",
    ),
    "a set of other ids is read": (GROW, "    return union(only(s.x + 1), 0) != 0", "    s.x = 0"),
    "all but the last": (
        "    s.each[a] = 1",
        "    for i in range(len(s.each) - 1):\n        if s.each[i] > 0:\n            return False\n    return True",
        "    s.x = 0",
    ),
    "only the last": (
        "    s.each[1] = 1",
        "    for i in range(len(s.each) - 1):\n        if s.each[i] > 0:\n"
        "            return False\n    return s.each[1] == 0",
        "    s.x = 0",
    ),
    "large numbers": (GROW, "    return s.x * s.x * 1000 * 1000 < 4000000", "    s.x = 0"),
    "both ends of a range": (
        GROW,
        "    total = 0\n    for i in range(s.x, 3):\n        total += i\n    return total != 2",
        "    s.x = 0",
    ),
    "beyond a bound and out of range": ("    s.x = s.x + 9\n    s.up = 2", "    return s.x < 9", "    s.x = 0"),
    "an element that a turn before has written": (
        "    s.each[0] = 2\n    for value in s.each:\n        s.each[1] = value",
        "    return s.each[1] == 0",
        "    s.x = 0",
    ),
    "beyond 32 bits": ("    s.x = 65536 * 65536 + 2", "    return s.x < 2", "    s.x = 0"),
    "an initial state beyond a bound": (GROW, "    return s.x < 9", "    s.up = 2"),
}
FEW, MANY, RUNS = 15, 10_000, 20


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    """Compiled programs are kept nowhere."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_programs_mean_the_same_everywhere():
    counts = fuzz(FEW, 1)
    assert counts["programs"] >= FEW
    for reading in ("compiled alone", "compiled", "merged", "merged without bounds", "bounded", "proved"):
        assert counts[reading] > FEW / 2, reading


@pytest.mark.parametrize("name", BY_HAND)
def test_what_engines_read_differently_once(name):
    step, asked, initial = BY_HAND[name]
    counts = Counter()
    assert differences(Program(TEXT.format(docstring=DOCSTRING, step=step, asked=asked, initial=initial)), counts) == []
    assert counts["proved"] == 1 and not counts["not of the language"]


@pytest.mark.thorough
def test_many_programs_mean_the_same_everywhere():
    counted, different = 0, []
    for found in batches(MANY, 1, 2):
        if isinstance(found, str):
            different.append(found)
        else:
            counted += found["programs"]
    assert different == [] and counted >= MANY


def less(monkeypatch):
    """A compiler that reads < as <=."""
    monkeypatch.setitem(compiler_expressions.COMPARISONS, ast.Lt, "sle")


def at_most(monkeypatch):
    """A prover that reads <= as <."""
    monkeypatch.setitem(expressions.COMPARISONS, ast.LtE, lambda a, b: a < b)


def unobliged(monkeypatch):
    """A prover that does not ask whether an index is in range."""
    monkeypatch.setattr(expressions.Expressions, "_oblige", lambda *arguments: None)


def narrow(monkeypatch):
    """Bounded model checking whose numbers wrap."""
    needed = bmc.bits_needed
    monkeypatch.setattr(bmc, "bits_needed", lambda *asked: max(3, needed(*asked) - 1))


def uncut(monkeypatch):
    """A kernel that takes what is beyond a bound for what is out of range."""
    source = packing.Packing.range_source
    monkeypatch.setattr(packing.Packing, "range_source", lambda self: source(self).replace("return 1\n", "return -1\n"))


def too_short(monkeypatch):
    """A prover whose loops end one turn too early."""
    extreme = loops.Loops._extreme
    monkeypatch.setattr(loops.Loops, "_extreme", _shortened(extreme))


def _shortened(extreme):
    return lambda self, end, which, *rest: extreme(self, end, which, *rest) - which


def unwatchful(monkeypatch):
    """Bounded model checking that goes around what is out of range."""
    monkeypatch.setattr(encoding.Encoding, "_owed", lambda self: ())


PLANTED = less, at_most, unobliged, narrow, uncut, too_short, unwatchful


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.__name__)
def test_an_engine_that_is_wrong_is_noticed(planted, monkeypatch):
    planted(monkeypatch)
    with pytest.raises(Different):
        for number in range(1, RUNS):
            fuzz(FEW, number, shrink=False)
