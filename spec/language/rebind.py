"""Rebinding: copies of specification functions whose globals are replaced.

The explorer, the prover, the reference implementation and every variant run the same text with
other callees. A copy is made of each function on the way to a replaced one; the originals never change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dis import opmap
from functools import cache, lru_cache
from types import CodeType, FunctionType
from typing import cast
from weakref import WeakKeyDictionary

LOAD_GLOBAL, EXTENDED_ARG = opmap["LOAD_GLOBAL"], opmap["EXTENDED_ARG"]
_CALLED: WeakKeyDictionary[Callable, dict[str, Callable]] = WeakKeyDictionary()


def globals_used(function: Callable) -> dict[str, object]:
    """The globals that `function`'s own code reads, without builtins."""
    known = function.__globals__
    return {name: known[name] for name in _names_read(function.__code__) if name in known}


@cache
def _names_read(code: CodeType) -> tuple[str, ...]:
    """The names of globals, in the order of the code: `dis` takes twenty times as long."""
    found, wide = {}, 0
    for operation, low in zip(code.co_code[::2], code.co_code[1::2]):
        argument = wide | low
        wide = argument << 8 if operation == EXTENDED_ARG else 0
        if operation == LOAD_GLOBAL:
            found[code.co_names[argument >> 1]] = None
    return tuple(found)


def callees(*functions: Callable) -> list[Callable]:
    """These functions and all their callees, direct or not, each once."""
    found, stack = {}, [*functions]
    while stack:
        function = stack.pop()
        if function not in found:
            found[function] = True
            stack += _called(function).values()
    return [*found]


def _called(function: Callable) -> dict[str, Callable]:
    """The functions among the globals that `function`'s own code reads."""
    if function not in _CALLED:
        used = globals_used(function)
        _CALLED[function] = {name: value for name, value in used.items() if isinstance(value, FunctionType)}
    return _CALLED[function]


def rebind(function: Callable, replacements: Mapping[Callable, Callable]) -> Callable:
    """`function` with each callee, direct or not, replaced that is a key of `replacements`.

    The function itself is replaced when it is a key. Returns the same object when nothing changes.
    """
    return _rebind(function, replacements, _copies(frozenset(replacements.items())))


@lru_cache(100)
def _copies(replacements: frozenset) -> dict[Callable, Callable]:
    """What functions became by these replacements: those of a model share nearly all that they call."""
    return {}


def _rebind(function, replacements, done):
    if function in replacements:
        return replacements[function]
    if function in done:
        return done[function]
    changed = {}
    for name, value in _called(function).items():
        bound = _rebind(value, replacements, done)
        if bound is not value:
            changed[name] = bound
    done[function] = copy_of(function, changed) if changed else function
    return done[function]


def copy_of(function: Callable, names: Mapping[str, object], code: CodeType | None = None) -> FunctionType:
    """A copy of a function with these values of globals, and with other `code` if given."""
    copy = FunctionType(
        code or function.__code__,
        {**function.__globals__, **names},
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__doc__ = function.__doc__
    copy.__module__ = function.__module__
    copy.__annotations__ = function.__annotations__
    copy.__dict__.update(function.__dict__)
    copy.__dict__.setdefault("__original__", function)
    return copy


def original(function: Callable) -> Callable:
    """The function of which `function` is a copy, or itself."""
    return cast(Callable, getattr(function, "__original__", function))
