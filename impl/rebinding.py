"""Binds the transitions of a model to live seams.

Each seam (see `spec.seams`) becomes a call of the method of its name on the `zk` or `network` that it is given, which
does the input and output; the transitions themselves do not change. An object notes in `calls` which of its methods
were called, and what they answered.
"""

from __future__ import annotations

from types import FunctionType

from spec.language.model import Model
from spec.language.rebind import rebind
from spec.seams import seams_of


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
