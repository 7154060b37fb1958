"""Values that are met again and again: to find what is remembered of them takes no comparison."""

from functools import lru_cache
from typing import Generic, TypeVar

Value = TypeVar("Value")
_REMEMBERED = 100_000


class Known(Generic[Value]):
    """Stands for a `value`: `known` gives the same object for equal ones, as long as it is remembered."""

    __slots__ = ("value",)

    def __init__(self, value: Value):
        self.value = value


@lru_cache(_REMEMBERED)
def known(value: Value) -> Known[Value]:
    """What stands for a value."""
    return Known(value)
