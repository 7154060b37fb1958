"""The functions of `kafkaproof.spec.language.sets` over bit vectors; an id may be a symbol.

A set has a bit for each possible member; if an id may be beyond its sort, the set is wider than the sort. Each function
is given the width of the sort, and the greatest value of the id.
"""

from __future__ import annotations

import z3

from kafkaproof.checker.model.execution import MOST_IDS
from kafkaproof.checker.prove.terms import as_set, disjunction, is_known, together
from kafkaproof.spec.language import sets

MOST = MOST_IDS
"""The ids in a set are below this number, in compiled code too."""


def _only(x, size, most):
    """The set with `x` alone, for an id that is known or not."""
    size = max(size, most + 1)
    if is_known(x):
        return z3.BitVecVal(1 << x, size)
    found = z3.BitVecVal(0, size)
    for i in range(most + 1):
        found = z3.If(x == i, z3.BitVecVal(1 << i, size), found)
    return found


def contains(size, most, members, x):
    """Whether `x` is in the set."""
    if is_known(members) and is_known(x):
        return sets.contains(members, x)
    if is_known(members):
        return disjunction(x == i for i in range(most + 1) if sets.contains(members, i))
    members = _set(members, size)
    if is_known(x):
        return z3.Extract(x, x, members) == 1 if x < members.size() else False
    ids = range(min(most + 1, members.size()))
    return disjunction(z3.And(x == i, z3.Extract(i, i, members) == 1) for i in ids)


def _set(members, size):
    return as_set(members, members.size() if z3.is_bv(members) else size)


def is_empty(size, most, members):
    """Whether the set has no member."""
    return members == 0


def only(size, most, x):
    """The set with `x` alone."""
    return sets.only(x) if is_known(x) else _only(x, size, most)


def with_member(size, most, members, x):
    """The set with `x` added."""
    if is_known(members) and is_known(x):
        return sets.with_member(members, x)
    members, others = together(members, _only(x, size, most), 0)
    return members | others


def without_member(size, most, members, x):
    """The set with `x` removed."""
    if is_known(members) and is_known(x):
        return sets.without_member(members, x)
    members, others = together(members, _only(x, size, most), 0)
    return members & ~others


def everybody(size, most, n):
    """The set of the ids 0 to n - 1."""
    if is_known(n):
        return sets.everybody(n)
    size = max(size, most)
    found = z3.BitVecVal(0, size)
    for i in range(1, most + 1):
        found = z3.If(n == i, z3.BitVecVal(sets.everybody(i), size), found)
    return found


def union(size, most, members, others):
    """The set of the ids that are in one of the sets."""
    if is_known(members) and is_known(others):
        return members | others
    members, others = together(members, others, 0)
    return members | others


def intersection(size, most, members, others):
    """The set of the ids that are in both sets."""
    if is_known(members) and is_known(others):
        return sets.intersection(members, others)
    members, others = together(members, others, 0)
    return members & others


def difference(size, most, members, others):
    """The set of the members that are not among the others."""
    if is_known(members) and is_known(others):
        return sets.difference(members, others)
    members, others = together(members, others, 0)
    return members & ~others


SYMBOLIC = {
    getattr(sets, function.__name__): function
    for function in (contains, is_empty, only, with_member, without_member, everybody, union, intersection, difference)
}
OF_NUMBERS = {sets.contains, sets.only, sets.with_member, sets.without_member, sets.everybody}
"""The functions whose last argument is an id, or the number of ids."""
