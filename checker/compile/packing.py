"""The packed form of a state: all leaves side by side in 64-bit words; and the code that packs them.

The top bit of the first word is always 1, so that an empty slot of a hash table is a word of 0.
"""

from __future__ import annotations

from dataclasses import dataclass

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
        word, used = 0, 1
        for leaf in leaves:
            width = _width(leaf)
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

        It returns 1 + i if bound i (an index into `bounds`) is exceeded. That is the most common reason, so leaves with
        a bound are tested first.
        """
        words = [[str(MARK)]] + [["0"] for _ in range(self.words - 1)]
        for place in self.places:
            words[place.word].append(f"(s.{place.leaf.expression} - ({place.leaf.low}) << {place.shift})")
        return "\n".join(
            [
                "def pack(s, words):",
                *_range_test([leaf for leaf in self.leaves if leaf.bound]),
                *(f"    words[{word}] = {' | '.join(terms)}" for word, terms in enumerate(words)),
                *_range_test([leaf for leaf in self.leaves if not leaf.bound]),
                "    return 0",
                "",
            ]
        )

    def within_source(self) -> str:
        """Text of ``within(s)``, which returns what `pack` would, without packing."""
        bounded, others = ([leaf for leaf in self.leaves if bool(leaf.bound) == of_bound] for of_bound in (True, False))
        tests = [_range_test(bounded), _range_test(others)]
        return "\n".join(["def within(s):", *(line for test in tests for line in test), "    return 0", ""])

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
    if not leaves:
        return
    widths = sorted({_width(leaf) for leaf in leaves})
    yield from ["    beyond = 0", *(f"    wide{width} = 0" for width in widths)]
    for leaf in leaves:
        span = leaf.high - leaf.low
        yield f"    v = s.{leaf.expression} - ({leaf.low})"
        yield f"    wide{_width(leaf)} |= v"
        if span & (span + 1):
            yield f"    beyond |= {span} - v"
    wide = " | ".join(f"wide{width} >> {width}" for width in widths)
    yield f"    if ({wide}) != 0 or beyond < 0:"
    yield "        return what_is_outside(s)"


def _width(leaf):
    """The number of bits of a leaf."""
    return (leaf.high - leaf.low).bit_length()
