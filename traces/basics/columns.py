"""Rows that are kept for every record of a log, in a few bytes each."""

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np

Value = TypeVar("Value", bound=Hashable)
Other = TypeVar("Other", bound=Hashable)
_LATELY = 10_000
_MOST = 1 << 62
_DENSE = 4
"""Numbers below so many times their count are counted, which takes less time than to sort them."""


class Repeated(Sequence[Value]):
    """A sequence of values of which there are few `different` ones: the place of each among them is in `codes`."""

    def __init__(self):
        self.codes, self.different = array("I"), list[Value]()
        self._known: dict[Value, int] = {}
        self._seen: dict[int, tuple[int, Value]] = {}
        self._given: Sequence[Value] = ()
        self._places = np.zeros(0, np.int64)

    @classmethod
    def of(cls, codes: np.ndarray, values: Sequence[Value]) -> "Repeated[Value]":
        """From the places of values that are all different; those that none has are left out."""
        used, places = np.unique(codes, return_inverse=True)
        found = cls()
        found.__setstate__((array("I", places.astype(np.uint32).tobytes()), [values[code] for code in used.tolist()]))
        return found

    def append(self, value: Value) -> None:
        """Add a value at the end; one that is the same object as lately is known without a comparison."""
        if (seen := self._seen.get(id(value))) is None:
            if len(self._seen) == _LATELY:
                self._seen.clear()
            seen = self._seen[id(value)] = self._code(value), value
        self.codes.append(seen[0])

    def extend(self, codes: np.ndarray, values: Sequence[Value]) -> None:
        """Add several of `values` at the end, by their places there; a list may have grown when it is given again."""
        if self._given is not values:
            self._given, self._places = values, np.zeros(0, np.int64)
        if len(self._places) < len(values):
            self._places = np.append(self._places, np.full(len(values) - len(self._places), -1))
        for code in np.unique(codes[self._places[codes] < 0]).tolist():
            self._places[code] = self._code(values[code])
        self.codes.frombytes(self._places[codes].astype(np.uint32).tobytes())

    def _code(self, value: Value) -> int:
        code = self._known.setdefault(value, len(self.different))
        if code == len(self.different):
            self.different.append(value)
        return code

    def __getstate__(self) -> tuple:
        return self.codes, self.different

    def __setstate__(self, state: tuple) -> None:
        self.codes, self.different = state
        self._known, self._seen = {value: code for code, value in enumerate(self.different)}, {}
        self._given, self._places = (), np.zeros(0, np.int64)

    def taken(self, places: np.ndarray | slice) -> "Repeated[Value]":
        """The values at some places, in that order."""
        found = Repeated[Value]()
        found.__setstate__((array("I", np.array(self.codes, np.uint32)[places].tobytes()), self.different))
        return found

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, place):
        if isinstance(place, slice):
            return [self.different[code] for code in self.codes[place]]
        return self.different[self.codes[place]]

    def __iter__(self) -> Iterator[Value]:
        return map(self.different.__getitem__, self.codes)

    def counts(self) -> Counter[Value]:
        """How often each value occurs, in the order in which they first did."""
        codes, firsts, counts = np.unique(np.array(self.codes, np.int64), return_index=True, return_counts=True)
        order = np.argsort(firsts)
        return Counter(
            {self.different[code]: count for code, count in zip(codes[order].tolist(), counts[order].tolist())}
        )


def _as_it_is(*row) -> tuple:
    return row


class Rows(Sequence):
    """Tuples of the same form, kept by columns: "q" for an int of 64 bits, "r" for a value of which there are few."""

    def __init__(self, form: str, make: Callable = _as_it_is):
        """`make`: what is made of the values of a row when it is read."""
        self._make = make
        self.columns: tuple[Repeated | array, ...] = tuple(Repeated() if each == "r" else array(each) for each in form)

    @classmethod
    def of(cls, *columns: "np.ndarray | Repeated") -> "Rows":
        """From whole columns, an array for "q"."""
        found = cls("")
        found.columns = tuple(
            each if isinstance(each, Repeated) else array("q", each.astype(np.int64).tobytes()) for each in columns
        )
        return found

    def numbers(self, place: int) -> np.ndarray:
        """A column of numbers."""
        return np.array(self.columns[place], np.int64)

    def values(self, place: int) -> Repeated:
        """A column of values; raises TypeError for one of numbers."""
        found = self.columns[place]
        if not isinstance(found, Repeated):
            raise TypeError(f"column {place} has numbers")
        return found

    def append(self, *row) -> None:
        """Add a row at the end."""
        for column, value in zip(self.columns, row):
            column.append(value)

    def extend(self, *columns) -> None:
        """Add rows by their columns: an array of int64, or for "r" codes and the values that they are places in."""
        for column, added in zip(self.columns, columns):
            if isinstance(column, Repeated):
                column.extend(*added)
            else:
                column.frombytes(added.tobytes())

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, place):
        if isinstance(place, slice):
            return list(map(self._make, *(column[place] for column in self.columns)))
        return self._make(*(column[place] for column in self.columns))

    def __iter__(self) -> Iterator:
        return map(self._make, *self.columns)


class ByZxid(Mapping[int, Value]):
    """What is known of records by their zxids, in their order: twelve bytes for each record."""

    def __init__(self):
        self._zxids, self._values = array("q"), Repeated[Value]()

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, Value]]) -> "ByZxid[Value]":
        """From pairs in any order; of several with one zxid the last counts."""
        found = cls()
        for zxid, value in pairs:
            found.append(zxid, value)
        return found._in_order()

    @classmethod
    def alike(cls, zxids: Sequence[int] | np.ndarray, value: Value) -> "ByZxid[Value]":
        """The same of all records, whose zxids rise."""
        found = cls()
        found.extend(np.array(zxids, np.int64), np.zeros(len(zxids), np.int64), [value])
        return found

    def until(self, zxid: float) -> "ByZxid[Value]":
        """What is known of the records up to that zxid."""
        rows, found = slice(bisect_right(self._zxids, zxid)), ByZxid[Value]()
        found._zxids, found._values = self._zxids[rows], self._values.taken(rows)
        return found

    def _in_order(self) -> "ByZxid[Value]":
        """The same by rising zxids, of several with one zxid the last."""
        found, zxids = ByZxid[Value](), np.array(self._zxids, np.int64)
        order = np.argsort(zxids, kind="stable")
        ordered = zxids[order]
        last = np.flatnonzero(np.diff(ordered, append=-1))
        found._zxids.frombytes(ordered[last].tobytes())
        found._values = self._values.taken(order[last])
        return found

    def mapped(self, function: Callable[[Value], Other | None]) -> "ByZxid[Other]":
        """What a function makes of each value; nothing where that is None."""
        values, found = list(map(function, self._values.different)), ByZxid[Other]()
        known = np.array([value is not None for value in values], bool)
        codes = np.array(self._values.codes, np.int64)
        rows = np.flatnonzero(known[codes])
        kept = [value for value in values if value is not None]
        found.extend(np.array(self._zxids, np.int64)[rows], (np.cumsum(known) - 1)[codes[rows]], kept)
        return found

    def over(self, *others: "ByZxid[Value]") -> "ByZxid[Value]":
        """What is known here, and what the others know of further records: what is known by an earlier one counts."""
        found = ByZxid[Value]()
        for each in (*others[::-1], self):
            codes = np.array(each._values.codes, np.int64)
            found.extend(np.array(each._zxids, np.int64), codes, each._values.different)
        return found._in_order()

    def firsts(self) -> dict[Value, int]:
        """The zxid of the first record of each value."""
        codes, places = np.unique(np.array(self._values.codes, np.int64), return_index=True)
        return {
            self._values.different[code]: self._zxids[place] for code, place in zip(codes.tolist(), places.tolist())
        }

    def append(self, zxid: int, value: Value) -> None:
        """Note what is known of a record behind all others."""
        self._zxids.append(zxid)
        self._values.append(value)

    def extend(self, zxids: np.ndarray, codes: np.ndarray, values: Sequence[Value]) -> None:
        """The same for many records, of each one of `values` by its place there."""
        self._zxids.frombytes(zxids.astype(np.int64).tobytes())
        self._values.extend(codes, values)

    def __getitem__(self, zxid: int):
        place = bisect_left(self._zxids, zxid)
        if place == len(self._zxids) or self._zxids[place] != zxid:
            raise KeyError(zxid)
        return self._values[place]

    def __iter__(self) -> Iterator[int]:
        return iter(self._zxids)

    def __len__(self) -> int:
        return len(self._zxids)

    @property
    def pairs(self) -> Iterator[tuple[int, Value]]:
        """Zxids with what is known of them, in the order of the records."""
        return zip(self._zxids, self._values)

    @property
    def different(self) -> Sequence[Value]:
        """What is known, each once."""
        return self._values.different

    def counts(self) -> Counter[Value]:
        """How many records there are of each value."""
        return self._values.counts()


def groups(codes: np.ndarray) -> list[np.ndarray]:
    """The rows of each code, in their order, by rising codes."""
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(codes[order])) + 1) if len(order) else []


def following(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows that come after another one of the same code, and of each the last such row before it."""
    order = np.argsort(codes, kind="stable")
    again = np.flatnonzero(np.diff(codes[order]) == 0)
    return order[again + 1], order[again]


def distinct(*columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of rows of small numbers from 0 on: where each different one is first, and which of these each of them is."""
    whole, size = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        more = int(column.max(initial=0)) + 1
        if size * more > _MOST:
            whole = np.unique(whole, return_inverse=True)[1]
            size = int(whole.max(initial=0)) + 1
        whole, size = whole * more + column, size * more
    if size <= _DENSE * len(whole):
        return _distinct_of_few(whole, size)
    _, first, codes = np.unique(whole, return_index=True, return_inverse=True)
    return first, codes


def _distinct_of_few(numbers: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The same of numbers below a size, without sorting them."""
    places = np.full(size, -1)
    places[numbers[::-1]] = np.arange(len(numbers))[::-1]
    first, codes = places[places >= 0], np.cumsum(places >= 0) - 1
    return first, codes[numbers]


def numbers(values: Iterable[int]) -> np.ndarray:
    """Numbers out of znodes, which need not fit into 64 bits."""
    listed = list(values)
    try:
        return np.array(listed, np.int64)
    except OverflowError:
        return np.array(listed, object)
