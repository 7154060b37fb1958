"""The writes of a log by what they are about: many are kept in files, and read again by whoever explains them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from kafkaproof.traces.evidence.write_columns import Writes
from kafkaproof.traces.evidence.writes import Form, Write
from kafkaproof.traces.reading.cluster import Members
from kafkaproof.traces.reading.events import unwritable
from kafkaproof.traces.reading.schema import CODES, named
from kafkaproof.traces.reading.state_records import Codes, StateWrites

MOST = 250_000
"""So many writes are in memory at the most while a log is taken apart."""
_SCHEMA = pa.schema(
    [
        ("zxid", pa.int64()),
        ("time", pa.int64()),
        ("session", pa.uint64()),
        ("form", CODES),
        ("path", CODES),
        ("data", pa.binary()),
        ("checked", pa.bool_()),
        ("previous", pa.int64()),
        ("number", pa.int64()),
    ]
)
_PACKED = pa.ipc.IpcWriteOptions(compression="lz4")
_PLURALS = {"zxid": "zxids", "time": "times", "session": "sessions", "checked": "checked"}


class Pieces(NamedTuple):
    """Where the writes about one thing are: in files, from which byte on, and those that are in no file."""

    stored: list[tuple[Path, int]]
    rest: list[Write]

    def read(self, members: Members) -> Writes:
        """The writes in the order of the log, each once."""
        tables = [_read(*place) for place in self.stored]
        whole = pa.concat_tables([*tables, _table(self.rest) if self.rest else _SCHEMA.empty_table()])
        numbers, first = np.unique(whole["number"].to_numpy(), return_index=True)
        ordered = len(numbers) == len(whole) and bool((np.diff(first) > 0).all())
        whole = whole.unify_dictionaries()
        return Writes(whole if ordered else whole.take(pa.array(first)), members)


class Shelf:
    """Keeps writes by names. `names`: all of them; `kept`: the directory of the files."""

    def __init__(self):
        self.kept: TemporaryDirectory | None = None
        self._rest: dict[str, list[Write]] = defaultdict(list)
        self._stored: dict[str, list[tuple[Path, int]]] = defaultdict(list)
        self._states: list[tuple[StateWrites, np.ndarray, int]] = []
        self._waiting = self._files = 0

    @property
    def names(self) -> set[str]:
        """Whatever a write is about."""
        return self._rest.keys() | self._stored.keys()

    def add(self, name: str, write: Write) -> None:
        """Keep a write."""
        self._rest[name].append(write)
        self._count(1)

    def add_states(self, writes: StateWrites, previous: np.ndarray, number: int) -> None:
        """Keep writes of states by their topics. `previous`: of each; `number`: of the first."""
        self._states.append((writes, previous, number))
        self._count(len(writes))

    def _count(self, more: int) -> None:
        self._waiting += more
        if self._waiting >= MOST:
            self._put_away()

    def close(self) -> None:
        """Nothing more is kept: what is held by columns goes to a file."""
        if self._states:
            self._put_away()

    def pieces(self, names: Iterable[str]) -> Pieces:
        """The writes of some names, together."""
        named = [name for name in names if name in self.names]
        return Pieces(
            [place for name in named for place in self._stored.get(name, ())],
            [write for name in named for write in self._rest.get(name, ())],
        )

    def _put_away(self) -> None:
        """Write all that is in memory to a file, one name after another."""
        self.kept = self.kept or TemporaryDirectory(prefix="kafkaproof-log-")
        file = Path(self.kept.name) / f"{self._files:06d}.arrows"
        tables: dict[str, list[pa.Table]] = {name: [_table(writes)] for name, writes in self._rest.items()}
        for name, table in _by_topics(self._states):
            tables.setdefault(name, []).append(table)
        with unwritable(file), file.open("wb") as out:
            for name, parts in tables.items():
                self._stored[name].append((file, out.tell()))
                with pa.ipc.new_stream(out, _SCHEMA, options=_PACKED) as writer:
                    writer.write_table(pa.concat_tables(parts).unify_dictionaries().combine_chunks())
        self._rest, self._states, self._waiting = defaultdict(list), [], 0
        self._files += 1


def _table(writes: list[Write]) -> pa.Table:
    columns = dict(zip(Write._fields, zip(*writes)))
    plain = (field.type.value_type if pa.types.is_dictionary(field.type) else field.type for field in _SCHEMA)
    return pa.table(
        [pa.array(columns[field.name], kind).cast(field.type) for field, kind in zip(_SCHEMA, plain)], _SCHEMA
    )


def _by_topics(states: list[tuple[StateWrites, np.ndarray, int]]) -> Iterator[tuple[str, pa.Table]]:
    """Writes of states, a table for each topic."""
    if not states:
        return
    paths = states[0][0].names.states.values
    topics = Codes[str]()
    of_path = np.array([topics.of(path.place.topic) for path in paths], np.int32)
    known = pa.array([path.known for path in paths], pa.string())
    partitions = np.concatenate([writes.partitions for writes, *_ in states])
    order = np.argsort(of_path[partitions], kind="stable")
    partitions = partitions[order]
    sorted_topics, columns = (
        of_path[partitions],
        {name: _state_column(name, states).take(pa.array(order)) for name in _SCHEMA.names if name != "path"},
    )
    bounds = [*np.flatnonzero(np.diff(sorted_topics, prepend=-1)).tolist(), len(order)]
    for first, last in zip(bounds, bounds[1:]):
        own = {name: column.slice(first, last - first) for name, column in columns.items()}
        own["path"] = named(partitions[first:last], known)
        yield topics.values[sorted_topics[first]], pa.table([own[name] for name in _SCHEMA.names], _SCHEMA)


def _state_column(name: str, states: list[tuple[StateWrites, np.ndarray, int]]) -> pa.Array:
    """A column of _SCHEMA for writes of states, but for their paths."""
    match name:
        case "form":
            count = sum(len(writes) for writes, *_ in states)
            return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), [Form.SET])
        case "data":
            return pa.concat_arrays([writes.contents for writes, *_ in states])
        case "previous":
            return pa.array(np.concatenate([previous for _, previous, _ in states]))
        case "number":
            return pa.array(np.concatenate([first + np.arange(len(writes)) for writes, _, first in states]))
    return pa.array(np.concatenate([getattr(writes, _PLURALS[name]) for writes, *_ in states]))


def _read(file: Path, begin: int) -> pa.Table:
    """The writes that a file has from a byte on."""
    with pa.memory_map(str(file)) as source:
        source.seek(begin)
        return pa.ipc.open_stream(source).read_all()
