"""Functions of arrays that numba compiles when they are first called: importing numba takes longer than a small run."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, update_wrapper
from types import FunctionType
from typing import Any, cast


class Native:
    """A function as machine code, from numba's cache if it is there; `plain` is the same in Python, for whole arrays too
    where it has no branches.
    """

    def __init__(self, plain: FunctionType):
        self.plain = plain
        update_wrapper(self, plain)

    def __call__(self, *arguments: Any) -> Any:
        return self.compiled(*arguments)

    @cached_property
    def compiled(self) -> Callable:
        """What numba makes of it, with the native functions that it calls."""
        from numba import njit

        names = self.plain.__globals__
        used = {name: names[name] for name in self.plain.__code__.co_names if name in names}
        called = {name: each.compiled for name, each in used.items() if isinstance(each, Native)}
        copy = FunctionType(self.plain.__code__, names | called, self.plain.__name__)
        copy.__qualname__, copy.__module__ = self.plain.__qualname__, self.plain.__module__
        return njit(cache=True, nogil=True)(copy)


def native(function: Callable) -> Native:
    """The function, to be compiled by numba when it is first called."""
    return Native(cast(FunctionType, function))
