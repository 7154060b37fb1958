"""What a small run has seen: a set of its states, for which nothing must be loaded or compiled."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import numpy as np


class Few:
    """The states that a run of one partition has seen, of `words` words each."""

    on_disk = 0

    def __init__(self, words: int):
        self._words, self._states = words, set[bytes]()

    @property
    def bytes(self) -> int:
        """About the memory of the states, in bytes."""
        return sys.getsizeof(self._states) + len(self._states) * sys.getsizeof(bytes(8 * self._words))

    def take(self, level: int, parts: Iterable[np.ndarray]) -> np.ndarray:
        """The rows of `parts` that are new in `level`, shape (n, words + 1): states, and a word beside each."""
        kept = [np.zeros((0, self._words + 1), np.uint64)]
        for rows in parts:
            fresh = []
            for i, state in enumerate(self._keys(rows)):
                if state not in self._states:
                    self._states.add(state)
                    fresh.append(i)
            kept.append(rows[fresh])
        return np.concatenate(kept)

    def know(self, level: int, parts: Iterable[np.ndarray]) -> None:
        """Take the states of complete levels, `level` the last; all are different, and none is here."""
        for states in parts:
            self._states.update(self._keys(states))

    def _keys(self, rows):
        states = np.ascontiguousarray(rows[:, : self._words])
        return states.view(f"V{states.itemsize * self._words}").ravel().tolist()
