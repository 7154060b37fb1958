"""Terms: Python ints for known values, z3 expressions for others, with constant folding.

A number is an Int (or, in bounded model checking, a BitVec of some width), a set is a BitVec as wide as its
sort, a truth is a Bool. Python's ints and bools stand for constants of any of these.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

import z3

from kafkaproof.checker.prove.parts import key

if TYPE_CHECKING:
    from typing_extensions import TypeIs

Term: TypeAlias = z3.ExprRef | int
"""A z3 expression, or a known value."""

z3.z3.Z3_DEBUG = False
"""z3's Python need not check each argument of each term: z3 itself refuses wrong sorts."""


def is_known(value: object) -> TypeIs[int]:
    """Whether a value is a constant of Python."""
    return isinstance(value, int)


def truth(value: Term) -> Term:
    """A value as a condition: a bool, or a Bool of z3."""
    if is_known(value):
        return bool(value)
    return value if z3.is_bool(value) else value != 0


def negation(condition: Term) -> Term:
    """Not `condition`."""
    if is_known(condition):
        return not condition
    return condition.arg(0) if z3.is_not(condition) else z3.Not(condition)


def conjunction(conditions: Iterable[Term]) -> Term:
    """All of the conditions."""
    rest = [c for c in conditions if not (is_known(c) and c)]
    if any(is_known(c) for c in rest):
        return False
    return True if not rest else rest[0] if len(rest) == 1 else every(rest)


def disjunction(conditions: Iterable[Term]) -> Term:
    """Any of the conditions."""
    rest = [c for c in conditions if not (is_known(c) and not c)]
    if any(is_known(c) for c in rest):
        return True
    return False if not rest else rest[0] if len(rest) == 1 else some(rest)


def every(conditions: list[z3.BoolRef]) -> z3.BoolRef:
    """The conjunction of conditions, none of which is known: seven times as fast as z3.And."""
    return _joined(z3.Z3_mk_and, conditions)


def some(conditions: list[z3.BoolRef]) -> z3.BoolRef:
    """The disjunction of conditions, none of which is known."""
    return _joined(z3.Z3_mk_or, conditions)


def _joined(make, conditions):
    context, count = z3.main_ctx(), len(conditions)
    pointers = (z3.Ast * count)()
    for i, condition in enumerate(conditions):
        pointers[i] = condition.as_ast()
    return z3.BoolRef(make(context.ref(), count, pointers), context)


class Numbers:
    """How numbers are represented: unbounded integers, or bit vectors of `bits`; `used` holds all that were read."""

    def __init__(self, bits: int | None = None):
        self.bits = bits
        self.used: dict[object, Term] = {}

    def variable(self, name: str) -> z3.ExprRef:
        """A number that may be any."""
        return z3.Int(name) if self.bits is None else z3.BitVec(name, self.bits)

    def constant(self, value: int) -> z3.ExprRef:
        """A number of z3."""
        return z3.IntVal(value) if self.bits is None else z3.BitVecVal(value, self.bits)

    @property
    def sort(self) -> z3.SortRef:
        """The sort of numbers."""
        return self.constant(0).sort()

    def number(self, value: Term) -> Term:
        """A value as a number: a condition is 0 or 1."""
        if is_known(value):
            number = int(value)
            self.used[number] = number
            return number
        number = z3.If(value, self.constant(1), self.constant(0)) if z3.is_bool(value) else value
        if z3.is_int(number):
            self.used[key(number), 0] = number
        return number

    def choose(self, condition: Term, yes: Term, no: Term) -> Term:
        """`yes` where the condition holds, else `no`."""
        if is_known(condition):
            return yes if condition else no
        if same(yes, no):
            return yes
        if _is_truth(yes) and _is_truth(no):
            return disjunction([conjunction([condition, yes]), conjunction([negation(condition), no])])
        yes, no = self.number(yes), self.number(no)
        if is_known(yes) and is_known(no):
            yes, no = self.constant(yes), self.constant(no)
        if z3.is_array(yes) or z3.is_array(no):
            yes, no = as_set(yes, None), as_set(no, None)
        elif any(isinstance(term, z3.BitVecRef) and term.size() != self.bits for term in (yes, no)):
            yes, no = together(yes, no, 0)
        return z3.If(condition, yes, no)


def _is_truth(value):
    return isinstance(value, bool) or z3.is_bool(value)


def same(one: Term, other: Term) -> bool:
    """Whether two values are the same term."""
    if is_known(one) or is_known(other):
        return type(one) is type(other) and one == other
    return z3.eq(one, other)


def as_set(value: Term, size: int | None) -> z3.ExprRef:
    """A value as a set over a sort of `size` ids (None: unbounded). A choice between constants is converted in each
    branch.
    """
    if size is None:
        return _as_array(value)
    if is_known(value):
        return z3.BitVecVal(int(value), size)
    if z3.is_bv(value) and value.size() == size:
        return value
    if z3.is_app_of(value, z3.Z3_OP_ITE):
        return z3.If(value.arg(0), as_set(value.arg(1), size), as_set(value.arg(2), size))
    if z3.is_int_value(value) or z3.is_bv_value(value):
        return z3.BitVecVal(value.as_long(), size)
    if z3.is_bv(value):
        wider = value.size() < size
        return z3.ZeroExt(size - value.size(), value) if wider else z3.Extract(size - 1, 0, value)
    raise TypeError("a number is used as a set")


def together(one: Term, other: Term, size: int | None) -> tuple[z3.ExprRef, z3.ExprRef]:
    """Two sets as terms of the same width: that of the wider one, and at least `size` (None: unbounded)."""
    if size is not None:
        size = max(size, _width(one), _width(other))
    return as_set(one, size), as_set(other, size)


def _width(value):
    """How many ids a set, or a number that is a set, may have."""
    if is_known(value):
        return int(value).bit_length()
    if z3.is_app_of(value, z3.Z3_OP_ITE):
        return max(_width(value.arg(1)), _width(value.arg(2)))
    if z3.is_int_value(value) or z3.is_bv_value(value):
        return value.as_long().bit_length()
    return value.size() if z3.is_bv(value) else 0


def _as_array(value):
    if is_known(value):
        found = z3.K(z3.IntSort(), False)
        for i in range(value.bit_length()):
            found = z3.Store(found, i, True) if value >> i & 1 else found
        return found
    if z3.is_app_of(value, z3.Z3_OP_ITE):
        return z3.If(value.arg(0), _as_array(value.arg(1)), _as_array(value.arg(2)))
    return _as_array(value.as_long()) if z3.is_int_value(value) else value


def value_of(term: Term) -> int:
    """The value of an evaluated term; numbers are signed, sets are masks."""
    if is_known(term):
        return int(term)
    if z3.is_bool(term):
        return int(z3.is_true(term))
    return term.as_long()
