import inspect
import sys
from dis import get_instructions
from types import FunctionType

import kafkaproof.spec.catalogue  # noqa: F401 - so that all of the specification is there
from kafkaproof.spec.language.rebind import globals_used, rebind

LIMIT = 3


def inner(x):
    return x < LIMIT


def middle(x):
    return inner(x)


def outer(s, x: int):
    """The outer function."""
    return middle(x) and inner(x + 1)


def always_true(x):
    return True


def follower(s):
    return s.leader


def leader(s):
    return s.follower


def test_a_callee_is_replaced_however_deep():
    changed = rebind(outer, {inner: always_true})
    assert changed(None, 99) and not outer(None, 99)


def test_a_replaced_callee_takes_its_own_callees_along():
    assert rebind(outer, {middle: always_true})(None, 99) is False
    assert rebind(outer, {middle: always_true, inner: always_true})(None, 99) is True


def test_a_function_itself_is_replaced():
    assert rebind(inner, {inner: always_true}) is always_true


def test_a_function_that_does_not_change_is_the_same_object():
    assert rebind(outer, {always_true: inner}) is outer


def test_a_copy_reads_like_its_original():
    copy = rebind(outer, {inner: always_true})
    assert copy is not outer
    assert (copy.__name__, copy.__module__, copy.__doc__) == ("outer", __name__, outer.__doc__)
    assert copy.__annotations__ == outer.__annotations__
    assert inspect.getsource(copy) == inspect.getsource(outer)


def test_a_copy_is_rebound_again():
    once = rebind(outer, {inner: always_true})
    assert rebind(once, {always_true: inner})(None, 99) is False


def test_the_globals_of_a_function_are_those_that_it_names():
    assert globals_used(inner) == {"LIMIT": LIMIT}
    assert globals_used(outer) == {"middle": middle, "inner": inner}


def test_an_attribute_with_the_name_of_a_global_is_not_a_global():
    assert globals_used(leader) == {}
    assert rebind(leader, {follower: always_true}) is leader


def test_globals_are_found_in_a_function_that_names_many():
    names = [f"global_{i}" for i in range(300)]
    known = dict.fromkeys(names, 0)
    exec(f"def adds():\n    return {' + '.join(names)} + other", known)
    assert list(globals_used(known["adds"])) == names


def test_globals_are_those_that_the_disassembler_finds():
    functions = [
        value
        for name, module in list(sys.modules.items())
        if name.startswith("kafkaproof.spec.")
        for value in vars(module).values()
        if isinstance(value, FunctionType)
    ]
    assert len(functions) > 1000
    for function in functions:
        named = (i.argval for i in get_instructions(function) if i.opname == "LOAD_GLOBAL")
        assert list(globals_used(function)) == [n for n in dict.fromkeys(named) if n in function.__globals__]
