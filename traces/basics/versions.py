"""The values that something had in the course of a log."""

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from typing import Generic, NamedTuple, TypeVar

import numpy as np

Value = TypeVar("Value")
NEVER = (1 << 63) - 1
"""The zxid of what does not happen in the log."""


class Version(NamedTuple, Generic[Value]):
    """A value and the zxid since which it stood."""

    zxid: int
    value: Value


class Versions(Generic[Value]):
    """The values that something had in the course of a log; `initial` before the first that was added."""

    def __init__(self, initial: Value):
        self._zxids, self._versions = array("q", [0]), [Version(0, initial)]

    def add(self, zxid: int, value: Value) -> None:
        """Note a new value; one that is equal to the present one is none."""
        if value != self._versions[-1].value:
            self._zxids.append(zxid)
            self._versions.append(Version(zxid, value))

    def at(self, zxid: int) -> Value:
        """The value after the record of that zxid."""
        return self._versions[bisect_right(self._zxids, zxid) - 1].value

    def __getitem__(self, place: int) -> Version[Value]:
        """The version at a place among all of them, the oldest first."""
        return self._versions[place]

    def places(self, first: int, last: int) -> slice:
        """Which of all versions stood at some time from zxid `first` to `last`."""
        return slice(bisect_right(self._zxids, first) - 1, bisect_right(self._zxids, last))

    def __iter__(self) -> Iterator[Version[Value]]:
        return iter(self._versions)

    def counts(self, zxids: np.ndarray) -> np.ndarray:
        """How many of all versions there have been up to each record."""
        return np.searchsorted(self._zxids, zxids, "right")

    def between(self, first: int, last: int) -> list[Version[Value]]:
        """The versions that stood at some time from zxid `first` to `last`, oldest first."""
        zxids = self._zxids
        return self._versions[bisect_right(zxids, first) - 1 : bisect_right(zxids, last)]
