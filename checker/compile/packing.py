"""The packed form of a state: all leaves side by side in 64-bit words; and the code that packs them.

The top bit of the first word is always 1, so that an empty slot of a hash table is a word of 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from kafkaproof.spec.language.layout import Leaf
from kafkaproof.spec.language.plain import Plain, get

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
        self._firsts = [0]
        word, used = 0, 1
        for i, leaf in enumerate(leaves):
            width = _width(leaf)
            if used + width > WORD:
                word, used = word + 1, 0
                self._firsts.append(i)
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
        """Text of ``pack(t, s, before, words)``, which packs `t`: 0 when packed, -1 - i when leaf i is out of its range.

        It returns 1 + i if bound i (an index into `bounds`) is exceeded. `s` is a state, and `before` its packed form: a
        word none of whose leaves differ is taken from there.
        """
        return "\n".join(["def pack(t, s, before, words):", *self._by_words(self._pack_word, self._keep_word), ""])

    def within_source(self) -> str:
        """Text of ``within(t, s)``, which returns what `pack` would, without packing."""
        return "\n".join(["def within(t, s):", *self._by_words(lambda word: (), lambda word: ()), ""])

    def _by_words(self, changed, unchanged):
        """Statements for each word: those of `changed` after a test of its range, or those of `unchanged`."""
        for word, (first, end) in enumerate(pairwise([*self._firsts, len(self.leaves)])):
            yield f"    if not unchanged(t, s, {first}, {end - first}):"
            yield from _range_test(self.leaves[first:end])
            yield from changed(word)
            if kept := list(unchanged(word)):
                yield from ["    else:", *kept]
        yield "    return 0"

    def _pack_word(self, word):
        places = (p for p in self.places if p.word == word)
        terms = (f"(t.{p.leaf.expression} - ({p.leaf.low}) << {p.shift})" for p in places)
        yield f"        words[{word}] = {' | '.join([str(0 if word else MARK), *terms])}"

    def _keep_word(self, word):
        yield f"        words[{word}] = before[{word}]"

    def range_source(self) -> str:
        """Text of ``what_is_outside(s)``, the code of a leaf out of its range; leaves with a bound come first."""
        lines = ["def what_is_outside(s):"]
        for leaf in self.leaves:
            if leaf.bound:
                beyond = f"{leaf.expression} != 0" if leaf.spare else f"{leaf.expression} > {leaf.high}"
                lines += [f"    if s.{beyond}:", f"        return {1 + self.bounds.index(leaf.bound)}"]
        for i, leaf in enumerate(self.leaves):
            if not leaf.spare:
                outside = f"s.{leaf.expression} < {leaf.low} or s.{leaf.expression} > {leaf.high}"
                lines += [f"    if {outside}:", f"        return {-1 - i}"]
        return "\n".join([*lines, "    return 0", ""])

    def unpack_source(self) -> str:
        """Text of ``unpack(words, s)``, which sets every leaf that is stored."""
        lines = ["def unpack(words, s):", *(f"    w{word} = words[{word}]" for word in range(self.words))]
        for place in self.places:
            bits = f"w{place.word} >> {place.shift} & {place.mask}"
            lines.append(f"    s.{place.leaf.expression} = ({bits}) + ({place.leaf.low})")
        fixed = [leaf for leaf in self.leaves if not leaf.spare and leaf.low == leaf.high]
        lines += [f"    s.{leaf.expression} = {leaf.low}" for leaf in fixed]
        return "\n".join([*lines, "    return 0", ""])


def _range_test(leaves):
    """Text that returns if a leaf is out of its range: it has a bit too many, or exceeds an end that is not 2^n - 1."""
    widths = sorted({_width(leaf) for leaf in leaves})
    yield from ["        beyond = 0", *(f"        wide{width} = 0" for width in widths)]
    for leaf in leaves:
        span = leaf.high - leaf.low
        yield f"        v = t.{leaf.expression} - ({leaf.low})"
        yield f"        wide{_width(leaf)} |= v"
        if span & (span + 1):
            yield f"        beyond |= {span} - v"
    wide = " | ".join(f"wide{width} >> {width}" for width in widths)
    yield f"        if ({wide}) != 0 or beyond < 0:"
    yield "            return what_is_outside(t)"


def _width(leaf):
    """The number of bits of a leaf."""
    return (leaf.high - leaf.low).bit_length()
