"""The values that something had in the course of a log."""

from bisect import bisect_left, bisect_right
from typing import Generic, NamedTuple, TypeVar

Value = TypeVar("Value")


class Version(NamedTuple):
    """A value and the zxid since which it stood."""

    zxid: int
    value: object


class Versions(Generic[Value]):
    """The values that something had in the course of a log; `initial` before the first that was added."""

    def __init__(self, initial: Value):
        self._zxids, self._values = [0], [initial]

    def add(self, zxid: int, value: Value) -> None:
        """Note a new value; one that is equal to the present one is none."""
        if value != self._values[-1]:
            self._zxids.append(zxid)
            self._values.append(value)

    def at(self, zxid: int) -> Value:
        """The value after the record of that zxid."""
        return self._values[bisect_right(self._zxids, zxid) - 1]

    def between(self, first: int, last: int) -> list[Version]:
        """The versions that stood at some time from zxid `first` to `last`, oldest first."""
        begin, end = bisect_right(self._zxids, first) - 1, bisect_right(self._zxids, last)
        return [Version(*pair) for pair in zip(self._zxids[begin:end], self._values[begin:end])]
