"""Which abstract states may stand beside a concrete one: the compiled relation, evaluated on every pair of a group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafkaproof.checker.compile.compiler import Program
from kafkaproof.checker.compile.kernel import Kernel
from kafkaproof.checker.compile.layout import Generated, Words
from kafkaproof.checker.compile.machine import Code
from kafkaproof.checker.compile.record import dtype
from kafkaproof.checker.compile.text import NUMBER
from kafkaproof.checker.refine.abstract import Abstract
from kafkaproof.checker.refine.numbered import field_values
from kafkaproof.spec.language.accepted import require_predicate
from kafkaproof.spec.language.domains import Array
from kafkaproof.spec.language.kinds import Part
from kafkaproof.spec.language.refinement import Refinement

STATES = "abstract states"
VERDICTS = 4_000_000
RELATE = """
def relate(states, begin, end, abstract, first, last, s, verdicts):
    n = 0
    for i in range(begin, end):
        unpack(states[i], s)
        for j in range(first, last):
            verdicts[n] = 0
            if passes(s, abstract[j]):
                verdicts[n] = 1
                if agrees(s, abstract[j]):
                    verdicts[n] = 2
            n += 1
    return n
"""
SPREAD = """
def spread(states, end, abstract):
    for i in range(end):
        unpack(states[i], abstract[i])
    return 0
"""


@dataclass(frozen=True)
class Beside:
    """The abstract states that may stand beside a concrete one: the group, those that pass, those that agree."""

    group: int
    passed: int
    agreed: int


class Matching:
    """Classes of packed concrete states with the same abstract states beside them; `classes` holds them by number."""

    def __init__(self, kernel: Kernel, abstract: Abstract, refinement: Refinement):
        self._kernel, self._abstract, self._fields = kernel, abstract, list(refinement.equal)
        self.classes: list[Beside] = []
        self._known: dict[tuple, int] = {}
        for predicate in (refinement.passes, refinement.agrees):
            require_predicate(predicate, (Part(kernel.model.state, "s"), Part(abstract.kernel.model.state, "a")))
        program = self._program(refinement)
        self._code, self._places = Code(program.text, "relate", "spread", Program.FLAG), program.places
        self._relate = self._code.function("relate", 8)
        self._memory = self._spread()
        self._s = np.zeros(kernel.compiled.size, np.uint8)

    def _program(self, refinement):
        own, other = self._kernel, self._abstract.kernel
        program = Program({**other.scope, **own.scope, STATES: len(self._abstract)})
        states = Array(other.model.state, STATES)
        unpack, unpack_other = (Generated.of(k.packing.unpack_source()) for k in (own, other))
        relate = Generated.of(RELATE, unpack=unpack, passes=refinement.passes, agrees=refinement.agrees)
        rows, rows_other = Words(own.packing.words), Words(other.packing.words)
        program.export("relate", relate, (rows, NUMBER, NUMBER, states, NUMBER, NUMBER, own.model.state, Words()))
        program.export("spread", Generated.of(SPREAD, unpack=unpack_other), (rows_other, NUMBER, states))
        return program

    def _spread(self):
        """All abstract states as an array of records."""
        kernel, rows = self._abstract.kernel, np.ascontiguousarray(self._abstract.rows)
        memory = np.zeros(len(rows) * dtype(kernel.model.state, kernel.scope).itemsize, np.uint8)
        self._code.function("spread", 3)(rows.ctypes.data, len(rows), memory.ctypes.data)
        return memory

    def classes_of(self, states: np.ndarray) -> np.ndarray:
        """The class of each packed state, shape (n,)."""
        found = np.empty(len(states), np.int64)
        shown, which = np.unique(field_values(self._kernel, self._fields, states), axis=0, return_inverse=True)
        for i, values in enumerate(shown.tolist()):
            chosen, group = np.flatnonzero(which.reshape(-1) == i), self._abstract.groups.get(tuple(values))
            found[chosen] = self._classes_in(np.ascontiguousarray(states[chosen]), group)
        return found

    def _classes_in(self, states, group):
        """The classes of states with the visible fields of one group, None for no group."""
        if group is None:
            return self._class_of(-1, b"", b"")
        first, last = group
        size, found = last - first, []
        most = max(1, VERDICTS // size)
        verdicts = np.empty(min(most, len(states)) * size, np.int64)
        for begin in range(0, len(states), most):
            end = min(len(states), begin + most)
            self._relate(
                states.ctypes.data,
                begin,
                end,
                self._memory.ctypes.data,
                first,
                last,
                self._s.ctypes.data,
                verdicts.ctypes.data,
            )
            Program.require_in_range(self._code, self._places)
            table = verdicts[: (end - begin) * size].reshape(-1, size)
            passed, agreed = (np.packbits(table >= least, axis=1, bitorder="little") for least in (1, 2))
            found += [self._class_of(first, p.tobytes(), a.tobytes()) for p, a in zip(passed, agreed)]
        return found

    def _class_of(self, group, passed, agreed):
        key = group, passed, agreed
        if key not in self._known:
            self._known[key] = len(self.classes)
            self.classes.append(Beside(group, int.from_bytes(passed, "little"), int.from_bytes(agreed, "little")))
        return self._known[key]
