"""What is compiled answers and writes what plain Python does; what cannot be compiled is told in one line."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from kafkaproof.checker.basics import cache
from kafkaproof.checker.compile import machine
from kafkaproof.checker.compile.compiler import Program, UnitError
from kafkaproof.checker.compile.layout import Generated
from kafkaproof.checker.compile.machine import Code
from kafkaproof.checker.compile.text import NUMBER
from kafkaproof.spec.language.domains import Number, Record
from kafkaproof.spec.language.rebind import rebind
from kafkaproof.spec.language.sets import contains, difference
from tests.checker.alone import Alone, OutOfRange, records
from tests.checker.constructs import FUNCTIONS, SCOPE, STATE
from tests.spec.declarations import states

ROOT = Path(__file__).parents[2]
ANY = some.integers(-4, 5)
KINDS = (STATE, NUMBER, NUMBER)
COMPILED = Alone(SCOPE, [(function, KINDS) for function in FUNCTIONS])


@pytest.mark.parametrize("which", range(len(FUNCTIONS)), ids=lambda which: FUNCTIONS[which].__name__)
@given(states(STATE, SCOPE), ANY, ANY)
def test_every_construct_means_what_it_means_in_python(which, state, a, b):
    after = records(STATE, SCOPE, [state])
    answer = FUNCTIONS[which](state, a, b)
    assert COMPILED.call(which, after, a, b) == int(answer or 0)
    assert after.tobytes() == records(STATE, SCOPE, [state]).tobytes()


def _combined(inner):
    return some.one_of(
        some.builds("({} {} {})".format, inner, some.sampled_from("+-*"), inner),
        some.builds("({} {} {})".format, inner, some.sampled_from(["&", "|", "^"]), inner),
        some.builds(
            "({} {} {} {} {})".format,
            inner,
            some.sampled_from(["<", "<=", "=="]),
            inner,
            some.sampled_from([">", ">=", "!="]),
            inner,
        ),
        some.builds(
            "({} {} {} {} {})".format,
            inner,
            some.sampled_from(["and", "or"]),
            inner,
            some.sampled_from(["and", "or"]),
            inner,
        ),
        some.builds("({} if {} else {})".format, inner, inner, inner),
        some.builds("{}({}, {})".format, some.sampled_from(["min", "max"]), inner, inner),
        some.builds("({}({}))".format, some.sampled_from(["abs", "not ", "-", "~"]), inner),
        some.builds("(1 << min(abs({}), 9))".format, inner),
        some.builds("({} >> min(abs({}), 9))".format, inner, inner),
    )


EXPRESSIONS = some.recursive(some.sampled_from(["a", "b", "0", "1", "-3", "True", "a", "b"]), _combined, max_leaves=8)


@settings(max_examples=150)
@given(some.lists(EXPRESSIONS, min_size=3, max_size=8))
def test_every_expression_is_worth_what_it_is_worth_in_python(expressions):
    texts = [f"def f(a, b):\n    return {expression}" for expression in expressions]
    compiled = Alone({}, [(Generated.of(text), (NUMBER, NUMBER)) for text in texts])
    for which, expression in enumerate(expressions):
        for a, b in ((0, 0), (1, -2), (-3, 2), (2, 1)):
            assert compiled.call(which, a, b) == int(eval(expression, {"a": a, "b": b})), expression


def squares(s, a):
    return a * a + (0 - 2 - a)


def test_a_number_without_room_in_64_bits_is_told():
    compiled, state = Alone(SCOPE, [(squares, (STATE, NUMBER))]), np.zeros(200, np.int32)
    assert [compiled(state, n) for n in (3, -4)] == [squares(None, n) for n in (3, -4)]
    with pytest.raises(OutOfRange, match="beyond 64 bits: .*test_compiler.py"):
        compiled(state, 2**62)


def test_numbers_of_64_bits_are_kept_and_fields_have_32():
    identity = Alone({}, [(Generated.of("def f(a):\n    return a"), (NUMBER,))])
    assert [identity(n) for n in (2**63 - 1, -(2**63), -1)] == [2**63 - 1, -(2**63), -1]
    wide = Record(x=(Number(-(2**31), 2**31 - 1), ""))
    copy = Alone({}, [(Generated.of("def f(s, t):\n    t.x = s.x\n    return t.x"), (wide, wide))])
    for value in (2**31 - 1, -(2**31)):
        one, other = np.full(1, value, np.int32), np.zeros(1, np.int32)
        assert copy(one, other) == value == other[0]


def test_a_number_without_room_in_a_field_becomes_the_nearest():
    record = Record(x=(Number(-9, 9), ""))
    store = Alone(
        {},
        [
            (Generated.of("def f(s, a):\n    s.x = a\n    return 0"), (record, NUMBER)),
            (Generated.of(f"def f(s):\n    s.x = {2**32 + 2}\n    return 0"), (record,)),
        ],
    )
    field = np.zeros(1, np.int32)
    for value, kept in ((2**32 + 2, 2**31 - 1), (-(2**40), -(2**31)), (-3, -3)):
        store.call(0, field, value)
        assert field[0] == kept
    store.call(1, field)
    assert field[0] == 2**31 - 1


def asks(members, x):
    return contains(members, x)


def test_a_rebound_copy_is_another_function_and_equal_copies_are_one():
    copies = [rebind(asks, {contains: difference}) for _ in range(2)]
    compiled = Alone({}, [(function, (NUMBER, NUMBER)) for function in (asks, *copies)])
    assert [compiled.call(which, 5, 1) for which in range(3)] == [0, 4, 4]
    program = Program({})
    assert len({program.lowered(copy, (NUMBER, NUMBER)).name for copy in copies}) == 1
    assert program.lowered(asks, (NUMBER, NUMBER)).name != program.lowered(copies[0], (NUMBER, NUMBER)).name


def left_of(pair):
    return pair.left


def left_of_both(s, t):
    return left_of(s.pair) * 10 + left_of(t)


def test_a_function_is_compiled_for_each_kind_of_record():
    other = Record(before=(Number(0, 9), ""), left=(Number(0, 9), ""))
    compiled = Alone(SCOPE, [(left_of_both, (STATE, other))])
    state, record = np.zeros(200, np.int32), np.array([7, 3], np.int32)
    assert compiled(state, record) == 3


def unguarded(s, at):
    return s.numbers[at]


def shifted(s, by):
    return (1 << by) + (8 >> by)


@pytest.mark.parametrize(
    ("function", "right", "wrong"), [(unguarded, (0, 2), (-4, -1, 3, 1 << 40)), (shifted, (0, 40, 62), (-1, 64))]
)
def test_compiled_code_tells_what_is_out_of_range_and_where(function, right, wrong):
    compiled, state = Alone(SCOPE, [(function, (STATE, NUMBER))]), np.zeros(200, np.int32)
    for value in right:
        compiled(state, value)
    for value in wrong:
        with pytest.raises(OutOfRange, match=r"^out of range: .*, tests/checker/test_compiler.py:\d+$"):
            compiled(state, value)


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("return s.nosuch", "there is no field nosuch: s.nosuch"),
        ("return a.x", "there is no field x: a.x"),
        ("return s[0]", "only arrays have elements: s[0]"),
        ("return s.numbers[s]", "a number is needed here: s"),
        ("return s + 1", "a number is needed here: s"),
        ("return s.pair == s.pairs[0]", "only numbers are compared"),
        ("if s.pair:\n        return 1", "a condition is a number: s.pair"),
        ("return nosuch", "nosuch is neither a function nor a number"),
        ("return nosuch(s)", "nosuch is not a function of the specification"),
        ("return len(a)", "only arrays have a length"),
        ("return max(s, 1)", "a number is needed here: s"),
        ("s.pair = s.pairs[0]", "only numbers are assigned to fields and elements"),
        ("s.pair = 3", "only numbers are assigned to fields and elements"),
        ("x = s.pair\n    x = 1", "x stands for things of different kinds"),
        ("return s.pair if a else 0", "this is a record in one case and something else in the other"),
        ("if a:\n        return s.pair\n    return 0", "it returns things of different kinds"),
        ("if a:\n        return s.pair", "it returns things of different kinds"),
        ("for x in range(1, 2, a):\n        pass", "the step of a range is a known number, not 0"),
        ("for x in range(0, 5, 0):\n        pass", "the step of a range is a known number, not 0"),
        ("for x in s.x:\n        pass", "only arrays and ranges are iterated"),
        ("return a / 2", "arithmetic is + - *"),
        ("return a in s.numbers", "comparisons are"),
        ("return other(s)", "it takes 2 arguments, not 1"),
        ("return [a]", "this cannot be compiled"),
        ("while a:\n        pass", "this cannot be compiled"),
    ],
)
def test_what_cannot_be_compiled_is_told_in_one_line(body, complaint):
    other = Generated.of("def other(s, a):\n    return 0")
    with pytest.raises(UnitError) as told:
        Program(SCOPE).export("f", Generated.of(f"def f(s, a):\n    {body}", other=other), (STATE, NUMBER))
    assert complaint in str(told.value) and "\n" not in str(told.value)


def wrong(s):
    return left_of(s.pair) + left_of(s.numbers)


def test_the_line_names_the_function_the_construct_and_the_place():
    with pytest.raises(UnitError) as told:
        Program(SCOPE).export("f", wrong, (STATE,))
    assert str(told.value).startswith("left_of cannot be compiled: there is no field left: pair.left, ")
    assert "test_compiler.py:" in str(told.value)


ANSWER = "define i64 @f() {\n  ret i64 %d\n}\n"


@pytest.fixture
def made(monkeypatch, tmp_path):
    """The texts that were compiled, with a cache of the test's own."""
    texts, compiled = [], machine.compiled
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(machine, "compiled", lambda text, speed: texts.append(text) or compiled(text, speed))
    return texts


def answered(n):
    """What the machine code of ``ANSWER`` for `n` answers."""
    code = Code(ANSWER % n, "f")
    return code.function("f", 0)()


def test_a_text_is_compiled_once_and_each_text_by_itself(made):
    assert [answered(n) for n in (1, 2, 1, 2)] == [1, 2, 1, 2]
    assert made == [ANSWER % 1, ANSWER % 2]


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-1],
        lambda content: content[:20],
        lambda content: content[:32],
        lambda content: content[:100] + b"x" + content[101:],
        lambda content: b"x" + content[1:],
    ],
)
def test_a_damaged_file_is_made_again(made, damage):
    answered(1)
    (path,) = cache.cache_directory().iterdir()
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert answered(1) == 1 and len(made) == 2
    assert path.read_bytes() == whole and list(cache.cache_directory().iterdir()) == [path]


def test_without_a_place_to_keep_it_code_is_made_each_time(made, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert [answered(1), answered(1)] == [1, 1] and len(made) == 2


def test_another_process_loads_what_is_there(made):
    assert answered(7) == 7
    code = "from tests.checker import test_compiler as t; t.machine.compiled = None; print(t.answered(7))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=os.environ, capture_output=True, text=True)
    assert done.stdout.strip() == "7", done.stderr


def test_processes_that_compile_the_same_at_once_do_no_harm(made):
    code = "from tests.checker import test_compiler as t; print(t.answered(8))"
    command = [sys.executable, "-c", code]
    processes = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate()[0].strip() for process in processes] == ["8"] * 3


def test_code_of_many_texts_lives_side_by_side(made):
    codes = [Code(ANSWER % n, "f") for n in range(20)]
    assert [code.function("f", 0)() for code in codes] == list(range(20))
