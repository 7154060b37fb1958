"""Symmetry in the kernel: the packed form that represents the orbit of a state under renaming of ids.

A permutation is a number with four bits for each id: digit `i` of an *order* is the id that becomes `i`. To find the
representative of a state, each id gets a key that does not depend on the names of ids, and ids are sorted by key. That
usually leaves one order. Ids with equal keys are tried in every order, and the least packed form is taken. So the form
is the same for all states of an orbit, however poor the keys are: poor keys only cost time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import groupby, permutations, product

from kafkaproof.checker.compile.layout import Generated
from kafkaproof.checker.compile.packing import MARK, Packing
from kafkaproof.spec.language.domains import NOBODY, Domain, Id, SetOf
from kafkaproof.spec.language.renaming import Symmetry

DIGIT = 4
MOST_IDS = 15


class Representatives:
    """The generated functions ``represent(s, words, trial, ties)`` and ``renamed(s, ORDERS, words)``.

    `renamed` packs a state as a permutation renames it; `represent` packs the representative of its orbit. `ties` is
    the table that `represent` is given, `orders` are the parameters of `renamed`, one for each interchangeable sort.
    """

    def __init__(self, symmetry: Symmetry, packing: Packing):
        self._symmetry, self._packing = symmetry, packing
        self.orders = list(symmetry.blocks)
        self._leaves = {named.leaf.path: named for named in symmetry.leaves}
        self._stored = [self._leaves[place.leaf.path] for place in packing.places]
        self.ties, self._tables = [], {}
        for sort, blocks in symmetry.blocks.items():
            self._tables[sort] = len(self.ties)
            self.ties += _tie_table(sum(map(len, blocks)), len(self.ties))

    def represent(self) -> Generated:
        """The function `represent`, with all that it calls."""
        keys = {
            _key(sort, i): Generated.of("\n".join(self._key_text(sort, i)))
            for sort, blocks in self._symmetry.blocks.items()
            for block in blocks
            for i in block
        }
        return Generated.of("\n".join(self._represent_text()), renamed=self.renamed(), **keys)

    def renamed(self) -> Generated:
        """The function `renamed`."""
        return Generated.of("\n".join(self._renamed_text()))

    def image(self, domain: Domain, value: str) -> str:
        """The text of a renamed value of a domain; the text of `unfold` must come before it."""
        if not isinstance(domain, (Id, SetOf)) or not (sort := self._symmetry.sort_of(domain.sort)):
            return value
        if isinstance(domain, Id):
            return f"(({sort}_to >> ({value} + 1) * {DIGIT} & {MOST_IDS}) - 1)"
        count = self._symmetry.scope[domain.sort]
        return "(" + " | ".join(f"({value} >> {sort}{i} & 1) << {i}" for i in range(count)) + ")"

    def unfold(self) -> Iterator[str]:
        """Statements that unpack the orders: id ``brokers0`` becomes 0, and ``brokers_to`` holds all images."""
        for sort, blocks in self._symmetry.blocks.items():
            ids = [i for block in blocks for i in block]
            yield from (f"    {sort}{i} = {sort} >> {DIGIT * i} & {MOST_IDS}" for i in ids)
            images = " | ".join(f"{i + 1} << ({sort}{i} + 1) * {DIGIT}" for i in ids)
            yield f"    {sort}_to = {images}"

    def _renamed_text(self):
        words = [[str(MARK)]] + [["0"] for _ in range(self._packing.words - 1)]
        for place, named in zip(self._packing.places, self._stored):
            value = self._before(named, place.leaf.path)
            image = self.image(place.leaf.domain, value)
            if named.slots and image != value and isinstance(place.leaf.domain, Id):
                used = (f"{slot} < {self._before(named, length)}" for length, slot in named.slots)
                image = f"({image} if {' and '.join(used)} else 0)"
            words[place.word].append(f"({image} - ({place.leaf.low}) << {place.shift})")
        yield f"def renamed(s, {', '.join(self.orders)}, words):"
        yield from self.unfold()
        yield from (f"    words[{word}] = {' | '.join(terms)}" for word, terms in enumerate(words))
        yield "    return 0"

    def _before(self, named, path):
        """The expression of the leaf that renaming moves to the place of this one (or of a length above it)."""
        sorts = {position: self._symmetry.sort_of(name) for position, name in named.indices}
        return _expression(
            path,
            {position: f"{sort}{path[position]}" for position, sort in sorts.items() if sort and position < len(path)},
        )

    def _represent_text(self):
        yield "def represent(s, words, trial, ties):"
        for sort, blocks in self._symmetry.blocks.items():
            yield from self._sorting(sort, blocks)
        orders = ", ".join(self.orders)
        yield f"    renamed(s, {orders}, words)"
        yield f"    if {' | '.join(f'{sort}_ties' for sort in self.orders)}:"
        indent = " " * 8
        for sort, start in self._tables.items():
            at = f"{start} + 2 * {sort}_ties"
            yield f"{indent}for {sort}_i in range(ties[{at}], ties[{at} + 1]):"
            indent += "    "
            ids = sum(map(len, self._symmetry.blocks[sort]))
            digits = (
                f"({sort} >> (ties[{sort}_i] >> {DIGIT * i} & {MOST_IDS}) * {DIGIT} & {MOST_IDS}) << {DIGIT * i}"
                for i in range(ids)
            )
            yield f"{indent}{sort}_tried = {' | '.join(digits)}"
        yield f"{indent}renamed(s, {', '.join(f'{sort}_tried' for sort in self.orders)}, trial)"
        yield f"{indent}if {_less(self._packing.words)}:"
        yield from (f"{indent}    words[{word}] = trial[{word}]" for word in range(self._packing.words))
        yield "    return 0"

    def _sorting(self, sort, blocks):
        """Statements that sort the ids of each block by key, and note which neighbours have equal keys."""
        for block in blocks:
            yield from (f"    {sort}{i} = {i}" for i in block)
            yield from (f"    {sort}_key{i} = {_key(sort, i)}(s)" for i in block)
            for last in range(block.stop - 1, block.start, -1):
                for i in range(block.start, last):
                    yield f"    if {sort}_key{i} > {sort}_key{i + 1}:"
                    for kind in (sort, f"{sort}_key"):
                        yield f"        kept = {kind}{i}"
                        yield f"        {kind}{i} = {kind}{i + 1}"
                        yield f"        {kind}{i + 1} = kept"
        ids = [i for block in blocks for i in block]
        yield f"    {sort} = " + " | ".join(f"{sort}{i} << {DIGIT * i}" for i in ids)
        pairs = [i for block in blocks for i in block[:-1]]
        ties = (f"({sort}_key{i} == {sort}_key{i + 1}) << {i}" for i in pairs)
        yield f"    {sort}_ties = " + (" | ".join(ties) or "0")

    def _key_text(self, sort, i):
        """Text of the key of one id: a sum over leaves of what each says about the id, weighted by the kind of leaf."""
        yield f"def {_key(sort, i)}(s):"
        yield "    key = 0"
        for named in self._stored:
            for role, value in self._said(named, sort, i):
                yield f"    key += {value} * {_weight(self._kind(named, sort, i), role)}"
        yield "    return key"

    def _said(self, named, sort, i):
        """What a leaf says about an id, as (role, expression)."""
        domain, value = named.leaf.domain, _expression(named.leaf.path, {})
        about = self._symmetry.sort_of(domain.sort) if isinstance(domain, (Id, SetOf)) else None
        own = any(
            self._symmetry.sort_of(name) == sort and named.leaf.path[position] == i for position, name in named.indices
        )
        if own and about is None:
            yield "value", value
        if own and isinstance(domain, Id) and about and domain.nobody:
            yield "nobody", f"({value} == {NOBODY})"
        if about == sort and isinstance(domain, Id):
            used = "".join(f" and {slot} < {_expression(length, {})}" for length, slot in named.slots)
            yield "named", f"(1 if {value} == {i}{used} else 0)"
        if about == sort and isinstance(domain, SetOf) and i < self._symmetry.scope[domain.sort]:
            yield "member", f"({value} >> {i} & 1)"

    def _kind(self, named, sort, i):
        """The path of a leaf, with each id replaced by whether it is this one."""
        path = list(named.leaf.path)
        for position, name in named.indices:
            found = self._symmetry.sort_of(name)
            if found:
                path[position] = "own" if found == sort and path[position] == i else "another"
        return ".".join(map(str, path))


def _expression(path, ids):
    """The expression of a path in `s`, with some of its indices replaced by names."""
    parts = (f"[{ids.get(i, part)}]" if isinstance(part, int) else f".{part}" for i, part in enumerate(path))
    return "s" + "".join(parts)


def _key(sort, i):
    return f"key_of_{sort}{i}"


def _weight(kind, role):
    """A 64-bit odd number for a kind of leaf in a role."""
    return int.from_bytes(hashlib.sha256(f"{kind} {role}".encode()).digest()[:8], "big") >> 1 | 1


def _less(words):
    """The text of the comparison whether `trial` is less than `words`."""
    text = f"trial[{words - 1}] < words[{words - 1}]"
    for word in reversed(range(words - 1)):
        text = f"(trial[{word}] < words[{word}] or trial[{word}] == words[{word}] and {text})"
    return text


def _tie_table(ids, start):
    """For each set of ties between neighbours (bit i: i and i + 1), the orders that permute tied ids only.

    The table begins with (first, last + 1) for each set, as indices into the whole table, where this one is at `start`.
    """
    head, orders = [], []
    for ties in range(1 << max(0, ids - 1)):
        runs = [sum(1 for i in range(last) if not ties >> i & 1) for last in range(ids)]
        groups = [[i for i, _ in members] for _, members in groupby(enumerate(runs), key=lambda pair: pair[1])]
        first = start + (2 << max(0, ids - 1)) + len(orders)
        for chosen in product(*map(permutations, groups)):
            orders.append(sum(old << DIGIT * new for new, old in enumerate(i for group in chosen for i in group)))
        head += [first, start + (2 << max(0, ids - 1)) + len(orders)]
    return head + orders
