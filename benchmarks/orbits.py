"""
Count the orbits of a complete run, and the states that are in them.

    python benchmarks/orbits.py runs/replication-kip320-20260101-120000-1f2e

A run without symmetry has all states of each orbit, so an orbit is counted where a state is its own representative. A run
with ``--symmetry`` has one state of each orbit. An orbit has as many states as there are permutations, divided by how many of
them leave that state as it is. So two runs of the same scope, which visit different states and share none of their tables,
must give the same two numbers.
"""

import sys
from dataclasses import replace
from itertools import permutations, product

import numpy as np

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.check.run import begun, kernel_of
from kafkaproof.checker.compile.compiler import Program
from kafkaproof.checker.compile.expansion import Expansion
from kafkaproof.checker.compile.layout import Generated, Words
from kafkaproof.checker.compile.machine import Code
from kafkaproof.checker.compile.representatives import DIGIT
from kafkaproof.checker.compile.text import NUMBER
from kafkaproof.checker.runs.directory import RunDirectory

COUNT_FIXED = """
def count_fixed(states, count, s, trial, orders, renamings, found):
    for i in range(count):
        unpack(states[i], s)
        fixed = 0
        for k in range(renamings):
            renamed(s, {orders}, trial)
            if {same}:
                fixed += 1
        found[fixed] += 1
    return 0
"""


class OrbitSizes:
    """Counts the states in the orbits of packed states."""

    def __init__(self, kernel):
        found = kernel.representatives
        sorts, words = len(found.orders), kernel.packing.words
        text = COUNT_FIXED.format(
            orders=", ".join(f"orders[{sorts} * k + {sort}]" for sort in range(sorts)),
            same=" and ".join(f"trial[{word}] == states[i][{word}]" for word in range(words)),
        )
        unpack = Generated.of(kernel.packing.unpack_source())
        program = Program(kernel.scope)
        kinds = (Words(words), NUMBER, kernel.model.state, Words(), Words(), NUMBER, Words())
        program.export("count_fixed", Generated.of(text, unpack=unpack, renamed=found.renamed()), kinds)
        self._code = Code(program.text, "count_fixed")
        self._orders = np.array(list(_orders(kernel.symmetry)), np.int64)
        self._state, self._trial = np.zeros(kernel.compiled.size, np.uint8), np.zeros(words, np.uint64)

    def total(self, states):
        """How many states are in the orbits of these, of which no two share one."""
        renamings = len(self._orders)
        found = np.zeros(renamings + 1, np.int64)
        states = np.ascontiguousarray(states, np.uint64)
        self._code.call("count_fixed", states, len(states), self._state, self._trial, self._orders, renamings, found)
        return sum(int(count) * renamings // fixed for fixed, count in enumerate(found) if count)


def _orders(symmetry):
    """Every permutation: of each sort the number that tells it."""
    ways = [product(*(permutations(block) for block in blocks)) for blocks in symmetry.blocks.values()]
    for chosen in product(*ways):
        yield [sum(old << DIGIT * new for new, old in enumerate(sum(blocks, ()))) for blocks in chosen]


def main(uri):
    """Print the states and the orbits of a run; return the exit code."""
    try:
        run = RunDirectory(uri)
        check, _, _ = begun(run)
        kernel = kernel_of(replace(check, symmetry=True))
        expansion, sizes = Expansion(kernel.compiled), OrbitSizes(kernel)
        states = orbits = 0
        for level in run.levels():
            for there in run.states(level):
                if check.symmetry:
                    states, orbits = states + sizes.total(there), orbits + len(there)
                else:
                    same = (expansion.representatives(there) == there).all(axis=1)
                    states, orbits = states + len(there), orbits + int(same.sum())
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{states:,} states, {orbits:,} orbits")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
