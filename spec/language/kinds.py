"""Kinds: what each expression of the little language stands for, by the declaration of the state that it reads.

A condition, a number, an id of a sort, a set of ids of a sort, a part of a state. A function is read once for each
kind of its arguments, as it is compiled. What is held here is what Python, compiled code and the prover would
otherwise understand differently:

- `and`, `or` and `not` are of conditions, and so is what decides an `if`, or a number;
- a set is made, read and compared (``==``, ``!=``) with sets of its sort alone, and holds ids of that sort;
- a field takes what its domain can hold: a flag a condition, a set a set, a constant one of its values;
- a part of a state is named and handed on, not compared or assigned, and belongs to one state;
- what returns nothing is no value, and a call has as many arguments as there are parameters.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafkaproof.spec.language.domains import NOBODY, Array, Bound, Choice, Domain, Flag, Id, Number, Record, SetOf

LARGEST = 2**31 - 2
"""Values are kept in 32 bits, with one to spare at either end; a set of ids is a mask, and so has at most 30."""


@dataclass(frozen=True)
class Kind:
    """What a value is, in words."""

    words: str


@dataclass(frozen=True)
class Constant:
    """One of the numbers that are written down, from `low` to `high`."""

    low: int
    high: int

    @property
    def words(self) -> str:
        return f"{self.low}" if self.low == self.high else f"{self.low} to {self.high}"


@dataclass(frozen=True)
class IdOf:
    """An id of a sort, or nobody."""

    sort: str

    @property
    def words(self) -> str:
        return f"an id of {self.sort}"


@dataclass(frozen=True)
class CountOf:
    """The number of ids of a sort."""

    sort: str

    @property
    def words(self) -> str:
        return f"the number of {self.sort}"


@dataclass(frozen=True)
class Ids:
    """A set of ids of a sort; None for one that is not known yet, as of the set of nobody."""

    sort: str | None

    @property
    def words(self) -> str:
        return f"a set of {self.sort}" if self.sort else "a set"


@dataclass(frozen=True)
class Part:
    """A record or an array, in the state called `root`."""

    domain: Record | Array
    root: str

    @property
    def words(self) -> str:
        return "an array" if isinstance(self.domain, Array) else "a record"


ValueKind = Kind | Constant | IdOf | CountOf | Ids | Part
TRUTH, NUMBER, NOTHING = Kind("a condition"), Kind("a number"), Kind("nothing")
NO_IDS = Constant(0, 0)
NUMBERS = (Constant, IdOf, CountOf)


def is_number(kind: ValueKind) -> bool:
    """Whether a value may stand where a number may: a condition is 0 or 1."""
    return kind in (TRUTH, NUMBER) or isinstance(kind, NUMBERS)


def kind_of(domain: Domain, root: str = "s") -> ValueKind:
    """The kind of what a domain holds."""
    match domain:
        case Flag():
            return TRUTH
        case Id(sort):
            return IdOf(sort)
        case SetOf(sort):
            return Ids(sort)
        case Record() | Array():
            return Part(domain, root)
    return NUMBER


def joined(one: ValueKind, other: ValueKind) -> ValueKind | None:
    """The kind of what may be of either; None where nothing can be both."""
    if one == other:
        return one
    if isinstance(one, Constant) and isinstance(other, Constant):
        return Constant(min(one.low, other.low), max(one.high, other.high))
    for a, b in ((one, other), (other, one)):
        if isinstance(a, Ids) and isinstance(b, Ids) and a.sort is None:
            return b
        if isinstance(a, Ids) and b == NO_IDS or isinstance(a, IdOf) and isinstance(b, Constant):
            return a
        if a == TRUTH and is_condition(b):
            return a
    return NUMBER if is_number(one) and is_number(other) else None


def is_condition(kind: ValueKind) -> bool:
    """Whether a value is True or False, also where it is written 1 or 0."""
    return kind == TRUTH or isinstance(kind, Constant) and 0 <= kind.low and kind.high <= 1


def fits(kind: ValueKind, domain: Domain) -> bool:
    """Whether a field of this domain may take a value of this kind; a number may still be out of its range."""
    match domain:
        case Flag():
            return is_condition(kind)
        case SetOf(sort):
            return kind in (Ids(sort), Ids(None), NO_IDS)
        case Choice() if isinstance(kind, Constant):
            return 0 <= kind.low and kind.high < len(domain.names)
        case Number(low, high) if isinstance(kind, Constant):
            return low <= kind.low and (isinstance(high, Bound) or kind.high <= high)
        case Id(nobody=nobody) if isinstance(kind, Constant):
            return kind.low >= (NOBODY if nobody else 0)
    return is_number(kind)
