"""Long packed states as single words, exactly: a balanced tree whose nodes are shared.

Each word of a state gets a number, so does each pair of numbers, and so on; the last pair stands for the state. States
of one model differ little from each other, so that there are few numbers. (Recursive state compression: Laarman, van de
Pol, Weber, "Parallel Recursive State Compression for Free", SPIN 2011.)
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.checker.compile.native import native
from kafkaproof.checker.runs.memory import found, made

HEADER_WORDS = 8
SMALLEST = 1 << 8
MOST = 1 << 32


@native
def _first_place(value, mask):
    h = value * np.uint64(0x9E3779B97F4A7C15)
    h ^= h >> np.uint64(32)
    h *= np.uint64(0xC4CEB9FE1A85EC53)
    return (h ^ (h >> np.uint64(29))) & mask


@native
def _number(values, places, used, wanted, first, numbers):
    """The numbers of wanted[first:], new ones included, until there is no room for one: (next index, numbers used)."""
    mask = np.uint64(len(places) - 1)
    for i in range(first, len(wanted)):
        if i > first and wanted[i] == wanted[i - 1]:
            numbers[i] = numbers[i - 1]
            continue
        at = _first_place(wanted[i], mask)
        while places[at] != 0 and values[places[at] - 1] != wanted[i]:
            at = (at + np.uint64(1)) & mask
        if places[at] == 0:
            if used == len(values):
                return i, used
            values[used] = wanted[i]
            used += 1
            places[at] = used
        numbers[i] = places[at] - 1
    return len(wanted), used


@native
def _place_again(values, places):
    mask = np.uint64(len(places) - 1)
    for n in range(len(values)):
        at = _first_place(values[n], mask)
        while places[at] != 0:
            at = (at + np.uint64(1)) & mask
        places[at] = n + 1


class Numbers:
    """Numbers from 0 on for 64-bit values, in memory or in the file `path`; a value keeps its number."""

    def __init__(self, path: Path | None):
        self._path = path
        self._view(found(path) if path is not None and path.exists() else self._made(SMALLEST))

    def _made(self, capacity):
        return made(HEADER_WORDS + 2 * capacity, self._path)

    def _view(self, whole):
        self._whole, self._header = whole, whole[:HEADER_WORDS].view(np.int64)
        rest = np.asarray(whole[HEADER_WORDS:])
        self._values, self._places = rest[: len(rest) // 2], rest[len(rest) // 2 :].view(np.uint32)

    @property
    def bytes(self) -> int:
        """Memory, in bytes."""
        return self._whole.nbytes

    def of(self, values: np.ndarray) -> np.ndarray:
        """The numbers of values, shape (n,). Raises UserError when there are too many."""
        numbers, first = np.empty(len(values), np.uint64), 0
        while True:
            first, used = _number(self._values, self._places, self._header[0], values, first, numbers)
            self._header[0] = used
            if first == len(values):
                return numbers
            self._grow()

    def _grow(self):
        values = self._values
        if 2 * len(values) >= MOST:
            raise UserError(f"a part of the states has {len(values):,} values, more than can be numbered")
        self._view(self._made(2 * len(values)))
        self._header[0] = len(values)
        self._values[: len(values)] = values
        _place_again(values, self._places)


class Tree:
    """Words for states of `words` words each; its numbers are in memory, or in files whose names begin with `path`."""

    def __init__(self, words: int, path: Path | None):
        self.words = words
        paths = (path and path.with_name(f"{path.name}-{n}") for n in range(2 * words - 2))
        self._numbers = [Numbers(each) for each in paths]

    @property
    def bytes(self) -> int:
        """Memory, in bytes."""
        return sum(numbers.bytes for numbers in self._numbers)

    def keys(self, rows: np.ndarray) -> np.ndarray:
        """A word for each packed state, shape (n, at least words): different ones for different states; shape (n, 1)."""
        numbers = iter(self._numbers)
        columns = [next(numbers).of(np.ascontiguousarray(rows[:, w])) for w in range(self.words)]
        while len(columns) > 2:
            pairs = [_pair(*columns[i : i + 2]) for i in range(0, len(columns) - 1, 2)]
            columns = [next(numbers).of(pair) for pair in pairs] + columns[2 * len(pairs) :]
        return _pair(*columns).reshape(-1, 1)


def _pair(left, right):
    return left << np.uint64(32) | right
