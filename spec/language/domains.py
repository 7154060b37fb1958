"""Domains: what values a field of a state, or an argument of a transition, may take.

A state is declared once, as a `Record` of named fields, each with a domain and its meaning.
Everything else (the NumPy record, the plain Python state, the packed form, the range check, names in
JSON) is derived from that declaration; see `layout` and `plain`.

Sizes are names of the scope: a *sort* (``"brokers"``) or a *bound* (`Bound("epochs")`). A step that
leaves a bound is cut and counted; a value outside any other range is an error in the specification.
A bound says how far exploration goes; a *budget* (`Budget("faults")`) how often something may happen that need not
happen at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from kafkaproof.spec.errors import UserError

Scope = Mapping[str, int]


class Size(Mapping[str, int]):
    """A scope that never changes and can be a key: numbers by name, ``Size(brokers=2, epochs=1)``.

    It equals every mapping with the same names and numbers, in any order; `|` makes another one.
    """

    def __init__(self, /, **numbers: int):
        self._numbers = numbers

    def __getitem__(self, name: str) -> int:
        return self._numbers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __hash__(self) -> int:
        return hash(frozenset(self._numbers.items()))

    def __or__(self, other: Scope) -> Size:
        """These sizes, with those of `other` in their place or added."""
        return Size(**{**self, **other})

    def __repr__(self) -> str:
        return f"Size({', '.join(f'{name}={number}' for name, number in self.items())})"


@dataclass(frozen=True)
class Bound:
    """The number that the scope gives to `name`, plus `plus`: a step that goes beyond is cut, and counted."""

    name: str
    plus: int = 0

    def value(self, scope: Scope) -> int:
        return scope[self.name] + self.plus


@dataclass(frozen=True)
class Budget(Bound):
    """The bound of a number that counts events that need not happen, and that end: faults, acts of operators.

    The number never falls. For liveness, no fairness applies to a step that raises it, and there is none beyond the
    bound.
    """


@dataclass(frozen=True)
class Number:
    """Integers from `low` to `high`, both included; a `Bound` as `high` cuts the steps beyond it."""

    low: int
    high: int | Bound


@dataclass(frozen=True)
class Flag:
    """False or True, kept as 0 or 1."""


@dataclass(frozen=True)
class Id:
    """An index below the scope's size of `sort`; with `nobody`, also -1."""

    sort: str
    nobody: bool = False


@dataclass(frozen=True)
class SetOf:
    """A set of ids of `sort`, stored as a bit mask; read and written through functions such as `contains` only."""

    sort: str


class Choice:
    """Named codes 0, 1, 2 ...; iterating yields the codes, so ``A, B = Choice("A", "B")``."""

    def __init__(self, *names: str):
        self.names = names

    def __iter__(self):
        return iter(range(len(self.names)))


@dataclass(frozen=True)
class Array:
    """An array with elements of domain `of`; its size is a sort, or a bound of the scope."""

    of: Domain
    size: str | Bound


@dataclass(frozen=True)
class Field:
    """A field's domain and what it means in Kafka."""

    domain: Domain
    meaning: str


class Record:
    """Named fields, each with its domain and its meaning: ``Record(hw=(Number(0, Bound("log")), "high watermark"), ...)``."""

    def __init__(self, **fields: tuple[Domain, str]):
        for name, pair in fields.items():
            if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[1], str):
                raise UserError(
                    f"the field {name} is declared as a domain and its meaning: {name}=(Flag(), 'what it means')"
                )
        self.fields = {name: Field(domain, meaning) for name, (domain, meaning) in fields.items()}

    def extended(self, **fields: tuple[Domain, str]) -> Record:
        """This record with more fields; raises ValueError when a name is taken."""
        taken = self.fields.keys() & fields.keys()
        if taken:
            raise ValueError(f"fields declared twice: {', '.join(sorted(taken))}")
        record = Record(**fields)
        record.fields = {**self.fields, **record.fields}
        return record

    def extended_at(self, path: str, **fields: tuple[Domain, str]) -> Record:
        """This record with more fields in a record inside it, of which there may be many: ``zk``, ``brokers.replicas``.

        Raises KeyError where there is no such field, TypeError where it is no record, ValueError when a name is taken.
        """
        name, _, rest = path.partition(".")
        inner = record_of(self, name)
        grown = inner.extended_at(rest, **fields) if rest else inner.extended(**fields)
        return self.changed(**{name: (_with_inner(self.fields[name].domain, grown), self.fields[name].meaning)})

    def only(self, *names: str) -> Record:
        """This record with these fields alone; raises KeyError when one is not there."""
        record = Record()
        record.fields = {name: self.fields[name] for name in names}
        return record

    def changed(self, **fields: tuple[Domain, str]) -> Record:
        """This record with other domains and meanings of some fields; raises ValueError when one is not there."""
        unknown = fields.keys() - self.fields.keys()
        if unknown:
            raise ValueError(f"no such fields: {', '.join(sorted(unknown))}")
        record = Record(**fields)
        record.fields = {**self.fields, **record.fields}
        return record


NOBODY = -1


class Sequence(Record):
    """Up to `bound` elements of domain `of`: a `length`, and `slots` that hold zeros beyond it.

    Written by `push` and `pop`, or by code that keeps the same invariant. An array that a bound sizes has one free slot
    behind its end: a step that writes there is cut, so nobody tests for room.
    """

    def __init__(self, of: Domain, bound: Bound):
        if isinstance(of, Number) and of.low > 0:
            raise ValueError("the elements of a sequence must be able to be 0, which fills its free slots")
        super().__init__(
            length=(Number(0, bound), "number of elements"), slots=(Array(of, bound), "elements, oldest first")
        )


Scalar = Number | Flag | Id | SetOf | Choice
Domain = Scalar | Array | Record
End = TypeVar("End", int | Bound, str | Bound)


def values(domain: Domain, scope: Scope) -> range:
    """The values of a scalar domain in `scope`; raises TypeError for arrays and records."""
    match domain:
        case Number(low, high):
            return range(low, (high.value(scope) if isinstance(high, Bound) else high) + 1)
        case Flag():
            return range(2)
        case Id(sort, nobody):
            return range(NOBODY if nobody else 0, scope[sort])
        case SetOf(sort):
            return range(1 << scope[sort])
        case Choice():
            return range(len(domain.names))
    raise TypeError(f"{type(domain).__name__} is not a scalar domain")


def record_of(record: Record, field: str) -> Record:
    """The record that a field of another record is, or has many of; raises TypeError where it is something else."""
    found = record.fields[field].domain
    while isinstance(found, Array):
        found = found.of
    if isinstance(found, Record):
        return found
    raise TypeError(f"{field} is no record")


def _with_inner(domain: Domain, record: Record) -> Domain:
    """A record, or an array of records, or an array of such arrays, with another record in its place."""
    return replace(domain, of=_with_inner(domain.of, record)) if isinstance(domain, Array) else record


def renamed(domain: Domain, sizes: Mapping[str, str]) -> Domain:
    """A domain with other names for its bounds, for a part of a composition."""
    match domain:
        case Number(low, high):
            return Number(low, _renamed_end(high, sizes))
        case Array(of, size):
            return Array(renamed(of, sizes), _renamed_end(size, sizes))
        case Record():
            return Record(
                **{name: (renamed(field.domain, sizes), field.meaning) for name, field in domain.fields.items()}
            )
    return domain


def _renamed_end(end: End, sizes: Mapping[str, str]) -> End:
    return replace(end, name=sizes.get(end.name, end.name)) if isinstance(end, Bound) else end


def sorts(domain: Domain) -> set[str]:
    """The sorts that give sizes to arrays in a domain: each needs at least one id."""
    if isinstance(domain, Record):
        return set().union(*(sorts(field.domain) for field in domain.fields.values()))
    if isinstance(domain, Array):
        return sorts(domain.of) | ({domain.size} if isinstance(domain.size, str) else set())
    return set()


def named(domain: Domain, value: int) -> object:
    """`value` as people write it: a name, True or False, a list of ids, None for nobody."""
    match domain:
        case Flag():
            return bool(value)
        case Id(nobody=True) if value == NOBODY:
            return None
        case SetOf():
            return [i for i in range(value.bit_length()) if value >> i & 1]
        case Choice():
            return domain.names[value]
    return value


def coded(domain: Domain, name) -> int:
    """The inverse of `named`; raises ValueError for a name that the domain does not have."""
    match domain:
        case Id(nobody=True) if name is None:
            return NOBODY
        case SetOf():
            return sum(1 << i for i in name)
        case Choice():
            return domain.names.index(name)
    return int(name)
