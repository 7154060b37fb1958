"""The records of a log file: those of the usual shape in columns, the others as transactions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from kafkaproof.traces.zookeeper.data_records import Sets, at_once, sets_in
from kafkaproof.traces.zookeeper.decoding import MULTI, TXN_HEADER, transaction_in
from kafkaproof.traces.zookeeper.jute import JuteError
from kafkaproof.traces.zookeeper.transactions import Transaction

_HEADER = np.dtype([("session", ">u8"), ("cxid", ">i4"), ("zxid", ">i8"), ("time", ">i8"), ("kind", ">i4")])
_NONE = np.zeros(0, np.int64)
_NO_SETS = Sets(_NONE, _NONE, _NONE, _NONE, _NONE, _NONE, _NONE, pa.array([], pa.string()))


class Headers(NamedTuple):
    """What the headers of records say: arrays with an element for each."""

    zxid: np.ndarray
    session: np.ndarray
    cxid: np.ndarray
    time: np.ndarray
    multi: np.ndarray


_TYPES = (np.int64, np.uint64, np.int32, np.int64, np.bool_)
"""Those of `Headers`."""


class Records(Sequence):
    """Transactions: `sets` has some as columns, `odd` the others, by their places.

    `content`: the bytes in which the data of the sets is.
    """

    def __init__(self, headers: Headers, sets: Sets, odd: dict[int, Transaction], content: bytes, bounds: np.ndarray):
        """`bounds`: where in the content the payload of each record begins (row 0) and ends (row 1)."""
        self.headers, self.sets, self.odd, self.content, self._bounds = headers, sets, odd, content, bounds

    @classmethod
    def of(cls, transactions: Iterable[Transaction]) -> Records:
        """From transactions, none of which becomes a column."""
        found = list(transactions)
        headers = Headers(
            *(np.array(list(map(attrgetter(name), found)), kind) for name, kind in zip(Headers._fields, _TYPES))
        )
        return cls(headers, _NO_SETS, dict(enumerate(found)), b"", np.zeros((2, 0), np.int64))

    def __len__(self) -> int:
        return len(self.headers.zxid)

    def __getitem__(self, place):
        if isinstance(place, slice):
            return self._between(*place.indices(len(self))[:2])
        place = range(len(self))[place]
        return self.odd.get(place) or transaction_in(self.content[slice(*self._bounds[:, place].tolist())])

    def _between(self, first: int, last: int) -> Records:
        odd = {place - first: each for place, each in self.odd.items() if first <= place < last}
        return Records(
            Headers(*(each[first:last] for each in self.headers)),
            self.sets.between(first, last),
            odd,
            self.content,
            self._bounds[:, first:last],
        )


def records_in(content: bytes, bounds: np.ndarray) -> tuple[Records, JuteError | None]:
    """The records of which a content has the payloads, up to the first that cannot be decoded; what is wrong with it.

    `bounds`: where each payload begins (row 0) and ends (row 1).
    """
    sizes = bounds[1] - bounds[0]
    long = bounds[:, : np.argmax(np.append(sizes, 0) < TXN_HEADER.size)]
    fields = at_once(content, _HEADER, long[0])
    headers = Headers(
        fields["zxid"].astype(np.int64),
        fields["session"].astype(np.uint64),
        fields["cxid"].astype(np.int32),
        fields["time"].astype(np.int64),
        fields["kind"] == MULTI,
    )
    sets = sets_in(content, fields["kind"], *long)
    records = Records(headers, sets, {}, content, long)
    is_odd = np.ones(len(sizes), bool)
    is_odd[sets.places] = False
    for place in np.flatnonzero(is_odd).tolist():
        try:
            records.odd[place] = transaction_in(content[slice(*bounds[:, place].tolist())])
        except JuteError as error:
            return records[:place], error
    return records, None
