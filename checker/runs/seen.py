"""What a partition has seen: a table in memory, and, when that may not grow any more, older states on disk."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from kafkaproof.checker.runs.older import Older
from kafkaproof.checker.runs.table import RUNNING, Table


class Seen:
    """The states that one partition has seen, of `words` words each, by whole levels.

    With a `path` the table is in that file. Its memory, in bytes, stays within `limit`; what does not fit is moved to a
    directory `beside` it. Both are a cache: they can be rebuilt from the levels of the run directory at any time.
    """

    def __init__(self, words: int, path: Path | None = None, limit: int | None = None, beside: Path | None = None):
        is_new = path is None or not path.exists()
        self.table = Table(words, path, limit)
        self._older = Older(beside, self.table.width, is_new) if limit is not None and beside else None

    @property
    def level(self) -> int:
        """The last level that is here as a whole, -1 for none, `RUNNING` while one is being taken."""
        return self.table.level

    @property
    def bytes(self) -> int:
        """Memory of the table, in bytes."""
        return self.table.bytes

    @property
    def on_disk(self) -> int:
        """What older states take on disk, in bytes."""
        return self._older.bytes if self._older else 0

    def take(self, level: int, parts: Iterable[np.ndarray]) -> np.ndarray:
        """The rows of `parts` that are new in `level`, shape (n, words + 1): states, and a word beside each."""
        taken, kept = [np.zeros((0, self.table.words + 1), np.uint64)], []

        def settle():
            rows = np.concatenate(taken)
            taken.clear()
            kept.append(rows[self._older.without(self.table.keys(rows))] if self._older else rows)

        self.table.level = RUNNING
        for rows in self._pieces(parts, settle):
            taken.append(rows[self.table.insert(rows)])
        settle()
        self.table.level = level
        return np.concatenate(kept)

    def know(self, level: int, parts: Iterable[np.ndarray]) -> None:
        """Take the states of complete levels, `level` the last; all are different, and none is here."""
        self.table.level = RUNNING
        for states in self._pieces(parts, lambda: None):
            self.table.insert(states)
        self.table.level = level

    def _pieces(self, parts, before_moving):
        """Pieces of parts that the table has room for. What it holds is moved whenever it is full."""
        for rows in parts:
            first = 0
            while first < len(rows):
                if self._older and not self.table.room:
                    before_moving()
                    self._older.add(*self.table.held())
                    self.table.clear()
                piece = rows[first : first + self.table.room] if self._older else rows
                first += len(piece)
                yield piece
