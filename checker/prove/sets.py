"""The functions of `spec.language.sets` over bit vectors; an id may be a symbol."""

from __future__ import annotations

import z3

from checker.prove.terms import as_set, conjunction, disjunction, is_known
from spec.language import sets


def _only(x, size):
    """The set with `x` alone, for an id that is known or not."""
    if is_known(x):
        return z3.BitVecVal(1 << x, size) if x >= 0 else z3.BitVecVal(0, size)
    found = z3.BitVecVal(0, size)
    for i in range(size):
        found = z3.If(x == i, z3.BitVecVal(1 << i, size), found)
    return found


def contains(size, members, x):
    """Whether `x` is in the set."""
    if is_known(members):
        return sets.contains(members, x) if is_known(x) else disjunction(
            x == i for i in range(size) if sets.contains(members, i))
    members = _set(members, size)
    ids = range(members.size())
    if is_known(x):
        return z3.Extract(x, x, members) == 1 if x in ids else False
    return disjunction(conjunction([x == i, z3.Extract(i, i, members) == 1]) for i in ids)


def _set(members, size):
    return as_set(members, members.size() if z3.is_bv(members) else size)


def is_empty(size, members):
    """Whether the set has no member."""
    return members == 0


def only(size, x):
    """The set with `x` alone."""
    return sets.only(x) if is_known(x) else _only(x, size)


def with_member(size, members, x):
    """The set with `x` added."""
    if is_known(members) and is_known(x):
        return sets.with_member(members, x)
    members = _set(members, size)
    return members | _only(x, members.size())


def without_member(size, members, x):
    """The set with `x` removed."""
    if is_known(members) and is_known(x):
        return sets.without_member(members, x)
    members = _set(members, size)
    return members & ~_only(x, members.size())


def everybody(size, n):
    """The set of the ids 0 to n - 1."""
    return sets.everybody(n)


def _both(size, members, others):
    """Two sets as terms of one width."""
    width = max([v.size() for v in (members, others) if z3.is_bv(v)], default=size)
    return as_set(members, width), as_set(others, width)


def union(size, members, others):
    """The set of the ids that are in one of the sets."""
    if is_known(members) and is_known(others):
        return members | others
    members, others = _both(size, members, others)
    return members | others


def intersection(size, members, others):
    """The set of the ids that are in both sets."""
    if is_known(members) and is_known(others):
        return sets.intersection(members, others)
    members, others = _both(size, members, others)
    return members & others


def difference(size, members, others):
    """The set of the members that are not among the others."""
    if is_known(members) and is_known(others):
        return sets.difference(members, others)
    members, others = _both(size, members, others)
    return members & ~others


SYMBOLIC = {
    getattr(sets, function.__name__): function
    for function in (
        contains, is_empty, only, with_member, without_member, everybody, union, intersection, difference,
    )
    if hasattr(sets, function.__name__)
}
