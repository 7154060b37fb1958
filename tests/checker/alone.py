"""Functions compiled by themselves, called with ints and with arrays that hold one record each."""

import ctypes

import numpy as np

from kafkaproof.checker.compile.compiler import Program
from kafkaproof.checker.compile.machine import Code
from kafkaproof.checker.compile.record import dtype
from kafkaproof.checker.compile.text import NUMBER
from kafkaproof.spec.language.layout import leaves
from kafkaproof.spec.language.plain import get, put


class OutOfRange(Exception):
    """A function used an index or a shift that is out of range."""


class Alone:
    """Compiled functions of one scope, which raise OutOfRange instead of leaving an array."""

    def __init__(self, scope, functions):
        self._program = Program(scope)
        for i, (function, kinds) in enumerate(functions):
            self._program.export(f"f{i}", function, tuple(kinds))
        self._code = Code(self._program.text, *(f"f{i}" for i in range(len(functions))), Program.FLAG, speed=0)
        self._calls = [self._code.function(f"f{i}", len(kinds)) for i, (_, kinds) in enumerate(functions)]
        self._flag = ctypes.c_int64.from_address(self._code.address(Program.FLAG))

    def __call__(self, *arguments):
        """Call the first function."""
        return self.call(0, *arguments)

    def call(self, which, *arguments):
        """Call a function by its number."""
        self._flag.value = 0
        answer = self._calls[which](*(a.ctypes.data if isinstance(a, np.ndarray) else int(a) for a in arguments))
        if self._flag.value:
            raise OutOfRange(self._program.places[self._flag.value])
        return answer


def transitions_alone(model, scope):
    """The transitions of a model, compiled by themselves, in their order."""
    kinds = [(t.function, [model.state] + [NUMBER] * len(t.arguments)) for t in model.transitions]
    return Alone(scope, kinds)


def records(declaration, scope, states):
    """Plain states as one NumPy array."""
    found = np.zeros(len(states), dtype(declaration, scope))
    places = leaves(declaration, scope)
    for record, state in zip(found.view(np.recarray), states):
        for leaf in places:
            put(record, leaf.path, get(state, leaf.path))
    return found
