"""Routing successors to their owners, in blocks of rows: a packed state and the word (parent, step)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafkaproof.checker.compile.native import native
from kafkaproof.checker.runs.table import STEP_BITS, hash_at, owner_of

RECENT = 1 << 12
BLOCK_ROWS = 1 << 14


@native
def _route(out, origins, numbers, keys, first, recent, blocks, fill):
    """Copy out[first:] into the owners' blocks, without recently sent states; stops when a block is full."""
    words, room = out.shape[1], blocks.shape[1]
    mask = np.uint64(len(recent) - 1)
    for i in range(first, len(out)):
        h = hash_at(out, i, words)
        at = h & mask
        same = True
        for w in range(words):
            same &= recent[at, w] == out[i, w]
        if same:
            continue
        owner = owner_of(h, len(blocks))
        row = fill[owner]
        if row == room:
            return i
        for w in range(words):
            recent[at, w] = out[i, w]
            blocks[owner, row, w] = out[i, w]
        blocks[owner, row, words] = keys[origins[i]] << np.uint64(STEP_BITS) | np.uint64(numbers[i])
        fill[owner] += 1
    return len(out)


class Router:
    """Collects the successors of one partition in one level into a block for each owner.

    It drops a successor that it sent recently *in this level*. To drop what an earlier level sent would be
    unsafe when Spark repeats that level.
    """

    def __init__(self, words: int, partitions: int):
        rows = max(256, BLOCK_ROWS // partitions)
        self._recent = np.zeros((RECENT, words), np.uint64)
        self._blocks = np.zeros((partitions, rows, words + 1), np.uint64)
        self._fill = np.zeros(partitions, np.int64)

    def send(self, out, origins, numbers, keys) -> Iterator[tuple[int, bytes]]:
        """Route one batch of an expansion; yields (owner, block) for each block that is full."""
        first = 0
        while first < len(out):
            first = _route(out, origins, numbers, keys, first, self._recent, self._blocks, self._fill)
            if first < len(out):
                yield from self._flush(self._fill == self._blocks.shape[1])

    def rest(self) -> Iterator[tuple[int, bytes]]:
        """The blocks that remain at the end of the level."""
        yield from self._flush(self._fill > 0)

    def _flush(self, which):
        for owner in np.flatnonzero(which):
            yield int(owner), self._blocks[owner, : self._fill[owner]].tobytes()
            self._fill[owner] = 0


class Single:
    """Collects the successors of a small run, which has one owner, without machine code."""

    def send(self, out, origins, numbers, keys) -> Iterator[tuple[int, bytes]]:
        """Yields a batch of an expansion as a block."""
        links = keys[origins] << np.uint64(STEP_BITS) | numbers.astype(np.uint64)
        yield 0, np.column_stack((out, links)).tobytes()

    def rest(self) -> Iterator[tuple[int, bytes]]:
        """Nothing remains."""
        return iter(())


def rows_of(block: bytes, words: int) -> np.ndarray:
    """The rows of a block, shape (n, words + 1), read-only."""
    return np.frombuffer(block, np.uint64).reshape(-1, words + 1)
