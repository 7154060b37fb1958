"""The states that a partition has seen: an open-addressing hash table of packed states.

A state of more than `WHOLE_WORDS` is held as the word that a tree gives it. A table lives in memory, or in files that all
Python workers of one executor map; it is a cache, and can be rebuilt from the levels of the run directory at any time.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kafkaproof.checker.compile.native import native
from kafkaproof.checker.runs.memory import found, made
from kafkaproof.checker.runs.tree import Tree

WHOLE_WORDS = 5
LOAD = 0.75
HEADER_WORDS = 8
SMALLEST = 1 << 14
RUNNING = -2
AHEAD = 32
"""The slots of so many states are read together, before the states are looked up."""
BLOCK = 1 << 14
"""So many states are hashed at once: they fit into the processor's cache."""
KEY_BITS = 44
STEP_BITS = 20


@native
def hash_at(rows, i, words):
    """A 64-bit hash of the packed state in the first `words` words of rows[i]; of all, where `i` is a slice in plain Python."""
    h = np.uint64(0x9E3779B97F4A7C15)
    for w in range(words):
        h ^= rows[i, w]
        h *= np.uint64(0xFF51AFD7ED558CCD)
        h ^= h >> np.uint64(32)
        h *= np.uint64(0xC4CEB9FE1A85EC53)
        h ^= h >> np.uint64(29)
    return h


def hashes_of(states):
    """The 64-bit hash of each packed state, shape (n,)."""
    hashes = np.empty(len(states), np.uint64)
    for first in range(0, len(states), BLOCK):
        some = slice(first, first + BLOCK)
        hashes[some] = hash_at.plain(states[some], slice(None), states.shape[1])
    return hashes


def keys_of(states):
    """The 44-bit keys by which successors name their parents, shape (n,)."""
    return hashes_of(states) >> np.uint64(64 - KEY_BITS)


@native
def owner_of(h, partitions):
    """The partition that owns the states of hash `h`."""
    return (h >> np.uint64(40)) % np.uint64(partitions)


def owners_of(states, partitions):
    """The partition that owns each packed state, shape (n,)."""
    return owner_of.plain(hashes_of(states), partitions).astype(np.int64)


@native
def _insert(tags, slots, used, limit, rows, first, fresh, ahead):
    """Insert rows[first:]; fills `fresh` with the indices of new ones. Returns (next row, number new).

    Some rows are taken at a time. Their hashes go to `ahead`, and their slots are read together first, so that memory is
    waited for once. What was read is written to the last word of `ahead`: LLVM leaves out reads that nothing needs.
    """
    new, mask, width, some = 0, np.uint64(len(slots) - 1), slots.shape[1], len(ahead) - 1
    for begin in range(first, len(rows), some):
        count, read = min(some, len(rows) - begin), np.uint64(0)
        for i in range(count):
            ahead[i] = hash_at(rows, begin + i, width)
        for i in range(count):
            read += np.uint64(tags[ahead[i] & mask])
        for i in range(count):
            read += slots[ahead[i] & mask, 0]
        ahead[some] = read
        for i in range(begin, begin + count):
            if used + new >= limit:
                return i, new
            h = ahead[i - begin]
            tag, at, seen = tag_of(h), h & mask, False
            while tags[at] != 0:
                if tags[at] == tag:
                    seen = True
                    for w in range(width):
                        seen &= slots[at, w] == rows[i, w]
                    if seen:
                        break
                at = (at + np.uint64(1)) & mask
            if not seen:
                tags[at] = tag
                for w in range(width):
                    slots[at, w] = rows[i, w]
                fresh[new] = i
                new += 1
    return len(rows), new


@native
def tag_of(h):
    """Seven bits of a hash, and the bit that marks a used slot."""
    return np.uint8((h >> np.uint64(57)) | np.uint64(128))


@native
def _reinsert(old_tags, old, tags, slots):
    mask, width = np.uint64(len(slots) - 1), slots.shape[1]
    for i in range(len(old)):
        if old_tags[i] != 0:
            at = hash_at(old, i, width) & mask
            while tags[at] != 0:
                at = (at + np.uint64(1)) & mask
            tags[at] = old_tags[i]
            for w in range(width):
                slots[at, w] = old[i, w]


class Table:
    """Seen states of one partition. `level` is the last level that is in it as a whole (-1: none).

    While a level is being inserted, `level` is `RUNNING`, so that a table that a killed task left behind
    is never trusted. With a `limit`, in bytes, there is `room` for as many states as fit within it.
    """

    def __init__(self, words: int, path: Path | None = None, limit: int | None = None):
        self.words, self._path, self._limit = words, path, limit
        self._tree = Tree(words, path) if words > WHOLE_WORDS else None
        self.width = 1 if self._tree else words
        if path is not None and path.exists():
            self._view(found(path))
        else:
            self._view(self._made(SMALLEST))
            self.level = -1

    def _made(self, capacity):
        return made(self._size(capacity) // 8, self._path)

    def _size(self, capacity):
        """Bytes of a table of this capacity."""
        return 8 * (HEADER_WORDS + capacity // 8 + capacity * self.width)

    def _view(self, whole):
        self._whole, self._header = whole, whole[:HEADER_WORDS].view(np.int64)
        rest = np.asarray(whole[HEADER_WORDS:])
        capacity = len(rest) * 8 // (8 * self.width + 1)
        self._tags = rest[: capacity // 8].view(np.uint8)
        self._slots = rest[capacity // 8 :].reshape(-1, self.width)

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
        return self._whole.nbytes + (self._tree.bytes if self._tree else 0)

    @property
    def room(self) -> int:
        """How many states can be inserted before the table, while it grows, takes more than its limit; there is one."""
        capacity = SMALLEST
        while 3 * self._size(capacity) <= self._limit:  # the old table is there until all is in one of twice its size
            capacity *= 2
        return max(0, int(max(capacity, len(self._slots)) * LOAD) - self.states)

    def held(self) -> tuple[np.ndarray, np.ndarray]:
        """All slots, shape (n, width), and for each whether it holds a state (not 0), shape (n,)."""
        return self._slots, self._tags

    def keys(self, rows: np.ndarray) -> np.ndarray:
        """What the table holds of packed states, shape (n, width): the states, or a word for each."""
        return self._tree.keys(rows) if self._tree else rows[:, : self.words]

    def clear(self) -> None:
        """Forget all states."""
        self._tags[:] = 0
        self._header[1] = 0

    def insert(self, rows: np.ndarray) -> np.ndarray:
        """Insert packed states, shape (n, at least words); returns the indices of those not seen before."""
        fresh, first, kept = np.empty(len(rows), np.int64), 0, []
        keys, ahead = self.keys(rows), np.zeros(AHEAD + 1, np.uint64)
        while first < len(rows):
            limit = int(len(self._slots) * LOAD)
            first, new = _insert(self._tags, self._slots, self.states, limit, keys, first, fresh, ahead)
            self._header[1] += new
            kept.append(fresh[:new].copy())
            if first < len(rows):
                self._grow()
        return np.concatenate(kept) if kept else fresh

    def _grow(self):
        tags, old, header = self._tags, self._slots, self._header.copy()
        self._view(self._made(len(old) * 2))
        self._header[:] = header
        _reinsert(tags, old, self._tags, self._slots)
