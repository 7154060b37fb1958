"""The functions of `kafkaproof.spec.language.sets` over arrays of truths: sets of ids of an unbounded sort."""

from __future__ import annotations

import z3

from kafkaproof.checker.prove.terms import as_set
from kafkaproof.spec.language import sets


def contains(members, x):
    """Whether `x` is in the set."""
    return z3.Select(as_set(members, None), x)


def is_empty(members):
    """Whether the set has no member."""
    return as_set(members, None) == as_set(0, None)


def only(x):
    """The set with `x` alone."""
    return with_member(0, x)


def with_member(members, x):
    """The set with `x` added."""
    return z3.Store(as_set(members, None), x, True)


def without_member(members, x):
    """The set with `x` removed."""
    return z3.Store(as_set(members, None), x, False)


def union(members, others):
    """The set of the ids that are in one of the sets."""
    return z3.SetUnion(as_set(members, None), as_set(others, None))


def intersection(members, others):
    """The set of the ids that are in both sets."""
    return z3.SetIntersect(as_set(members, None), as_set(others, None))


def difference(members, others):
    """The set of the members that are not among the others."""
    return z3.SetDifference(as_set(members, None), as_set(others, None))


SYMBOLIC = {
    getattr(sets, function.__name__): function
    for function in (contains, is_empty, only, with_member, without_member, union, intersection, difference)
}
