"""The least and the greatest value of a term, from those of its leaves."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import product

import z3

from kafkaproof.checker.prove.parts import key

Interval = tuple[float, float]
"""Least and greatest value, -inf and inf where there is none."""


def interval(
    term: z3.ExprRef,
    leaf: Callable[[z3.ExprRef], Interval | None],
    known: dict[int, tuple[z3.ExprRef, Interval | None]] | None = None,
) -> Interval | None:
    """The interval of a term made of known numbers and leaves by choice, sum, difference and product; None for other
    terms. `leaf` gives the interval of a leaf; `known` caches those of terms asked for before.
    """
    if z3.is_int_value(term) or z3.is_bv_value(term):
        value = term.as_signed_long() if z3.is_bv(term) else term.as_long()
        return value, value
    known = {} if known is None else known
    if key(term) not in known:
        known[key(term)] = term, _interval(term, leaf, known)
    return known[key(term)][1]


def _interval(term, leaf, known):
    kind = term.decl().kind()
    if kind not in _MADE:
        return leaf(term)
    parts = [interval(part, leaf, known) for part in (term.children()[1:] if kind == z3.Z3_OP_ITE else term.children())]
    return None if None in parts else reduce(_MADE[kind], [(0, 0), *parts] if kind in _NEGATIVE else parts)


def _choice(one, other):
    return min(one[0], other[0]), max(one[1], other[1])


def _sum(one, other):
    return one[0] + other[0], one[1] + other[1]


def _difference(one, other):
    return one[0] - other[1], one[1] - other[0]


def _product(one, other):
    """The product of two intervals; zero times infinity is zero."""
    found = [0 if 0 in pair else pair[0] * pair[1] for pair in product(one, other)]
    return min(found), max(found)


_NEGATIVE = (z3.Z3_OP_UMINUS, z3.Z3_OP_BNEG)
_MADE = {
    z3.Z3_OP_ITE: _choice,
    z3.Z3_OP_ADD: _sum,
    z3.Z3_OP_BADD: _sum,
    z3.Z3_OP_SUB: _difference,
    z3.Z3_OP_BSUB: _difference,
    z3.Z3_OP_UMINUS: _difference,
    z3.Z3_OP_BNEG: _difference,
    z3.Z3_OP_MUL: _product,
    z3.Z3_OP_BMUL: _product,
}
