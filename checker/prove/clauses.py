"""Clauses for a SAT solver, made from a formula once and renumbered for each use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import z3

ZERO, ONE = z3.BitVecVal(0, 1), z3.BitVecVal(1, 1)


def truth_of(number: int) -> z3.BoolRef:
    """The numbered truth that clauses share with others."""
    return z3.Bool(str(number))


@dataclass(frozen=True)
class Bits:
    """A number or a set as numbered truths, the lowest bit first; if signed, the last one is the sign."""

    numbers: range
    signed: bool

    def term(self, width: int) -> z3.BitVecRef:
        """As a bit vector of so many bits."""
        digits = [z3.If(truth_of(i), ONE, ZERO) for i in reversed(self.numbers)]
        found = z3.Concat(*digits) if len(digits) > 1 else digits[0]
        widened = z3.SignExt if self.signed else z3.ZeroExt
        return widened(width - len(digits), found)

    def literals(self, value: int) -> list[int]:
        """The literals of a value: numbers of truths, negative for those that are false."""
        return [number if value >> i & 1 else -number for i, number in enumerate(self.numbers)]

    def value(self, truths: np.ndarray) -> int:
        """The value, given the truths by their numbers."""
        found = sum(int(truths[number]) << i for i, number in enumerate(self.numbers))
        return found - (1 << len(self.numbers)) if self.signed and truths[self.numbers[-1]] else found


class Clauses:
    """The clauses of formulas that must all hold; truths without a number are local to them."""

    def __init__(self, formulas: list[z3.BoolRef]):
        goal = z3.Goal()
        goal.add(*formulas)
        (found,) = z3.Then("simplify", "bit-blast", "simplify", "aig", "tseitin-cnf")(goal)
        lines = [line.split() for line in found.dimacs().splitlines()]
        clauses = [[int(word) for word in words[:-1]] for words in lines if words[0] not in ("c", "p")]
        self._literals = np.array([literal for clause in clauses for literal in clause], dtype=np.int64)
        self._ends = np.cumsum([len(clause) for clause in clauses]).tolist()
        names = [(int(words[1]), words[2].strip("|")) for words in lines if words[0] == "c"]
        shared = {number: int(name) for number, name in names if name.isdecimal()}
        self._shared, self._outer = list(shared), list(shared.values())
        count = max(map(abs, self._literals.tolist()), default=0)
        self._own = [number for number in range(1, count + 1) if number not in shared]

    def at(self, shared: np.ndarray, last: int) -> tuple[list[list[int]], int]:
        """The clauses with truth i renumbered to shared[i], and the last number used; local truths are numbered from
        `last` on.
        """
        to = np.zeros(len(self._shared) + len(self._own) + 1, dtype=np.int64)
        to[self._shared] = shared[self._outer]
        to[self._own] = np.arange(last + 1, last + 1 + len(self._own))
        literals = (np.sign(self._literals) * to[np.abs(self._literals)]).tolist()
        clauses = [literals[begin:end] for begin, end in zip([0, *self._ends], self._ends)]
        return clauses, last + len(self._own)
