"""The states that a partition has seen: an open-addressing hash table of packed states.

Exact while a state fits `EXACT_WORDS`; beyond that the table holds 64-bit fingerprints. A table lives in
memory, or in a file that all Python workers of one executor map; it is a cache, and can be rebuilt from
the levels of the run directory at any time.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numba import njit

EXACT_WORDS = 6
LOAD = 0.75
HEADER_WORDS = 8
SMALLEST = 1 << 14
RUNNING = -2
KEY_BITS = 44
STEP_BITS = 20


@njit(cache=True)
def hash_at(rows, i, words):
    """A 64-bit hash of the packed state in the first `words` words of rows[i]."""
    h = np.uint64(0x9E3779B97F4A7C15)
    for w in range(words):
        h ^= rows[i, w]
        h *= np.uint64(0xFF51AFD7ED558CCD)
        h ^= h >> np.uint64(32)
        h *= np.uint64(0xC4CEB9FE1A85EC53)
        h ^= h >> np.uint64(29)
    return h


@njit(cache=True)
def hashes_of(states):
    """The 64-bit hash of each packed state, shape (n,)."""
    hashes = np.empty(len(states), np.uint64)
    for i in range(len(states)):
        hashes[i] = hash_at(states, i, states.shape[1])
    return hashes


@njit(cache=True)
def keys_of(states):
    """The 44-bit keys by which successors name their parents, shape (n,)."""
    keys = np.empty(len(states), np.uint64)
    for i in range(len(states)):
        keys[i] = hash_at(states, i, states.shape[1]) >> np.uint64(64 - KEY_BITS)
    return keys


@njit(cache=True)
def owner_of(h, partitions):
    """The partition that owns the states of hash `h`."""
    return (h >> np.uint64(40)) % np.uint64(partitions)


@njit(cache=True)
def owners_of(states, partitions):
    """The partition that owns each packed state, shape (n,)."""
    owners = np.empty(len(states), np.int64)
    for i in range(len(states)):
        owners[i] = owner_of(hash_at(states, i, states.shape[1]), partitions)
    return owners


@njit(cache=True)
def _insert(tags, slots, used, limit, rows, words, first, fresh):
    """Insert rows[first:]; fills `fresh` with the indices of new ones. Returns (next row, number new)."""
    found, mask, width = 0, np.uint64(len(slots) - 1), slots.shape[1]
    for i in range(first, len(rows)):
        if used + found >= limit:
            return i, found
        h = hash_at(rows, i, words)
        head = rows[i, 0] if width == words else h
        tag, at, seen = tag_of(h), h & mask, False
        while tags[at] != 0:
            if tags[at] == tag:
                seen = slots[at, 0] == head
                for w in range(1, width):
                    seen &= slots[at, w] == rows[i, w]
                if seen:
                    break
            at = (at + np.uint64(1)) & mask
        if not seen:
            tags[at] = tag
            slots[at, 0] = head
            for w in range(1, width):
                slots[at, w] = rows[i, w]
            fresh[found] = i
            found += 1
    return len(rows), found


@njit(cache=True)
def tag_of(h):
    """Seven bits of a hash, and the bit that marks a used slot."""
    return np.uint8((h >> np.uint64(57)) | np.uint64(128))


@njit(cache=True)
def _reinsert(old_tags, old, tags, slots, exact_words):
    mask, width = np.uint64(len(slots) - 1), slots.shape[1]
    for i in range(len(old)):
        if old_tags[i] != 0:
            h = hash_at(old, i, exact_words) if exact_words else old[i, 0]
            at = h & mask
            while tags[at] != 0:
                at = (at + np.uint64(1)) & mask
            tags[at] = old_tags[i]
            for w in range(width):
                slots[at, w] = old[i, w]


class Table:
    """Seen states of one partition. `level` is the last level that is in it as a whole (-1: none).

    While a level is being inserted, `level` is `RUNNING`, so that a table that a killed task left behind
    is never trusted.
    """

    def __init__(self, words: int, path: Path | None = None):
        self.words, self.path = words, path
        self.exact = words <= EXACT_WORDS
        self._width = words if self.exact else 1
        if path is not None and path.exists():
            self._map(path)
        else:
            self._allocate(SMALLEST)
            self.level = -1

    def _allocate(self, capacity):
        size = HEADER_WORDS + capacity // 8 + capacity * self._width
        if self.path is None:
            self._whole = np.zeros(size, np.uint64)
            self._view()
        else:
            fresh = self.path.with_suffix(".new")
            with open(fresh, "wb") as file:  # a mapped file without room would kill the process later
                os.posix_fallocate(file.fileno(), 0, size * 8)
            self._map(fresh)
            fresh.replace(self.path)

    def _map(self, path):
        self._whole = np.memmap(path, np.uint64, "r+")
        self._view()

    def _view(self):
        self._header = self._whole[:HEADER_WORDS].view(np.int64)
        rest = np.asarray(self._whole[HEADER_WORDS:])
        capacity = len(rest) * 8 // (8 * self._width + 1)
        self._tags = rest[: capacity // 8].view(np.uint8)
        self._slots = rest[capacity // 8 :].reshape(-1, self._width)

    @property
    def level(self) -> int:
        """The last level inserted as a whole, `RUNNING` while one is being inserted."""
        return int(self._header[0]) - 1

    @level.setter
    def level(self, value: int):
        self._header[0] = value + 1

    @property
    def states(self) -> int:
        """How many states the table holds."""
        return int(self._header[1])

    @property
    def bytes(self) -> int:
        """Memory of the table, in bytes."""
        return self._whole.nbytes

    def insert(self, rows: np.ndarray) -> np.ndarray:
        """Insert packed states, shape (n, at least words); returns the indices of those not seen before."""
        fresh, first, kept = np.empty(len(rows), np.int64), 0, []
        while first < len(rows):
            limit = int(len(self._slots) * LOAD)
            first, found = _insert(self._tags, self._slots, self.states, limit, rows, self.words, first, fresh)
            self._header[1] += found
            kept.append(fresh[:found].copy())
            if first < len(rows):
                self._grow()
        return np.concatenate(kept) if kept else fresh

    def _grow(self):
        tags, old, header = self._tags, self._slots, self._header.copy()
        self._allocate(len(old) * 2)
        self._header[:] = header
        _reinsert(tags, old, self._tags, self._slots, self.words if self.exact else 0)


def miss_probability(states: int, exact: bool) -> float:
    """An upper bound on the probability that two of `states` share a 64-bit fingerprint."""
    return 0.0 if exact else min(1.0, states * (states - 1) / 2.0 / 2.0**64)
