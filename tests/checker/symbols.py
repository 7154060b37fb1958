"""Symbolic values: z3 expressions that behave like the ints of a plain state, and fork where Python asks.

A comparison is a `Truth`, whose `bool` is a decision of the execution that it belongs to; a `Symbol` used
as an index or as the end of a range is a decision between its feasible values. So indices are concrete,
every leaf is written by itself, and no expression holds a select; a scope's indices are few.
"""

from __future__ import annotations

from collections.abc import Callable

import z3

from kafkaproof.checker.model.execution import MOST_IDS
from kafkaproof.spec.language import sets


class Symbol:
    """An integer expression of z3; `decide(expression)` gives the value it has on the present path."""

    __slots__ = ("term", "decide")
    __hash__ = None

    def __init__(self, term: z3.ExprRef, decide: Callable[[z3.ExprRef], int]):
        self.term, self.decide = term, decide

    def __bool__(self):
        return (self != 0).__bool__()

    def __index__(self):
        return self.decide(self.term)

    def _number(self, term):
        return Symbol(term, self.decide)

    def _truth(self, term):
        return Truth(term, self.decide)

    def __add__(self, other):
        return self._number(self.term + term_of(other))

    def __radd__(self, other):
        return self._number(term_of(other) + self.term)

    def __sub__(self, other):
        return self._number(self.term - term_of(other))

    def __rsub__(self, other):
        return self._number(term_of(other) - self.term)

    def __mul__(self, other):
        return self._number(self.term * term_of(other))

    __rmul__ = __mul__

    def __neg__(self):
        return self._number(-self.term)

    def __abs__(self):
        return self._number(z3.If(self.term < 0, -self.term, self.term))

    def __eq__(self, other):
        return self._truth(self.term == term_of(other))

    def __ne__(self, other):
        return self._truth(self.term != term_of(other))

    def __lt__(self, other):
        return self._truth(self.term < term_of(other))

    def __le__(self, other):
        return self._truth(self.term <= term_of(other))

    def __gt__(self, other):
        return self._truth(self.term > term_of(other))

    def __ge__(self, other):
        return self._truth(self.term >= term_of(other))


class Truth(Symbol):
    """A condition; as a number it is 0 or 1."""

    __slots__ = ("condition",)

    def __init__(self, condition: z3.BoolRef, decide: Callable[[z3.ExprRef], int]):
        super().__init__(z3.If(condition, z3.IntVal(1), z3.IntVal(0)), decide)
        self.condition = condition

    def __bool__(self):
        return bool(self.decide(self.condition))


class Members(Symbol):
    """A set of ids as a bit vector as wide as its sort; of the operators, == and != mean something."""


def term_of(value: object) -> object:
    """The z3 expression of a symbol; an int as it is."""
    return value.term if isinstance(value, Symbol) else int(value)


def _id(x):
    """An id, or how many there are, that a set can hold: it is decided."""
    known = int(x)
    if not 0 <= known < MOST_IDS:
        raise IndexError(f"a set is asked for {known}, which is out of range")
    return known


def contains(members, x):
    """Symbolic `sets.contains`."""
    if not isinstance(members, Members):
        return sets.contains(members, _id(x))
    known = _id(x)
    if known >= members.term.size():
        return False
    bit = z3.Extract(known, known, members.term)
    return Truth(bit == 1, members.decide)


def is_empty(members):
    """Symbolic `sets.is_empty`."""
    return members == 0


def only(x):
    """Symbolic `sets.only`: the id is decided."""
    return sets.only(_id(x))


def everybody(n):
    """Symbolic `sets.everybody`: the number is decided."""
    return sets.everybody(_id(n))


def with_member(members, x):
    """Symbolic `sets.with_member`."""
    if not isinstance(members, Members):
        return sets.with_member(members, _id(x))
    return Members(members.term | sets.only(_id(x)), members.decide)


def without_member(members, x):
    """Symbolic `sets.without_member`."""
    if not isinstance(members, Members):
        return sets.without_member(members, _id(x))
    return Members(members.term & ~sets.only(_id(x)), members.decide)


def union(members, others):
    """Symbolic `sets.union`."""
    symbol = members if isinstance(members, Members) else others
    if not isinstance(symbol, Members):
        return sets.union(members, others)
    return Members(term_of(members) | term_of(others), symbol.decide)


def intersection(members, others):
    """Symbolic `sets.intersection`."""
    symbol = members if isinstance(members, Members) else others
    if not isinstance(symbol, Members):
        return sets.intersection(members, others)
    return Members(term_of(members) & term_of(others), symbol.decide)


def difference(members, others):
    """Symbolic `sets.difference`."""
    symbol = members if isinstance(members, Members) else others
    if not isinstance(symbol, Members):
        return sets.difference(members, others)
    return Members(term_of(members) & ~term_of(others), symbol.decide)


REBOUND = {
    getattr(sets, function.__name__): function
    for function in (contains, is_empty, only, everybody, with_member, without_member, union, intersection, difference)
}
