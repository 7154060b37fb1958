"""Sets of ids as bit masks: the one place with bit operators, replaced as a whole by the prover."""


def contains(members, x):
    """Whether id `x` (not nobody) is in the set."""
    return (members >> x) & 1 == 1


def is_empty(members):
    """Whether the set has no member."""
    return members == 0


def only(x):
    """The set with `x` alone."""
    return 1 << x


def with_member(members, x):
    """The set with `x` added."""
    return members | (1 << x)


def without_member(members, x):
    """The set with `x` removed."""
    return members & ~(1 << x)


def everybody(n):
    """The set of the ids 0 to n - 1."""
    return (1 << n) - 1


def union(members, others):
    """The set of the ids that are in at least one of both sets."""
    return members | others


def intersection(members, others):
    """The set of the ids that are in both sets."""
    return members & others


def difference(members, others):
    """The set of the members that are not among the others."""
    return members & ~others
