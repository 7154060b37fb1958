"""Kinds of expressions in the little language, by the declaration of the state that they read.

A kind is a condition, a number, an id of a sort, a set of ids of a sort, or a part of a state. A function is checked
once for each combination of kinds of its arguments, as it is compiled. These rules exclude what Python, compiled code
and the prover would otherwise interpret differently:

- `and`, `or` and `not` take conditions; an `if` takes a condition or a number;
- a set is combined and compared (``==``, ``!=``) only with sets of its sort, and holds ids of that sort;
- a field takes what its domain can hold: a flag a condition, a set a set, a constant one of its values;
- a part of a state may be named and passed on, not compared or assigned, and belongs to one state;
- a function that returns nothing has no value, and a call has as many arguments as there are parameters.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafkaproof.spec.language.domains import NOBODY, Array, Bound, Choice, Domain, Flag, Id, Number, Record, SetOf

LARGEST = 2**31 - 2
"""Values have 32 bits, with one spare value at either end. A set of ids is a mask, so a sort has at most 30 ids."""


@dataclass(frozen=True)
class Kind:
    """A kind without further properties: a condition, a number, or nothing."""

    words: str


@dataclass(frozen=True)
class Constant:
    """A literal number, or one of several from `low` to `high`."""

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
    """A set of ids of a sort; None for a sort that is not known yet, as for an empty set."""

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
    """Whether a value can be used as a number; a condition can, as 0 or 1."""
    return kind in (TRUTH, NUMBER) or isinstance(kind, NUMBERS)


def kind_of(domain: Domain, root: str = "s") -> ValueKind:
    """The kind of the values of a domain."""
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
    """The common kind of two alternatives; None if they have none."""
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
    """Whether a value is True or False, also if it is written 1 or 0."""
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
