"""Plain Python states: objects with slots that hold ints, for reading, reporting and reference runs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, reduce
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from kafkaproof.spec.language.domains import Array, Domain, Record, Scope, coded, named
from kafkaproof.spec.language.layout import length, slots
from kafkaproof.spec.language.text import function_from


class Plain:
    """A record of ints, lists and records; equal to another with the same values."""

    __slots__ = ()

    def __eq__(self, other):
        return self.__slots__ == getattr(other, "__slots__", None) and all(
            getattr(self, name) == getattr(other, name) for name in self.__slots__
        )

    if TYPE_CHECKING:  # the fields are those of the declaration, which is read at run time

        def __getattr__(self, name: str) -> Any: ...

        def __setattr__(self, name: str, value: Any) -> None: ...

        def copy(self) -> Plain:
            """A state with the same values that shares nothing with this one."""

        def gather(self, found: list[int]) -> None:
            """Append the leaves in the order of their declaration."""


class Elements(list):
    """The elements of an array: indices begin at 0, and a negative one is out of range."""

    def __getitem__(self, at):
        if type(at) is not slice and at < 0:
            raise IndexError(f"index {at} is below 0")
        return list.__getitem__(self, at)

    def __setitem__(self, at, value):
        if type(at) is not slice and at < 0:
            raise IndexError(f"index {at} is below 0")
        list.__setitem__(self, at, value)


def copied(value):
    """A copy of a field of a plain state that shares nothing with it."""
    if isinstance(value, list):
        return Elements(value if value and type(value[0]) is int else map(copied, value))
    return value.copy() if isinstance(value, Plain) else value


def values_of(value: object) -> list[int]:
    """The leaves of a plain state (or a part of one) in the order of their declaration."""
    found: list[int] = []
    gather(value, found)
    return found


def gather(value, found: list[int]) -> None:
    """Append the leaves of a plain state, or of a part of one."""
    if isinstance(value, Plain):
        value.gather(found)
    elif not isinstance(value, list):
        found.append(value)
    elif value and isinstance(value[0], int):
        found.extend(value)
    else:
        for element in value:
            gather(element, found)


def plain_type(record: Record, scope: Scope) -> type[Plain]:
    """A class whose instances are states of `record` at `scope`, all zero when made."""
    makers = {name: _maker(field.domain, scope) for name, field in record.fields.items()}

    def __init__(self):
        for name, make in makers.items():
            setattr(self, name, make())

    whole = tuple((name, make is int) for name, make in makers.items())
    return type("State", (Plain,), {"__slots__": tuple(makers), "__init__": __init__} | _methods(whole))


@cache
def _methods(fields):
    """Methods for records of these fields, each a name and whether it is a leaf: far faster than to look fields up."""
    copies = [f"twin.{name} = self.{name}" if leaf else f"twin.{name} = copied(self.{name})" for name, leaf in fields]
    runs = [
        f"found.extend(({''.join(f'self.{name}, ' for name, _ in run)}))"
        if leaf
        else "; ".join(f"gather_part(self.{name}, found)" for name, _ in run)
        for leaf, run in ((leaf, list(run)) for leaf, run in groupby(fields, key=itemgetter(1)))
    ]
    copy = ["def copy(self):", "twin = object.__new__(type(self))", *copies, "return twin"]
    gathering = ["def gather(self, found):", *runs, "pass"]
    names = {"copied": copied, "gather_part": gather}
    return {
        name: function_from(name, "\n ".join(text), names) for name, text in (("copy", copy), ("gather", gathering))
    }


def _maker(domain, scope):
    if isinstance(domain, Record):
        return plain_type(domain, scope)
    if isinstance(domain, Array):
        make, n = _maker(domain.of, scope), slots(domain, scope)
        return lambda: Elements(make() for _ in range(n))
    return int


def members(ids: Iterable[int]) -> int:
    """The set that has these ids."""
    found = 0
    for x in ids:
        found |= 1 << x
    return found


def ids_in(members: int) -> list[int]:
    """The ids in a set, in order."""
    return [x for x in range(members.bit_length()) if members >> x & 1]


def get(state, path: tuple) -> Any:
    """The part of `state`, which is plain, at `path`: for a leaf an int, else an array or a record."""
    return reduce(_inside, path, state)


def _inside(whole, part):
    return whole[part] if isinstance(part, int) else getattr(whole, part)


def put(state, path: tuple, value: object) -> None:
    """Set the leaf of `state`, which is plain, at `path`; where states are columns, `value` is an array."""
    parent = reduce(_inside, path[:-1], state)
    if isinstance(path[-1], int):
        parent[path[-1]] = value
    else:
        setattr(parent, path[-1], value)


def to_json(domain: Domain, value, scope: Scope) -> object:
    """A plain state (or a field of one) as JSON: names for codes, lists for sets and sequences."""
    if isinstance(domain, Record):
        if elements := elements_of(domain):
            return [to_json(elements.of, element, scope) for element in value.slots[: value.length]]
        return {n: to_json(f.domain, getattr(value, n), scope) for n, f in domain.fields.items()}
    if isinstance(domain, Array):
        return [to_json(domain.of, element, scope) for element in value[: length(domain, scope)]]
    return named(domain, int(value))


def elements_of(record: Record) -> Array | None:
    """The elements of a sequence, renamed ones included; None for any other record."""
    slots = record.fields["slots"].domain if record.fields.keys() == {"length", "slots"} else None
    return slots if isinstance(slots, Array) else None


def from_json(record: Record, data, scope: Scope) -> Plain:
    """The plain state from the JSON of `to_json`; raises KeyError or ValueError for anything else."""
    return _from_json(record, data, scope)


def _from_json(domain, data, scope):
    if isinstance(domain, Record):
        if elements_of(domain):
            data = {"length": len(data), "slots": data}
        state = new_state(domain, scope)
        for name, field in domain.fields.items():
            setattr(state, name, _from_json(field.domain, data[name], scope))
        return state
    if isinstance(domain, Array):
        elements = _maker(domain, scope)()
        for i, element in enumerate(data):
            elements[i] = _from_json(domain.of, element, scope)
        return elements
    return coded(domain, data)


def new_state(record: Record, scope: Scope) -> Plain:
    """A state of zeros."""
    return plain_type(record, scope)()
