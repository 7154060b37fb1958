"""Packed states numbered in the order in which they were first seen, and the values of their fields."""

from __future__ import annotations

import numpy as np

from kafkaproof.checker.compile.kernel import Kernel
from kafkaproof.checker.model.fields import fields_of


class Numbered:
    """Numbers packed states of `words` words; `rows` holds them by number."""

    def __init__(self, words: int):
        self._numbers: dict[bytes, int] = {}
        self._width = 8 * words
        self._rows = np.zeros((1024, words), np.uint64)

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def rows(self) -> np.ndarray:
        """All states, shape (n, words)."""
        return self._rows[: len(self)]

    def numbers(self, states: np.ndarray) -> np.ndarray:
        """The numbers of packed states, shape (n, words); a new state gets the next number."""
        known, numbers, width = len(self), self._numbers, self._width
        data = np.ascontiguousarray(states).tobytes()
        keys = (data[at : at + width] for at in range(0, len(data), width))
        found = np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)
        while len(self) > len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        each, first = np.unique(found, return_index=True)
        fresh = each >= known
        self._rows[each[fresh]] = states[first[fresh]]
        return found


def field_values(kernel: Kernel, names: list[str], states: np.ndarray) -> np.ndarray:
    """The values of some fields in packed states, shape (n, number of fields). Raises UserError for a wrong name."""
    paths = fields_of(kernel.model.state, kernel.scope, names).places[0] if names else ()
    leaves = {leaf.path: leaf for leaf in kernel.packing.leaves}
    places = {place.leaf.path: place for place in kernel.packing.places}
    found = np.empty((len(states), len(paths)), np.int64)
    for column, path in enumerate(paths):
        found[:, column] = leaves[path].low
        if path in places:
            place = places[path]
            bits = states[:, place.word] >> np.uint64(place.shift) & np.uint64(place.mask)
            found[:, column] += bits.astype(np.int64)
    return found
