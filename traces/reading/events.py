"""The operations of a log as a table in Parquet, typed as Kafka means them: for replay, and for SQL."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from kafkaproof.checker.basics.errors import UserError
from kafkaproof.traces.reading.meanings import as_kafka
from kafkaproof.traces.reading.schema import SCHEMA, column_of, named
from kafkaproof.traces.zookeeper.data_records import slices
from kafkaproof.traces.zookeeper.records import Records
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
)

_RECORDS = 50_000
OPERATIONS = {
    SetData: "setData",
    Check: "check",
    Create: "create",
    Delete: "delete",
    Failure: "error",
    SetAcl: "setACL",
    CreateSession: "createSession",
    CloseSession: "closeSession",
    Reconfig: "reconfig",
}
"""The operations as the column "operation" has them."""
_CODES = {form: code for code, form in enumerate(OPERATIONS)} | {type(None): -1}
_RARE = SCHEMA.names[SCHEMA.names.index("error") : SCHEMA.names.index("text")]


class _Rows(NamedTuple):
    """Which rows records have. `counts`: how many operations each has; of each row its record, and its place in that.

    `sets`, `checks`, `odd`: the rows of the setData and of the checks of `Records.sets`, and those of odd records.
    """

    counts: np.ndarray
    records: np.ndarray
    places: np.ndarray
    sets: np.ndarray
    checks: np.ndarray
    odd: np.ndarray


def write_events(records: Records, file: Path) -> None:
    """Write the operations of records to a Parquet file; the rows of 50,000 of them are in memory beside these.

    Raises UserError where the file cannot be written.
    """
    with writing(file, SCHEMA) as writer:
        for first in range(0, len(records), _RECORDS):
            writer.write_table(table_of(records[first : first + _RECORDS]))


@contextmanager
def writing(file: Path, schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
    """Writes a Parquet file; raises UserError where that cannot be done.

    Columns have a dictionary where the schema says so: in others, numbers and contents, most values differ.
    """
    coded = [field.name for field in schema if pa.types.is_dictionary(field.type)]
    with (
        unwritable(file),
        pq.ParquetWriter(
            file, schema, compression="zstd", use_dictionary=coded, write_statistics=["zxid", "time"]
        ) as writer,
    ):
        yield writer


@contextmanager
def unwritable(file: Path) -> Iterator[None]:
    """Raises UserError where a file that the block writes cannot be written."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error}; TMPDIR names the directory of temporary files") from None


def table_of(records: Records) -> pa.Table:
    """The rows of records."""
    rows = _rows_of(records)
    operations = [operation for each in records.odd.values() for operation in each.operations or (None,)]
    paths, contents = _paths(records, rows, operations), _contents(records, rows, operations)
    columns = _headers(records, rows) | _forms(records, rows, operations) | _rare(rows, operations)
    columns |= {"path": paths} | _text(contents) | as_kafka(paths, contents)
    return pa.table([columns[name] for name in SCHEMA.names], SCHEMA)


def _rows_of(records: Records) -> _Rows:
    sets, is_odd = records.sets, np.ones(len(records), bool)
    is_odd[sets.places] = False
    counts = np.empty(len(records), np.int32)
    counts[sets.places] = 1 + (sets.checked >= 0)
    counts[is_odd] = [len(each.operations) for each in records.odd.values()]
    each = np.maximum(counts, 1)
    firsts = np.cumsum(each) - each
    records_of = np.repeat(np.arange(len(records)), each)
    of_sets = firsts[sets.places]
    return _Rows(
        counts,
        records_of,
        np.arange(len(records_of)) - firsts[records_of],
        of_sets + (sets.checked >= 0),
        of_sets[sets.checked >= 0],
        np.flatnonzero(is_odd[records_of]),
    )


def _headers(records: Records, rows: _Rows) -> dict[str, pa.Array]:
    """What is of a record is in the row of each of its operations."""
    sessions = pa.array(records.headers.session).dictionary_encode()
    names = pa.array([f"{session:#x}" for session in sessions.dictionary.to_pylist()], pa.string())
    session = pa.DictionaryArray.from_arrays(sessions.indices.take(pa.array(rows.records)), names)
    found = {
        "session": session,
        "operations": pa.array(rows.counts[rows.records]),
        "place": pa.array(rows.places.astype(np.int32)),
    }
    for name in ("zxid", "time", "cxid", "multi"):
        found[name] = pa.array(getattr(records.headers, name)[rows.records], SCHEMA.field(name).type)
    return found


def _paths(records: Records, rows: _Rows, operations: list[Operation | None]) -> pa.DictionaryArray:
    """The paths of the rows."""
    sets = records.sets
    odd = pa.array([getattr(operation, "path", None) for operation in operations], pa.string())
    names = pa.concat_arrays([sets.names, odd]).dictionary_encode()
    same = names.indices.fill_null(-1).to_numpy()
    codes = np.empty(len(rows.records), np.int32)
    codes[rows.sets] = same[sets.paths]
    codes[rows.checks] = same[sets.checked[sets.checked >= 0]]
    codes[rows.odd] = same[len(sets.names) :]
    return named(codes, names.dictionary)


def _contents(records: Records, rows: _Rows, operations: list[Operation | None]) -> pa.Array:
    """What is written in the rows."""
    sets = records.sets
    odd = pa.array([getattr(operation, "data", None) for operation in operations], pa.large_binary())
    written = pa.concat_arrays([slices(records.content, sets.begins, sets.ends), odd])
    places = np.full(len(rows.records), -1)
    places[rows.sets] = np.arange(len(sets))
    places[rows.odd] = np.arange(len(sets), len(written))
    return written.take(pa.array(places, mask=places < 0)).cast(pa.binary())


def _forms(records: Records, rows: _Rows, operations: list[Operation | None]) -> dict[str, pa.Array]:
    """What the operations are, and the versions in them."""
    sets, codes = records.sets, np.empty(len(rows.records), np.int8)
    codes[rows.sets], codes[rows.checks] = _CODES[SetData], _CODES[Check]
    codes[rows.odd] = [_CODES[type(operation)] for operation in operations]
    versions, without = np.zeros(len(codes), np.int32), np.zeros(len(codes), bool)
    versions[rows.sets], versions[rows.checks] = sets.versions, sets.expected[sets.checked >= 0]
    versions[rows.odd] = [getattr(operation, "version", 0) for operation in operations]
    without[rows.odd] = [not hasattr(operation, "version") for operation in operations]
    return {
        "operation": named(codes, pa.array(OPERATIONS.values(), pa.string())),
        "version": pa.array(versions, mask=without),
    }


def _rare(rows: _Rows, operations: list[Operation | None]) -> dict[str, pa.Array]:
    """What checks and those that set data do not have; nearly all operations are of these."""
    where = np.full(len(rows.records), -1)
    where[rows.odd] = np.arange(len(operations))
    indices = pa.array(where, mask=where < 0)
    columns = zip(*map(_details, operations)) if operations else [()] * len(_RARE)
    return {name: column_of(name, list(column)).take(indices) for name, column in zip(_RARE, columns)}


def _details(operation: Operation | None) -> tuple:
    """The values of _RARE."""
    match operation:
        case Create(_, _, ephemeral, parent_cversion, kind, acl, ttl):
            return None, None, ephemeral, kind, parent_cversion, ttl, None, _listed(acl)
        case Delete(_, container):
            return None, None, None, "container" if container else None, None, None, None, None
        case Failure(code):
            return ERROR_NAMES.get(code, str(code)), *(None,) * 7
        case CreateSession(timeout):
            return None, timeout, *(None,) * 6
        case CloseSession(paths):
            return *(None,) * 6, None if paths is None else list(paths), None
        case SetAcl(_, _, acl):
            return *(None,) * 7, _listed(acl)
    return (None,) * 8


def _listed(acl: tuple[Acl, ...] | None) -> list[dict] | None:
    if acl is None:
        return None
    return [{"permissions": each.permissions, "scheme": each.scheme, "id": each.id} for each in acl]


def _text(contents: pa.Array) -> dict[str, pa.Array]:
    """Contents as text, and as bytes where they are no UTF-8."""
    try:
        return {"text": contents.cast(pa.string()), "bytes": pa.nulls(len(contents), pa.binary())}
    except pa.ArrowInvalid:
        exact = contents.to_pylist()
        texts = [None if content is None else content.decode(errors="replace") for content in exact]
        same = [text is None or text.encode() == content for text, content in zip(texts, exact)]
        return {
            "text": pa.array(texts, pa.string()),
            "bytes": pa.array([None if whole else content for whole, content in zip(same, exact)], pa.binary()),
        }


def rows_in(file: Path) -> int:
    """How many operations a file has that `write_events` wrote."""
    return pq.ParquetFile(file).metadata.num_rows
