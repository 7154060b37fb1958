"""Choices that Hypothesis makes, and shrinks: to the first of several, to the least, to no."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from hypothesis import strategies as st


@cache
def _below(n: int):
    return st.integers(0, n - 1)


class Choices:
    """Draws what a program is made of."""

    def __init__(self, draw: Callable):
        self._draw = draw

    def number(self, low: int, high: int) -> int:
        """A number from `low` to `high`, both included."""
        return low if low == high else low + self._draw(_below(high - low + 1))

    def one(self, options: Sequence):
        """One of some options."""
        return options[self.number(0, len(options) - 1)]

    def chance(self, percent: int) -> bool:
        """True in so many of a hundred cases."""
        return self.number(0, 99) >= 100 - percent

    def weighted(self, options: Sequence[tuple[int, object]]):
        """One of some (weight, option)."""
        at = self.number(0, sum(weight for weight, _ in options) - 1)
        for weight, option in options:
            at -= weight
            if at < 0:
                return option
        raise AssertionError("no option left")
