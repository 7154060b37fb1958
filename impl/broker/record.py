"""A broker's record: what its transitions read and write, read-only outside of them, without ghosts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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
    """An array of a record."""

    def __setitem__(self, place, value):
        _check()
        super().__setitem__(place, value)


@contextmanager
def transition() -> Iterator[None]:
    """A context in which records may be written, since a transition runs."""
    _open.append(True)
    try:
        yield
    finally:
        _open.pop()


def new_record(record: Record, scope: Scope) -> Plain:
    """A record of zeros at `scope`, read-only outside of `transition`."""
    return _guarded(new_state(record, scope))


def _check():
    if not _open:
        raise ReadOnly("a record is written by transitions only")


def _guarded(value):
    if isinstance(value, list):
        return _List(_guarded(each) for each in value)
    if not isinstance(value, Plain):
        return value
    for name in type(value).__slots__:
        setattr(value, name, Nothing() if name == GHOSTS else _guarded(getattr(value, name)))
    guarded = type("State", (type(value),), {"__slots__": (), "__setattr__": _set})
    guarded.__slots__ = type(value).__slots__
    value.__class__ = guarded
    return value


def _set(self, name, value):
    _check()
    object.__setattr__(self, name, value)
