"""Compiling the questions of liveness: one generated function that labels states and steps.

It unpacks each state, evaluates every condition, and runs every transition with every choice of arguments. A step that
changes nothing is left out; one that a bound cuts counts as enabled, and leads nowhere; one that spends a budget
belongs to no action.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kafkaproof.checker.compile.compiler import Program
from kafkaproof.checker.compile.expressions import COPY
from kafkaproof.checker.compile.kernel import Kernel, nested_choices
from kafkaproof.checker.compile.layout import Generated, Words
from kafkaproof.checker.compile.machine import SPEED, Code
from kafkaproof.checker.compile.record import dtype
from kafkaproof.checker.compile.text import NUMBER
from kafkaproof.checker.liveness.labels import Labels, parameters
from kafkaproof.checker.model.kept import kept_for

ARGUMENTS = 16
BATCH = 1 << 14
FEW = 2_000_000
"""Fewer states than this are labelled by code that compiles faster and runs slower."""
HEAD = """
def look(states, first, end, room, most, following, s, t, out, origins, numbers, taken, marks, enabled, cut, classes):
    n = 0
    for i in range(first, end):
        if n + room > most:
            following[0] = i
            return n
        unpack(states[i], s)
        copy(t, s)
        marks[i] = 0
        enabled[i] = 0
        cut[i] = 0"""
TAIL = """
    following[0] = end
    return n
"""


@dataclass(frozen=True)
class Look:
    """What is sent to executors: LLVM's text of `look` (compressed), the sizes it needs, the actions of each step, and
    the places of indices in its text.
    """

    packed_text: bytes
    size: int
    words: int
    most_successors: int
    classes: np.ndarray
    places: tuple[str, ...]

    @property
    def text(self) -> str:
        """LLVM's text of the function `look`."""
        return zlib.decompress(self.packed_text).decode()


def look_of(kernel: Kernel, labels: Labels) -> Look:
    """The function that labels states of a model, ready to be compiled."""
    key = "look", sorted(kernel.scope.items())
    return kept_for(kernel.model, tuple(kernel.liveness), key, lambda: _generated(kernel, labels))


def _generated(kernel, labels):
    program, packing = Program(kernel.scope), kernel.packing
    called = {
        "copy": COPY,
        "unpack": Generated.of(packing.unpack_source()),
        "same": Generated.of(_same(packing.words)),
        "spends": Generated.of(_spends(packing.leaves)),
        "pack": Generated.of(packing.pack_source(), **packing.called),
        **{f"t{i}": t.function for i, t in enumerate(kernel.model.transitions)},
        **{f"c{i}": condition.predicate for i, condition in enumerate(labels.conditions)},
        **{f"w{i}": when for i, when in enumerate(labels.conditional)},
    }
    text = "\n".join([HEAD, *_conditions(labels), *_steps(kernel, labels), TAIL])
    single, rows, state = Words(), Words(packing.words), kernel.model.state
    kinds = (rows, NUMBER, NUMBER, NUMBER, NUMBER, single, state, state, rows, *[single] * 7)
    program.export("look", Generated.of(text, **called), kinds)
    packed = zlib.compress(program.text.encode(), 1)
    return Look(
        packed,
        dtype(state, kernel.scope).itemsize,
        packing.words,
        kernel.bases[-1],
        labels.classes,
        tuple(program.places),
    )


def _same(words):
    tests = [f"    if one[{w}] != other[{w}]:\n        return 0" for w in range(words)]
    return "\n".join(["def same(one, other):", *tests, "    return 1"])


def _spends(leaves):
    tests = [
        f"    if s.{leaf.expression} != t.{leaf.expression}:\n        return 1" for leaf in leaves if leaf.is_budget
    ]
    return "\n".join(["def spends(s, t):", *tests, "    return 0"])


def _conditions(labels):
    for i, condition in enumerate(labels.conditions):
        yield f"        if c{i}({', '.join(['s', *map(str, condition.arguments)])}):"
        yield f"            marks[i] |= {1 << i}"


def _steps(kernel, labels):
    for index, transition in enumerate(kernel.model.transitions):
        loops, indent, names, number = nested_choices(transition, kernel.bases[index], kernel.scope)
        yield from loops
        yield f"{indent}if t{index}({', '.join(['t', *names])}):"
        yield f"{indent}    actions = classes[{number}]"
        yield f"{indent}    if spends(s, t):"
        yield f"{indent}        actions = 0"
        yield from _restricted(labels, transition, indent)
        yield f"{indent}    if pack(t, s, states[i], out[n]) != 0:"
        yield f"{indent}        cut[i] |= actions"
        yield f"{indent}        enabled[i] |= actions"
        yield f"{indent}    elif not same(out[n], states[i]):"
        yield f"{indent}        enabled[i] |= actions"
        yield f"{indent}        origins[n] = i"
        yield f"{indent}        numbers[n] = {number}"
        yield f"{indent}        taken[n] = actions"
        yield f"{indent}        n += 1"
        yield f"{indent}    copy(t, s)"


def _restricted(labels, transition, indent):
    """Take away the actions whose `when` does not hold before the step."""
    for i, (when, bits) in enumerate(labels.conditional.items()):
        concerned = [a for a in labels.actions if a.assumption.when is when and a.of_transition(transition)]
        if concerned:
            asked = ", ".join(["s", *(f"{name}_" for name in parameters(when))])
            yield f"{indent}    if actions & {bits} and not w{i}({asked}):"
            yield f"{indent}        actions = actions - (actions & {bits})"


class Looking:
    """Runs the compiled `look` over arrays of packed states, about `count` in all."""

    def __init__(self, look: Look, count: int):
        self.look = look
        self._s, self._t = np.zeros(look.size, np.uint8), np.zeros(look.size, np.uint8)
        self._size = BATCH + look.most_successors
        self._out = np.zeros((self._size, look.words), np.uint64)
        self._origins, self._numbers = np.zeros(self._size, np.int64), np.zeros(self._size, np.int64)
        self._taken, self._following = np.zeros(self._size, np.uint64), np.zeros(1, np.int64)
        self._classes = np.ascontiguousarray(look.classes)
        self._code = Code(look.text, "look", Program.FLAG, speed=SPEED if count >= FEW else 0)
        self._function = self._code.function("look", ARGUMENTS)

    def run(self, states: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """Label `states`, shape (n, words); yields (successors, origins, numbers, actions) by batches.

        `origins` are indices into `states`, in order; the arrays are reused by the next batch. Afterwards `marks`
        (conditions), `enabled` and `cut` (actions) hold a word of bits for each state.
        """
        first, states = 0, np.ascontiguousarray(states, np.uint64)
        self.marks, self.enabled, self.cut = (np.zeros(len(states), np.uint64) for _ in range(3))
        while first < len(states):
            n = self._from(states, first)
            first = int(self._following[0])
            yield self._out[:n], self._origins[:n], self._numbers[:n], self._taken[:n]

    def _from(self, states, first):
        before = (self._following, self._s, self._t, self._out, self._origins, self._numbers, self._taken)
        arrays = (*before, self.marks, self.enabled, self.cut, self._classes)
        count = self._function(
            states.ctypes.data,
            first,
            len(states),
            self.look.most_successors,
            self._size,
            *(array.ctypes.data for array in arrays),
        )
        Program.require_in_range(self._code, self.look.places)
        return count
