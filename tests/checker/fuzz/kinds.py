"""What an expression of a generated program is: a number, a condition, an id, a set, a code, or a part of the state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from kafkaproof.spec.language.domains import Array, Choice, Flag, Id, Number, Record, SetOf

NUMBER, CONDITION, CODE, PROCEDURE = "number", "condition", "code", "procedure"


@dataclass(frozen=True)
class IdOf:
    """An id of a sort; a `real` one is never nobody."""

    sort: str
    real: bool = False


@dataclass(frozen=True)
class Members:
    """A set of ids of a sort."""

    sort: str


@dataclass(frozen=True)
class Function:
    """A function that a program may call: `result` is the kind of its answer, PROCEDURE for none."""

    name: str
    parameters: tuple[object, ...]
    result: object
    writes: bool


@dataclass
class Names:
    """What is in scope: the parts of states by their text, and locals and parameters by kind."""

    parts: list[tuple[str, object]] = field(default_factory=list)
    values: list[tuple[str, object]] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    may_write: bool = False

    def copy(self) -> Names:
        """The same names, for a branch that may add its own."""
        return Names(list(self.parts), list(self.values), self.functions, self.may_write)

    def of(self, kind: object) -> list[str]:
        """The locals and parameters of a kind; every real id is an id."""
        return [name for name, known in self.values if fits(known, kind)]


def fits(known: object, kind: object) -> bool:
    """Whether a value of one kind can stand where another is wanted."""
    return known == kind or (
        isinstance(known, IdOf) and isinstance(kind, IdOf) and known.sort == kind.sort and known.real >= kind.real
    )


def kind_of(domain: object) -> object:
    """The kind of what a field of a domain holds."""
    match domain:
        case Number():
            return NUMBER
        case Flag():
            return CONDITION
        case Id(sort, nobody):
            return IdOf(sort, not nobody)
        case SetOf(sort):
            return Members(sort)
        case Choice():
            return CODE
    return domain


def paths(domain: object, parts: tuple = ()) -> Iterator[tuple[tuple, object]]:
    """All that a part of a state is made of, itself included: field names, and arrays where an index is due."""
    yield parts, domain
    if isinstance(domain, Record):
        for name, each in domain.fields.items():
            yield from paths(each.domain, (*parts, name))
    elif isinstance(domain, Array):
        yield from paths(domain.of, (*parts, domain))
