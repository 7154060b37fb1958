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
        lines = [*self._range_source(), "", "@njit", "def pack(s, words):", "    outside = False"]
        for i, leaf in enumerate(self.leaves):
            lines.append(f"    v{i} = np.uint64(np.int64(s.{leaf.expression}) - ({leaf.low}))")
            lines.append(f"    outside |= v{i} > np.uint64({leaf.high - leaf.low})")
        lines += ["    if outside:", "        return what_is_outside(s)"]
        numbers = {leaf.path: i for i, leaf in enumerate(self.leaves)}
        parts = {word: [f"np.uint64({MARK if word == 0 else 0})"] for word in range(self.words)}
        for place in self.places:
            parts[place.word].append(f"(v{numbers[place.leaf.path]} << np.uint64({place.shift}))")
        lines += [f"    words[{word}] = {' | '.join(terms)}" for word, terms in parts.items()]
        return "\n".join([*lines, "    return 0", ""])

    def _range_source(self):
        """Text of ``what_is_outside(s)``, the code of a leaf out of its range; leaves of bounds come first."""
        yield from ["@njit", "def what_is_outside(s):"]
        for i, leaf in sorted(enumerate(self.leaves), key=lambda numbered: numbered[1].bound is None):
            beyond = 1 + self.bounds.index(leaf.bound) if leaf.bound else -1 - i
            yield from [f"    if s.{leaf.expression} > {leaf.high}:", f"        return {beyond}"]
            yield f"    if s.{leaf.expression} < {leaf.low}:"
            yield f"        return {beyond if leaf.spare else -1 - i}"
        yield "    return 0"

    def unpack_source(self) -> str:
        """Text of ``unpack(words, s)``, which sets every leaf that is stored."""
        lines = ["@njit", "def unpack(words, s):"]
        for place in self.places:
            bits = f"(words[{place.word}] >> np.uint64({place.shift})) & np.uint64({place.mask})"
            lines.append(f"    s.{place.leaf.expression} = np.int64({bits}) + ({place.leaf.low})")
        fixed = [leaf for leaf in self.leaves if not leaf.spare and leaf.low == leaf.high]
        lines += [f"    s.{leaf.expression} = {leaf.low}" for leaf in fixed]
        return "\n".join([*lines, "    return 0", ""])
