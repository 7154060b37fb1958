"""The writes of a stream by columns: nearly all are of states, which are looked at many at once."""

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa

from kafkaproof.traces.basics.columns import numbers
from kafkaproof.traces.evidence.writes import Form, Write
from kafkaproof.traces.reading.cluster import Members
from kafkaproof.traces.reading.state_records import NOTHING
from kafkaproof.traces.zookeeper.znodes.topics import OUTSIDE, Place, place_of


class Writes(Sequence):
    """Writes in the order of the log.

    `zxids`, `times` (ms since 1970), `numbers`: int64; `sessions`: uint64; `checked`: bool; `contents`: what is
    written; `paths`: codes, whose places are in `places`; `deletes`: bool.
    """

    def __init__(self, table: pa.Table, members: Members):
        """`table`: its columns are those of a Write, as a Shelf keeps them."""
        columns = {name: table[name].combine_chunks() for name in table.schema.names}
        self.members, self.contents = members, columns["data"]
        self.zxids, self.times, self.numbers = (columns[name].to_numpy() for name in ("zxid", "time", "number"))
        self.sessions, self._previous = columns["session"].to_numpy(), columns["previous"].to_numpy()
        self.checked = columns["checked"].to_numpy(zero_copy_only=False)
        self._forms, self._form_names = columns["form"].indices.to_numpy(), columns["form"].dictionary.to_pylist()
        used, self.paths = np.unique(columns["path"].indices.to_numpy(), return_inverse=True)
        self._path_names = columns["path"].dictionary.take(pa.array(used)).to_pylist()
        self.places: list[Place] = [place_of(path) or OUTSIDE for path in self._path_names]
        self.deletes = np.array([name == Form.DELETE for name in self._form_names], bool)[self._forms]
        self.creates = np.array([name == Form.CREATE for name in self._form_names], bool)[self._forms]

    @cached_property
    def brokers(self) -> np.ndarray:
        """Whose sessions wrote them, NOTHING for a tool's."""
        sessions, codes = np.unique(self.sessions, return_inverse=True)
        brokers = (self.members.broker_of.get(session, NOTHING) for session in sessions.tolist())
        return numbers(brokers)[codes]

    def at(self, rows: np.ndarray) -> list[Write]:
        """The writes at some places."""
        sessions, paths = self.sessions[rows].tolist(), self.paths[rows].tolist()
        return list(
            map(
                Write,
                self.zxids[rows].tolist(),
                self.times[rows].tolist(),
                sessions,
                map(self.members.broker_of.get, sessions),
                map(self._form_names.__getitem__, self._forms[rows].tolist()),
                map(self._path_names.__getitem__, paths),
                map(self.places.__getitem__, paths),
                self.contents.take(pa.array(rows, pa.int64())).to_pylist(),
                self.checked[rows].tolist(),
                self._previous[rows].tolist(),
                self.numbers[rows].tolist(),
            )
        )

    def place_at(self, row: int) -> Place:
        """The place of one of them."""
        return self.places[self.paths[row]]

    def __getitem__(self, row):
        if isinstance(row, slice):
            return self.at(np.arange(len(self))[row])
        return self.at(np.array([range(len(self))[row]]))[0]

    def __iter__(self) -> Iterator[Write]:
        return iter(self.at(np.arange(len(self))))

    def __len__(self) -> int:
        return len(self.zxids)
