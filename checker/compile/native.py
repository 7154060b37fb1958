"""Functions of arrays as machine code. Numba makes LLVM's text of each once; it is kept in the user's cache directory.

To import numba takes longer than many a check. So what it makes is free of its runtime: these functions allocate nothing,
callers give them the arrays that they fill, and they return whole numbers.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import threading
from collections.abc import Callable
from functools import update_wrapper
from importlib.metadata import version
from types import FunctionType
from typing import Any, NamedTuple, cast

import llvmlite.binding as llvm
import numpy as np

from kafkaproof.checker.basics.cache import cache_directory, keep, kept
from kafkaproof.checker.compile.machine import Code

Kind = tuple[np.dtype, int | None, bool]
"""What is known of an argument beforehand: the type of its elements, how many dimensions it has (None: it is a number),
and whether it is contiguous.
"""
WITHOUT_PYTHON = {
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "_nrt": False,
    "forceinline": True,
}
"""Options of numba, with which a function has in it what it calls, and calls neither numba's runtime nor Python's."""
DONE = (0, -2)
"""What a function answers that came to its end, with a result and without."""
_making = threading.RLock()


class Text(NamedTuple):
    """LLVM's text of a function for some kinds of arguments, its name there, and how many numbers it returns."""

    text: str
    name: str
    results: int


class Native:
    """A function as machine code, made when it is first called with arguments of some kinds; `plain` is the same in
    Python, for whole arrays too where it has no branches.
    """

    def __init__(self, plain: FunctionType):
        self.plain = plain
        self._made: dict[tuple[Kind, ...], Callable] = {}
        update_wrapper(self, plain)

    def __call__(self, *arguments: Any) -> Any:
        kinds = tuple(map(_kind, arguments))
        if kinds not in self._made:
            with _making:
                if kinds not in self._made:  # another thread may have made it meanwhile
                    self._made[kinds] = _Made(_text_of(self.plain, kinds), _words_of(kinds))
        return self._made[kinds](arguments)


def native(function: Callable) -> Native:
    """The function, to be machine code when it is first called."""
    return Native(cast(FunctionType, function))


def _kind(argument):
    if isinstance(argument, np.ndarray):
        return argument.dtype, argument.ndim, argument.flags.c_contiguous
    return np.dtype(type(argument)), None, True


class _Made:
    """A loaded function. It is called as numba does it: with places for results and for an error, then `words`."""

    def __init__(self, text: Text, words: int):
        self._code, self._name, self._results = Code(text.text, text.name), text.name, text.results
        taking = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_int64] * (2 + words))
        self._function = taking(self._code.address(text.name))

    def __call__(self, arguments):
        results, raised = (ctypes.c_int64 * max(1, self._results))(), ctypes.c_void_p()
        words = (word for argument in arguments for word in _words(argument))
        answer = self._function(ctypes.addressof(results), ctypes.addressof(raised), *words)
        if answer not in DONE:
            raise RuntimeError(f"{self._name} failed: {answer}")
        return results[0] if self._results == 1 else tuple(results) if self._results else None


def _words(argument):
    """A number as it is; an array without the two owners that it has in numba's runtime."""
    if not isinstance(argument, np.ndarray):
        return (int(argument),)
    data = argument.__array_interface__["data"][0]
    return (0, 0, argument.size, argument.itemsize, data, *argument.shape, *argument.strides)


def _words_of(kinds):
    """How many words arguments of these kinds are."""
    return sum(1 if dimensions is None else 5 + 2 * dimensions for _, dimensions, _ in kinds)


def _text_of(plain, kinds):
    told = [(element.str, *others) for element, *others in kinds]
    versions = version("numba"), version("llvmlite"), np.__version__
    key = (_identity(plain), told, WITHOUT_PYTHON, versions, llvm.get_host_cpu_name())
    path = cache_directory() / f"{hashlib.sha256(repr(key).encode()).hexdigest()}.native"
    content = kept(path)
    if content is None:
        content = json.dumps(_made_by_numba(plain, kinds)).encode()
        keep(path, content)
    return Text(*json.loads(content))


def _identity(plain):
    """What a function's text depends on: its own code, and the numbers and functions that it names."""
    code = plain.__code__
    named = [
        value for value in map(plain.__globals__.get, code.co_names) if isinstance(value, (int, np.integer, Native))
    ]
    others = [_identity(value.plain) if isinstance(value, Native) else value for value in named]
    return code.co_code, code.co_consts, code.co_names, code.co_varnames, others


def _made_by_numba(plain, kinds):
    """The text that numba makes. Raises RuntimeError where it is not as this module calls it."""
    from numba import from_dtype, types

    def of(kind):
        element, dimensions, is_contiguous = kind
        one = from_dtype(element)
        return one if dimensions is None else types.Array(one, dimensions, "C" if is_contiguous else "A")

    dispatcher = _for_numba(plain)
    signature = tuple(map(of, kinds))
    dispatcher.compile(signature)
    made, text = dispatcher.overloads[signature], dispatcher.inspect_llvm(signature)
    returned, name = made.signature.return_type, made.fndesc.llvm_func_name
    results = [] if returned == types.none else [*returned] if isinstance(returned, types.UniTuple) else [returned]
    module = llvm.parse_assembly(text)
    outside = [f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")]
    words = len(list(module.get_function(name).arguments)) - 2
    are_whole = all(element.kind in "biu" or dimensions is not None for element, dimensions, _ in kinds)
    if outside or set(results) - {types.int64} or words != _words_of(kinds) or not are_whole:
        raise RuntimeError(f"numba {version('numba')} makes of {plain.__qualname__} what cannot be called without it")
    return Text(text, name, len(results))


def _for_numba(plain):
    """What numba compiles: the function, and those that it calls."""
    from numba import njit

    names = plain.__globals__
    called = {name: names[name] for name in plain.__code__.co_names if isinstance(names.get(name), Native)}
    copy = FunctionType(
        plain.__code__, names | {name: _for_numba(each.plain) for name, each in called.items()}, plain.__name__
    )
    copy.__qualname__, copy.__module__ = plain.__qualname__, plain.__module__
    return cast(Any, njit)(**WITHOUT_PYTHON)(copy)
