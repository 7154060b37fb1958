"""A broker's record: what its transitions read and write, read-only outside of them, without ghosts."""

from __future__ import annotations

from kafkaproof.spec.language.digest import GHOSTS
from kafkaproof.spec.language.domains import Record, Scope
from kafkaproof.spec.language.plain import Elements, Plain, new_state

_open: list[bool] = []


class ReadOnly(Exception):
    """Something other than a transition writes to a record: a defect."""


class Nothing:
    """Stands in for declared ghosts: it does not keep what is assigned to it."""

    __slots__ = ()

    def __setattr__(self, name, value):
        pass


class _List(Elements):
    """An array of a record, whose writes it notes."""

    writes: set[object]

    def __setitem__(self, place, value):
        _check()
        self.writes.add(place)
        super().__setitem__(place, value)


class transition:
    """A context in which records may be written, since a transition runs."""

    def __enter__(self) -> None:
        _open.append(True)

    def __exit__(self, *_: object) -> None:
        _open.pop()


def new_record(record: Record, scope: Scope) -> Plain:
    """A record of zeros at `scope`, read-only outside of `transition`."""
    return _guarded(new_state(record, scope), set())


def lengthen(record: Plain, larger: Plain) -> None:
    """Give the arrays of a record the elements that those of a larger one have besides, wherever in it they stand."""
    for name in record.__slots__:
        own, other = getattr(record, name), getattr(larger, name)
        if isinstance(own, list):
            own.extend(list.__getitem__(other, slice(len(own), None)))
        elif isinstance(own, Plain):
            lengthen(own, other)


def writes_of(record: Plain) -> set[object]:
    """What was written in a record, or in its parts but for the records in arrays, since whoever reads this has cleared it last."""
    return vars(type(record))["writes"]


def _check():
    if not _open:
        raise ReadOnly("a record is written by transitions only")


def _guarded(value, writes):
    if isinstance(value, list):
        found = _List(_guarded(each, set() if isinstance(each, Plain) else writes) for each in value)
        found.writes = writes
        return found
    if not isinstance(value, Plain):
        return value
    for name in type(value).__slots__:
        setattr(value, name, Nothing() if name == GHOSTS else _guarded(getattr(value, name), writes))

    def write(self, name, value):
        _check()
        writes.add(name)
        object.__setattr__(self, name, value)

    guarded = type("State", (type(value),), {"__slots__": (), "__setattr__": write, "writes": writes})
    guarded.__slots__ = type(value).__slots__
    value.__class__ = guarded
    return value
