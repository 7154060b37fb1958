"""A plain state that notes what is written to it: what a step leaves alone is neither copied nor looked at again.

Each part of a watched state knows its path, and enters each leaf that is written, under its path, in one journal: the
value that it had first.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from functools import lru_cache
from itertools import islice

from kafkaproof.spec.language.plain import Elements, Plain, copied, get, put

Path = tuple[str | int, ...]
Journal = dict[Path, int]


class _Watched:
    """A record whose `_journal` is told what is written; it stands at `_path`. `_kind` is the class of such records."""

    _journal: Journal
    _path: Path
    _kind: type[Plain]

    def __setattr__(self, name, value):
        former = getattr(self, name)
        if former != value:
            self._journal.setdefault((*self._path, name), former)
            super().__setattr__(name, value)

    def __copy__(self):
        twin = object.__new__(self._kind)
        for name in self.__slots__:
            setattr(twin, name, getattr(self, name))
        return twin

    def copy(self):
        """A state with the same values that shares nothing with this one, and that nobody watches; arrays are whole."""
        twin = object.__new__(self._kind)
        for name in self.__slots__:
            value = getattr(self, name)
            whole = Elements(list.__iter__(value)) if isinstance(value, _Beginning) else value
            setattr(twin, name, copied(whole))
        return twin


class _WatchedList(Elements):
    """The same of an array."""

    _journal: Journal
    _path: Path

    def __setitem__(self, place, value):
        former = self[place]
        if former != value:
            self._journal.setdefault((*self._path, place), former)
            super().__setitem__(place, value)

    def __copy__(self):
        return Elements(self)


class _Beginning:
    """An array that shows its first `shown` elements: the others are there for who asks for one by its place."""

    shown: int

    def __len__(self):
        return self.shown

    def __iter__(self):
        return islice(list.__iter__(self), self.shown)


class _BeginningOfElements(_Beginning, Elements):
    """Such an array that nobody watches."""


class _WatchedBeginning(_Beginning, _WatchedList):
    """Such an array that notes what is written to it."""

    def __copy__(self):
        twin = _BeginningOfElements(list.__iter__(self))
        twin.shown = self.shown
        return twin


def show(state: Plain, path: Path, shown: int) -> None:
    """Let an array of a watched state show so many elements, the first ones; the others are to be as at first."""
    array = get(state, path)
    if not isinstance(array, _Beginning):
        beginning = _WatchedBeginning(array)
        beginning.__dict__.update(array.__dict__)
        object.__setattr__(get(state, path[:-1]), str(path[-1]), beginning)
        array = beginning
    array.shown = shown


def watched(state: Plain, journal: Journal) -> Plain:
    """A state with the same values that enters in `journal` what is written to it."""
    return _watched(state, journal, ())


def _watched(value, journal, path):
    if isinstance(value, list):
        twin = _WatchedList(_watched(each, journal, (*path, i)) for i, each in enumerate(value))
    elif isinstance(value, Plain):
        twin = object.__new__(_watching(type(value)))
        for name in value.__slots__:
            object.__setattr__(twin, name, _watched(getattr(value, name), journal, (*path, name)))
    else:
        return value
    twin.__dict__.update(_journal=journal, _path=path)
    return twin


@lru_cache(maxsize=256)
def _watching(kind):
    return type(kind.__name__, (_Watched, kind), {"_kind": kind})


def lengthen(array: _WatchedList, size: int) -> None:
    """Give an array of records so many elements, the new ones zero: the same state, in a larger scope."""
    for place in range(len(array), size):
        array.append(_watched(array[0]._kind(), array._journal, (*array._path, place)))


def undo(state: Plain, written: Mapping[Path, int]) -> None:
    """Give what was written its former values again."""
    for path, former in written.items():
        put(state, path, former)


def before(state: Plain, written: Mapping[Path, int]) -> Plain:
    """A state as it was before something was written. It shares all else with the state, and is of no use once that changes."""
    whole = copy(state)
    copies: dict[Path, Plain | Elements] = {(): whole}
    for path, former in written.items():
        for end in range(1, len(path)):
            if path[:end] not in copies:
                parent = copies[path[: end - 1]]
                copies[path[:end]] = copy(get(parent, path[end - 1 : end]))
                put(parent, path[end - 1 : end], copies[path[:end]])
        put(copies[path[:-1]], path[-1:], former)
    return whole
