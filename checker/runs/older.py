"""Seen states that have no place in memory any more: on disk, in buckets by their hash.

New states are compared with them once in each level, all together (delayed duplicate detection: Korf, AAAI 2004). Each bucket
of new states gets a small hash table, and the old states of that bucket are read from beginning to end and looked up there.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from kafkaproof.checker.compile.native import native
from kafkaproof.checker.runs.memory import disk_errors_told, made
from kafkaproof.checker.runs.table import hash_at

BUCKETS = 1 << 10
SHIFT = 46
AT_ONCE = 1 << 16
"""So many old states are read at once, or a bucket, if that has more."""


@native
def _bucket(h):
    return np.int64((h >> np.uint64(SHIFT)) & np.uint64(BUCKETS - 1))


def _starts(rows, there, words):
    """Where each bucket begins if rows are put in the order of their buckets, shape (BUCKETS + 1,); of rows that are there."""
    counts = np.zeros(BUCKETS + 1, np.int64)
    _count(rows, there, words, counts[1:])
    return np.cumsum(counts)


@native
def _count(rows, there, words, counts):
    """Count the rows that are there in each bucket."""
    for i in range(len(rows)):
        if there[i] != 0:
            counts[_bucket(hash_at(rows, i, words))] += 1


@native
def _put(rows, there, at, ordered):
    """Copy the rows that are there to `ordered`, those of each bucket b from at[b] on, which goes on."""
    words = rows.shape[1]
    for i in range(len(rows)):
        if there[i] != 0:
            b = _bucket(hash_at(rows, i, words))
            for w in range(words):
                ordered[at[b], w] = rows[i, w]
            at[b] += 1


@native
def _order(rows, at, words, order):
    """Write the indices of rows in the order of their buckets, those of each bucket b from at[b] on, which goes on."""
    for i in range(len(rows)):
        b = _bucket(hash_at(rows, i, words))
        order[at[b]] = i
        at[b] += 1


@native
def _strike(old, rows, order, places, is_old):
    """Set `is_old` of each of the rows `order` that stands in `old`. `places` has a power of two of elements, all -1."""
    words, mask = old.shape[1], np.uint64(len(places) - 1)
    for k in range(len(order)):
        i = order[k]
        at = hash_at(rows, i, words) & mask
        while places[at] >= 0:
            at = (at + np.uint64(1)) & mask
        places[at] = i
    for k in range(len(old)):
        at = hash_at(old, k, words) & mask
        while places[at] >= 0:
            i = places[at]
            same = True
            for w in range(words):
                same &= rows[i, w] == old[k, w]
            if same:
                is_old[i] = True
                break
            at = (at + np.uint64(1)) & mask


class Older:
    """The states that were moved to `directory`, `words` of each; if it `is_new`, what stands there is deleted."""

    def __init__(self, directory: Path, words: int, is_new: bool):
        self.directory, self.words = directory, words
        if is_new:
            shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True, exist_ok=True)
        self._starts = [np.load(self._index(n)) for n in range(len(list(directory.glob("*.npy"))))]

    def _index(self, n):
        return self.directory / f"{n:04d}.npy"

    def _states(self, n):
        return self.directory / f"{n:04d}.states"

    @property
    def bytes(self) -> int:
        """What the states take on disk."""
        return sum(int(starts[-1]) for starts in self._starts) * self.words * 8

    def add(self, rows: np.ndarray, there: np.ndarray) -> None:
        """Move here the rows, shape (n, words), for which `there` is not 0. Raises UserError when the disk is full."""
        n, starts = len(self._starts), _starts(rows, there, self.words)
        shape = int(starts[-1]), self.words
        _put(rows, there, starts.copy(), made(shape[0] * shape[1], self._states(n)).reshape(shape))
        with disk_errors_told(self._index(n)):
            np.save(self._index(n), starts)
        self._starts.append(starts)

    def without(self, rows: np.ndarray) -> np.ndarray:
        """Whether each of the rows, shape (n, words), all different, is not here, shape (n,)."""
        is_old = np.zeros(len(rows), bool)
        if len(rows) and self._starts:
            starts = _starts(rows, np.ones(len(rows), np.uint8), self.words)
            order = np.empty(len(rows), np.int64)
            _order(rows, starts.copy(), self.words, order)
            for n, held in enumerate(self._starts):
                step = max(1, BUCKETS * AT_ONCE // max(1, int(held[-1])))
                with open(self._states(n), "rb") as file:
                    for first in range(0, BUCKETS, step):
                        end = min(first + step, BUCKETS)
                        self._ask(file, held[end] - held[first], rows, order[starts[first] : starts[end]], is_old)
        return ~is_old

    def _ask(self, file, count, rows, asked, is_old):
        """Go past the next `count` states of a file, and note which of the rows `asked` are among them."""
        if len(asked) and count:
            old = np.fromfile(file, np.uint64, count * self.words).reshape(-1, self.words)
            places = np.full(1 << (2 * len(asked)).bit_length(), -1, np.int64)
            _strike(old, rows, asked, places, is_old)
        else:
            file.seek(int(count) * self.words * 8, 1)
