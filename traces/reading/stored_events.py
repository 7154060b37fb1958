"""Reads the transactions back that were written as events."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kafkaproof.traces.reading.events import OPERATIONS, SCHEMA
from kafkaproof.traces.zookeeper.transactions import (
    ERROR_NAMES,
    Acl,
    Check,
    CloseSession,
    Create,
    CreateSession,
    Delete,
    Failure,
    Operation,
    Reconfig,
    SetAcl,
    SetData,
    Transaction,
)

_HEADERS = ["zxid", "cxid", "time", "multi", "place", "operations", "path", "version"]
_RARE = SCHEMA.names[SCHEMA.names.index("operation") : SCHEMA.names.index("chroot")]
_BATCH = 50_000
_CODES = {name: code for code, name in ERROR_NAMES.items()}
_FORMS = {name: form for form, name in OPERATIONS.items()}
_SET, _CHECK = OPERATIONS[SetData], OPERATIONS[Check]
_check = lru_cache(maxsize=10_000)(Check)


def batches_in(file: Path) -> Iterator[pa.RecordBatch]:
    """The rows of a file of events, those of one record in one batch."""
    rest = None
    for batch in pq.ParquetFile(file).iter_batches(_BATCH):
        batch = _joined(rest, batch) if rest else batch
        whole = numbers_of(batch, "place")[-1] + 1 >= numbers_of(batch, "operations")[-1]
        end = len(batch) if whole else int(np.flatnonzero(numbers_of(batch, "place") == 0)[-1])
        if end:
            yield batch.slice(0, end)
        rest = batch.slice(end) if end < len(batch) else None


def _joined(*batches: pa.RecordBatch) -> pa.RecordBatch:
    """Several batches as one, which has one dictionary for each column."""
    return pa.Table.from_batches(batches).unify_dictionaries().combine_chunks().to_batches()[0]


def transactions_of(batch: pa.RecordBatch) -> Iterator[Transaction]:
    """The transactions of a batch of whole ones, but for what trails behind their operations."""
    waiting: list[Operation] = []
    rare = _rare(batch)
    rows = zip(
        sessions_of(batch),
        values_of(batch.column("operation")),
        values_of(contents_of(batch)),
        *(values_of(batch.column(name)) for name in _HEADERS),
    )
    for session, name, content, zxid, cxid, time, multi, place, count, path, version in rows:
        operation: Operation | None
        if name == _SET:
            operation = SetData(path, content, version)
        elif name == _CHECK:
            operation = _check(path, version)
        else:
            operation = next(rare)
        if operation is None:
            yield Transaction(zxid, session, cxid, time, (), multi)
        elif count > 1:
            waiting.append(operation)
            if place == count - 1:
                yield Transaction(zxid, session, cxid, time, tuple(waiting), multi)
                waiting = []
        else:
            yield Transaction(zxid, session, cxid, time, (operation,), multi)


def values_of(column: pa.Array) -> list:
    """A column as a list; None, or 0 of numbers, where it is null."""
    if pa.types.is_dictionary(column.type):
        values = [*column.dictionary.to_pylist(), None]
        return [values[code] for code in column.indices.fill_null(-1).to_numpy().tolist()]
    if column.null_count == len(column):
        return [None] * len(column)
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    if pa.types.is_integer(column.type):
        return column.fill_null(0).to_numpy().tolist()
    if pa.types.is_list(column.type):
        return column.to_pylist()
    return column.to_numpy(zero_copy_only=False).tolist()


def numbers_of(rows: pa.RecordBatch | pa.Array, name: str | None = None) -> np.ndarray:
    """A column of numbers, or of times in milliseconds; -1 where it is null."""
    column = rows.column(name) if name else rows
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    return (column.fill_null(-1) if column.null_count else column).to_numpy()


def sessions_of(batch: pa.RecordBatch) -> list[int]:
    """The sessions of rows."""
    column = batch.column("session")
    sessions = [int(session, 16) for session in column.dictionary.to_pylist()]
    return [sessions[code] for code in column.indices.to_numpy().tolist()]


def contents_of(batch: pa.RecordBatch) -> pa.Array:
    """What is written by each operation, as bytes."""
    contents, exact = batch.column("text").cast(pa.binary()), batch.column("bytes")
    return contents if exact.null_count == len(exact) else pc.coalesce(exact, contents)


def _rare(batch: pa.RecordBatch) -> Iterator[Operation | None]:
    """The operations of a batch but for checks and those that set data, of which there are most."""
    column = batch.column("operation")
    names = [*column.dictionary.to_pylist(), None]
    is_rare = np.array([name not in (_SET, _CHECK) for name in names])
    rows = batch.filter(pa.array(is_rare[column.indices.fill_null(-1).to_numpy()]))
    for row in zip(*(values_of(rows.column(name)) for name in _RARE)):
        yield _operation(*row) if row[0] else None


def _content(text: str | None, exact: bytes | None) -> bytes | None:
    if exact is not None:
        return exact
    return None if text is None else text.encode()


def _operation(name, path, version, error, timeout, ephemeral, mode, cversion, ttl, paths, acl, text, exact):
    """An operation by its row."""
    form = _FORMS[name]
    if form is Create:
        return Create(path, _content(text, exact), ephemeral, cversion, mode, _acl(acl), ttl)
    if form is Delete:
        return Delete(path, mode == "container")
    if form is Failure:
        return Failure(_CODES[error] if error in _CODES else int(error))
    if form is CreateSession:
        return CreateSession(timeout)
    if form is CloseSession:
        return CloseSession(None if paths is None else tuple(paths))
    if form is SetAcl:
        return SetAcl(path, version, _acl(acl))
    return Reconfig(path, _content(text, exact), version)


def _acl(listed: list[dict] | None) -> tuple[Acl, ...] | None:
    return None if listed is None else tuple(Acl(**each) for each in listed)
