"""Binds the transitions of a model to live seams.

A function of the specification whose first parameter is `zk` or `network` is a seam. Here each becomes a call of
the method of its name on that object, which does the input and output; the transitions themselves do not
change. An object notes which of its methods were called, and what they answered.
"""

from __future__ import annotations

from types import FunctionType
from typing import Callable

from spec.language.model import Model
from spec.language.rebind import globals_used, rebind

SEAMS = ("zk", "network")


def is_seam(function: Callable) -> bool:
    """Whether a function of the specification reaches what a broker does not own."""
    return function.__code__.co_varnames[:1] in ((name,) for name in SEAMS)


def seams_of(function: FunctionType) -> set[FunctionType]:
    """The seams that a transition calls, itself or through helpers."""
    found, waiting, seen = set(), [function], set()
    while waiting:
        caller = waiting.pop()
        for callee in globals_used(caller).values():
            if isinstance(callee, FunctionType) and callee not in seen:
                seen.add(callee)
                (found.add if is_seam(callee) else waiting.append)(callee)
    return found


def bound(model: Model) -> dict[str, FunctionType]:
    """The transitions of a model by their names without the module, with their seams live."""
    functions = {}
    for transition in model.transitions:
        live = {seam: _method(seam.__name__) for seam in seams_of(transition.function)}
        functions[transition.function.__name__] = rebind(transition.function, live)
    return functions


def _method(name):
    def call(target, *arguments):
        answer = getattr(target, name)(*arguments)
        numbers = [argument for argument in arguments if isinstance(argument, int)]
        target.calls.append([name, numbers, answer])
        return answer

    return call
