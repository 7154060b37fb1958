"""The packed form of a state: all leaves side by side in 64-bit words; and the code that packs them.

The top bit of the first word is always 1, so that an empty slot of a hash table is a word of 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from kafkaproof.checker.compile.lanes import Lanes
from kafkaproof.checker.compile.layout import Generated
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
        word none of whose leaves differ is taken from there. It calls what is in `called`.
        """
        lines = ["def pack(t, s, before, words):", *self._by_words(self._pack_word)]
        return "\n".join([*lines, "    return 0", ""])

    def within_source(self) -> str:
        """Text of ``within(t, s)``, which returns what `pack` would, without packing."""
        return "\n".join(["def within(t, s):", *self._by_words(lambda word: ()), "    return 0", ""])

    @property
    def called(self) -> dict[str, Generated | Callable]:
        """What `pack_source` and `within_source` call: `what_is_outside`, and for each word three functions of `Lanes`."""
        found: dict[str, Generated | Callable] = {"what_is_outside": Generated.of(self.range_source())}
        for word, lanes in enumerate(self._lanes()):
            found |= {
                f"unlike{word}": lanes.is_unlike,
                f"outside{word}": lanes.is_outside,
                f"packed{word}": lanes.packed,
            }
        return found

    def _lanes(self):
        """The leaves of each word, side by side."""
        shifts = {place.leaf.path: place.shift for place in self.places}
        for first, end in pairwise([*self._firsts, len(self.leaves)]):
            part = self.leaves[first:end]
            lows, spans = [leaf.low for leaf in part], [leaf.high - leaf.low for leaf in part]
            yield Lanes(first, tuple(lows), tuple(spans), tuple(shifts.get(leaf.path, 0) for leaf in part))

    def _by_words(self, changed):
        """Statements for each word: if it has changed, a test of its range, and those of `changed`."""
        for word in range(self.words):
            yield f"    if unlike{word}(t, s):"
            yield f"        if outside{word}(t):"
            yield "            return what_is_outside(t)"
            yield from changed(word)

    def _pack_word(self, word):
        yield f"        words[{word}] = packed{word}(t){'' if word else f' | {MARK}'}"
        yield "    else:"
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


def _width(leaf):
    """The number of bits of a leaf."""
    return (leaf.high - leaf.low).bit_length()
