"""Finds the records of a log that set the data of one znode, alone or behind a check of another one, all at once.

Nearly all records of a Kafka's log are such. Any other, also one that cannot be decoded, is left to `decoding`.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from kafkaproof.traces.zookeeper.decoding import CHECK, MULTI, SET_DATA, TXN_HEADER


@dataclass(frozen=True, slots=True)
class Sets:
    """Records that set the data of one znode: arrays with an element for each, in the order of the log.

    `places`: which records; `paths`: whose data is set, and `checked`: which znode is checked (-1: none), as places in
    `names`; `versions` are those of the setData, `expected` those of the check; `begins`, `ends`: where the data is.
    """

    places: np.ndarray
    checked: np.ndarray
    expected: np.ndarray
    paths: np.ndarray
    versions: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    names: pa.Array

    def __len__(self) -> int:
        return len(self.places)

    def between(self, first: int, last: int) -> "Sets":
        """Those of the records from place `first`, which becomes 0, to before place `last`."""
        some = slice(*np.searchsorted(self.places, (first, last)))
        return Sets(
            self.places[some] - first,
            self.checked[some],
            self.expected[some],
            self.paths[some],
            self.versions[some],
            self.begins[some],
            self.ends[some],
            self.names,
        )


def at_once(content: bytes, layout: np.dtype, offsets: np.ndarray) -> np.ndarray:
    """What stands at each of many offsets of a content."""
    return np.ndarray(max(len(content) - layout.itemsize + 1, 0), layout, content, strides=(1,))[offsets]


def slices(content: bytes, begins: np.ndarray, ends: np.ndarray) -> pa.LargeBinaryArray:
    """Parts of a content, of which each begins where the one before ends, or later."""
    offsets = np.stack([begins, ends], 1).ravel()
    parts = pa.Array.from_buffers(
        pa.large_binary(), max(len(offsets) - 1, 0), [None, pa.py_buffer(offsets), pa.py_buffer(content)]
    )
    return parts.take(pa.array(np.arange(0, len(offsets), 2)))


class _Readers:
    """Takes jute values one after another, from many records at once; `fine`: of which all is as expected so far."""

    _INT = np.dtype(">i4")

    def __init__(self, content: bytes, places: np.ndarray, starts: np.ndarray, stops: np.ndarray):
        self._content, self.places = content, places
        self.offsets, self.ends = starts[places] + TXN_HEADER.size, stops[places]
        self.fine = np.ones(len(places), bool)

    def integer(self) -> np.ndarray:
        """Take an int."""
        self.fine &= self.offsets + 4 <= self.ends
        found = at_once(self._content, self._INT, np.where(self.fine, self.offsets, 0)).astype(np.int64)
        self.offsets = self.offsets + 4
        return found

    def expect(self, number: int) -> None:
        """Take an int that should be this one."""
        self.fine &= self.integer() == number

    def buffer(self) -> tuple[np.ndarray, np.ndarray]:
        """Take a buffer, which is not null: where it begins and ends; more must come behind it."""
        length, begins = self.integer(), self.offsets
        self.offsets = begins + length
        self.fine &= length >= 0
        return begins, self.offsets

    def set_data(self) -> tuple[np.ndarray, ...]:
        """Take a SetDataTxn: where the path and the data begin and end, and the version."""
        return *self.buffer(), *self.buffer(), self.integer()

    def check(self) -> tuple[np.ndarray, ...]:
        """Take a CheckVersionTxn: where the path begins and ends, and the version."""
        return *self.buffer(), self.integer()

    def of_multi(self, kind: int, take) -> tuple[np.ndarray, ...]:
        """Take an operation of a multi that should be of this type, and leave nothing of its body."""
        self.expect(kind)
        size = self.integer()
        end = self.offsets + size
        found = take()
        self.fine &= self.offsets == end
        return found

    def rows(self, *columns: np.ndarray) -> np.ndarray:
        """The places and columns of those that are fine."""
        return np.stack([self.places, *columns])[:, self.fine]


def sets_in(content: bytes, kinds: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> Sets:
    """The sets among the records of these types, with their payloads from `starts` to `stops`."""
    alone = _Readers(content, np.flatnonzero(kinds == SET_DATA), starts, stops)
    found = alone.rows(*[np.full(len(alone.places), -1)] * 3, *alone.set_data())
    multis = _Readers(content, np.flatnonzero(kinds == MULTI), starts, stops)
    multis.expect(2)
    check = multis.of_multi(CHECK, multis.check)
    found = np.hstack([found, multis.rows(*check, *multis.of_multi(SET_DATA, multis.set_data))])
    found = found[:, np.argsort(found[0], kind="stable")]
    places, check_begins, check_ends, expected, path_begins, path_ends, begins, ends, versions = found
    checks = np.flatnonzero(check_begins >= 0)
    encoded = pa.concat_arrays(
        [slices(content, check_begins[checks], check_ends[checks]), slices(content, path_begins, path_ends)]
    ).dictionary_encode()
    names = list(map(_text, encoded.dictionary.to_pylist()))
    codes = encoded.indices.to_numpy()
    checked = np.full(len(places), -1, np.int32)
    checked[checks] = codes[: len(checks)]
    paths = codes[len(checks) :]
    known = np.array([name is not None for name in [*names, ""]])
    fine = known[checked] & known[paths]
    return Sets(
        places[fine],
        checked[fine],
        expected[fine],
        paths[fine],
        versions[fine],
        begins[fine],
        ends[fine],
        pa.array(names, pa.string()),
    )


def _text(encoded: bytes) -> str | None:
    """A path, None where it is none."""
    try:
        return encoded.decode()
    except UnicodeDecodeError:
        return None
