"""The interval of a term holds all its values, and ends at some of them."""

from math import inf

import z3
from hypothesis import given
from hypothesis import strategies as st

from kafkaproof.checker.prove.intervals import interval

LEAVES = [z3.Int(name) for name in "ab"]
ENDS = st.integers(-3, 3)
RANGES = st.tuples(ENDS, ENDS).map(sorted)
TERMS = st.recursive(
    st.sampled_from(LEAVES) | ENDS.map(z3.IntVal),
    lambda parts: (
        st.builds(lambda a, b: a + b, parts, parts)
        | st.builds(lambda a, b: a - b, parts, parts)
        | st.builds(lambda a, b: a * b, parts, parts)
        | st.builds(lambda a, b: z3.If(a < b, a, b), parts, parts)
    ),
    max_leaves=6,
)


@given(TERMS, RANGES, RANGES)
def test_an_interval_holds_all_values(term, one, other):
    low, high = interval(term, dict(zip(LEAVES, (one, other))).get)
    for a in range(one[0], one[1] + 1):
        for b in range(other[0], other[1] + 1):
            at = z3.simplify(z3.substitute(term, (LEAVES[0], z3.IntVal(a)), (LEAVES[1], z3.IntVal(b)))).as_long()
            assert low <= at <= high


@given(RANGES, RANGES)
def test_of_two_leaves_the_ends_are_values(one, other):
    a, b = LEAVES
    for term, made in (a + b, lambda x, y: x + y), (a - b, lambda x, y: x - y), (a * b, lambda x, y: x * y):
        values = [made(x, y) for x in range(one[0], one[1] + 1) for y in range(other[0], other[1] + 1)]
        assert interval(term, {a: one, b: other}.get) == (min(values), max(values))


def test_what_has_no_end_stays_without_one_unless_it_is_taken_away():
    a, b = LEAVES
    endless = {a: (0, inf), b: (1, 2)}.get
    assert interval(a + b, endless) == (1, inf) and interval(a * b, endless) == (0, inf)
    assert interval(b - a, endless) == (-inf, 2) and interval(a * z3.IntVal(0), endless) == (0, 0)
    assert interval(z3.If(a < b, a, b), endless) == (0, inf)


def test_what_is_made_of_anything_else_has_none():
    a, b = LEAVES
    assert interval(a + z3.Int("other"), {a: (0, 1), b: (0, 1)}.get) is None
    assert interval(z3.BitVecVal(3, 4) - z3.BitVecVal(1, 4), {}.get) == (2, 2)
