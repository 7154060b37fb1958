"""The packed form of a state: all leaves side by side in 64-bit words, and the code that packs them.

The top bit of the first word is always 1, so that an empty slot of a hash table is a word of 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spec.language.layout import Leaf
from spec.language.plain import Plain, get

WORD = 64
MARK = 1 << 63


@dataclass(frozen=True)
class Place:
    """Where a leaf is packed: its word, the shift to its lowest bit, and its mask."""

    leaf: Leaf
    word: int
    shift: int
    mask: int


class Packing:
    """The places of all leaves that are stored, in `words` words of 64 bits."""

    def __init__(self, leaves: list[Leaf]):
        self.leaves = leaves
        self.places: list[Place] = []
        word, used = 0, 1
        for leaf in leaves:
            width = 0 if leaf.spare else (leaf.high - leaf.low).bit_length()
            if used + width > WORD:
                word, used = word + 1, 0
            if width:
                used += width
                self.places.append(Place(leaf, word, WORD - used, (1 << width) - 1))
        self.words = word + 1
        self.bits = sum(p.mask.bit_length() for p in self.places)
        self.bounds = sorted({leaf.bound for leaf in leaves if leaf.bound})

    def pack(self, state: Plain) -> np.ndarray:
        """A plain state, packed: shape (words,), uint64."""
        words = [MARK] + [0] * (self.words - 1)
        for place in self.places:
            words[place.word] |= (get(state, place.leaf.path) - place.leaf.low) << place.shift
        return np.array(words, np.uint64)

    def unpack(self, words: np.ndarray) -> list[int]:
        """The values of all leaves, in order, of a packed state."""
        found = {p.leaf.path: int(words[p.word]) >> p.shift & p.mask for p in self.places}
        return [leaf.low + found.get(leaf.path, 0) for leaf in self.leaves]

    def pack_source(self) -> str:
        """Text of ``pack(s, words)``: 0 when packed, -1 - i when leaf i is out of its range.

        A return of 1 + i says that bound i (an index into `bounds`) was left.
        """
        lines = ["@njit(cache=True)", "def pack(s, words):"]
        for i, leaf in sorted(enumerate(self.leaves), key=lambda numbered: numbered[1].bound is None):
            lines += [f"    v{i} = np.int64(s.{leaf.expression})", *self._range_test(i, leaf)]
        places = {place.leaf.path: place for place in self.places}
        parts: dict[int, list[str]] = {word: [] for word in range(self.words)}
        for i, leaf in enumerate(self.leaves):
            if leaf.path in places:
                place = places[leaf.path]
                parts[place.word].append(f"(np.uint64(v{i} - ({leaf.low})) << np.uint64({place.shift}))")
        for word, terms in parts.items():
            first = f"np.uint64({MARK})" if word == 0 else "np.uint64(0)"
            lines.append(f"    words[{word}] = " + " | ".join([first, *terms]))
        return "\n".join([*lines, "    return 0", ""])

    def _range_test(self, i, leaf):
        beyond = 1 + self.bounds.index(leaf.bound) if leaf.bound else -1 - i
        below = beyond if leaf.spare else -1 - i
        lines = [f"    if v{i} > {leaf.high}:", f"        return {beyond}"]
        return [*lines, f"    if v{i} < {leaf.low}:", f"        return {below}"]

    def unpack_source(self) -> str:
        """Text of ``unpack(words, s)``, which sets every leaf that is stored."""
        lines = ["@njit(cache=True)", "def unpack(words, s):"]
        for place in self.places:
            bits = f"(words[{place.word}] >> np.uint64({place.shift})) & np.uint64({place.mask})"
            lines.append(f"    s.{place.leaf.expression} = np.int64({bits}) + ({place.leaf.low})")
        fixed = [leaf for leaf in self.leaves if not leaf.spare and leaf.low == leaf.high]
        lines += [f"    s.{leaf.expression} = {leaf.low}" for leaf in fixed]
        return "\n".join([*lines, "    return 0", ""])
