"""Renaming interchangeable ids: a permutation of a sort, applied to a state and to the arguments of a step.

It follows from the declaration: an array sized by the sort is reordered, ids and sets of ids of that sort are mapped,
and everything else stays. Free slots of a sequence hold zeros, which are not ids, and stay too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product
from math import factorial, prod

from kafkaproof.spec.language.domains import Array, Id, Record, Scope, Sequence, SetOf
from kafkaproof.spec.language.layout import Leaf, leaves
from kafkaproof.spec.language.model import Model, Transition


@dataclass(frozen=True)
class Named:
    """A leaf, with the ids in its path.

    `indices` holds (position in the leaf's path, sort) for each index that is an id; `slots` holds (path of a
    length, slot) for each sequence that the leaf is in: it is in use if all lengths are above their slots.
    """

    leaf: Leaf
    indices: tuple[tuple[int, str], ...]
    slots: tuple[tuple[tuple[str | int, ...], int], ...]


def named_leaves(state: Record, scope: Scope) -> list[Named]:
    """All leaves of a state in order, each with the ids in its path."""
    return [named_leaf(state, leaf) for leaf in leaves(state, scope)]


def named_leaf(state: Record, leaf: Leaf) -> Named:
    """A leaf of a state, with the ids in its path."""
    return Named(leaf, *_names(state, leaf.path))


def _names(domain, path):
    indices, slots = [], []
    for position, part in enumerate(path):
        if isinstance(domain, Array):
            indices += [(position, domain.size)] if isinstance(domain.size, str) else []
            domain = domain.of
        else:
            if isinstance(domain, Sequence) and part == "slots":
                slots.append(((*path[:position], "length"), path[position + 1]))
            domain = domain.fields[part].domain
    return tuple(indices), tuple(slots)


class Renaming:
    """One permutation: id `i` of a sort becomes `images[sort][i]`. Ids of other sorts keep their names."""

    def __init__(self, symmetry: Symmetry, images: Mapping[str, tuple[int, ...]]):
        self.images = images
        where = {named.leaf.path: i for i, named in enumerate(symmetry.leaves)}
        moved = [where[self.path(named)] for named in symmetry.leaves]
        self._sources = sorted(range(len(moved)), key=moved.__getitem__)
        self._mapped = []
        for i, named in enumerate(symmetry.leaves):
            table = self._table(named.leaf.domain)
            if table and not named.leaf.spare:
                self._mapped.append((i, moved[i], table, [(where[path], slot) for path, slot in named.slots]))

    def path(self, named: Named) -> tuple[str | int, ...]:
        """Where the leaf is in a renamed state."""
        path = list(named.leaf.path)
        for position, sort in named.indices:
            part = path[position]
            if sort in self.images and isinstance(part, int):
                path[position] = self.images[sort][part]
        return tuple(path)

    def _table(self, domain):
        """The images of a domain's values by value, that of nobody last; None if all stay."""
        images = self.images.get(domain.sort) if isinstance(domain, (Id, SetOf)) else None
        if images is None or isinstance(domain, Id):
            return images and [*images, -1]
        ids = range(len(images))
        return [sum(1 << images[i] for i in ids if members >> i & 1) for members in range(1 << len(images))]

    def values(self, values: tuple[int, ...]) -> tuple[int, ...]:
        """The values of all leaves of a state, renamed."""
        renamed = [values[source] for source in self._sources]
        for source, target, table, slots in self._mapped:
            if all(values[length] > slot for length, slot in slots):
                renamed[target] = table[values[source]]
        return tuple(renamed)

    def arguments(self, transition: Transition, arguments: tuple[int, ...]) -> tuple[int, ...]:
        """A step's arguments, renamed."""
        tables = map(self._table, transition.declared.values())
        return tuple(table[value] if table else value for table, value in zip(tables, arguments))

    def __str__(self) -> str:
        """The permutation in words: ``brokers 0 1 2 renamed 1 2 0``."""
        return ", ".join(
            f"{sort} {' '.join(map(str, range(len(images))))} renamed {' '.join(map(str, images))}"
            for sort, images in self.images.items()
        )


class Symmetry:
    """The permutations of a model's interchangeable ids at one scope.

    `blocks` holds, for each interchangeable sort of more than one id, the ranges of ids that may be exchanged with each
    other. `parts` holds the sorts whose ids are the first ones of such a sort: they are renamed with it.
    """

    def __init__(self, model: Model, scope: Scope, interchangeable: Mapping[str, tuple[str | int, ...]]):
        self.leaves, self.scope = named_leaves(model.state, scope), scope
        blocks = {sort: _blocks(scope, sort, parts) for sort, parts in interchangeable.items()}
        self.blocks = {sort: found for sort, found in blocks.items() if any(len(block) > 1 for block in found)}
        self.parts = {part: sort for sort in self.blocks for part in interchangeable[sort] if isinstance(part, str)}

    @property
    def count(self) -> int:
        """How many permutations there are."""
        return prod(factorial(len(block)) for blocks in self.blocks.values() for block in blocks)

    def sort_of(self, name: str) -> str | None:
        """The interchangeable sort that ids of this sort belong to."""
        return name if name in self.blocks else self.parts.get(name)

    @cached_property
    def images(self) -> list[dict[str, tuple[int, ...]]]:
        """The images of all ids of each interchangeable sort, for each permutation; the identity first."""
        return [dict(zip(self.blocks, chosen)) for chosen in product(*map(_orders, self.blocks.values()))]

    @cached_property
    def renamings(self) -> list[Renaming]:
        """All permutations, the identity first."""
        return [self.renaming(images) for images in self.images]

    def renaming(self, images: Mapping[str, tuple[int, ...]]) -> Renaming:
        """The permutation with these images of the ids of each interchangeable sort."""
        parts = {part: images[sort][: self.scope[part]] for part, sort in self.parts.items()}
        return Renaming(self, {**images, **parts})

    def between(self, values: tuple[int, ...], others: tuple[int, ...]) -> Renaming | None:
        """A permutation that maps one state's values to another's, or None."""
        return next((renaming for renaming in self.renamings if renaming.values(values) == others), None)

    def least(self, values: tuple[int, ...]) -> tuple[int, ...]:
        """The least of all renamings of a state's values: the same for all states of an orbit."""
        return min(renaming.values(values) for renaming in self.renamings) if self.blocks else values


def _blocks(scope, sort, parts):
    sizes = [part if isinstance(part, int) else scope[part] for part in parts]
    ends = sorted({0, scope[sort], *(min(size, scope[sort]) for size in sizes)})
    return [range(first, last) for first, last in zip(ends, ends[1:])]


def _orders(blocks) -> Iterator[tuple[int, ...]]:
    for chosen in product(*(permutations(block) for block in blocks)):
        yield tuple(i for order in chosen for i in order)
