"""The operations of a log as a table in Parquet, typed as Kafka means them: for replay, and for SQL."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from checker.errors import UserError
from traces.znodes.contents import broker_in, number_in, state_in
from traces.znodes.json_parts import is_number
from traces.znodes.places import place_of
from traces.zookeeper.transactions import (
    ERROR_NAMES, Acl, Check, CloseSession, Create, CreateSession, Delete, Failure, Operation, Reconfig, SetAcl, SetData,
    Transaction,
)

_CODES = pa.dictionary(pa.int32(), pa.string())
_ACL = pa.struct([("permissions", pa.int32()), ("scheme", pa.string()), ("id", pa.string())])
SCHEMA = pa.schema([
    ("zxid", pa.int64()), ("time", pa.timestamp("ms", "UTC")), ("session", _CODES), ("cxid", pa.int32()),
    ("multi", pa.bool_()), ("place", pa.int32()), ("operations", pa.int32()), ("operation", _CODES), ("path", _CODES),
    ("version", pa.int32()), ("error", _CODES), ("timeout", pa.int32()), ("ephemeral", pa.bool_()), ("mode", _CODES),
    ("parent_cversion", pa.int32()), ("ttl", pa.int64()), ("paths", pa.list_(pa.string())), ("acl", pa.list_(_ACL)),
    ("text", pa.string()), ("bytes", pa.binary()), ("chroot", _CODES), ("kind", _CODES), ("topic", _CODES),
    ("partition", pa.int32()), ("broker", pa.int32()), ("leader", pa.int32()), ("leader_epoch", pa.int32()),
    ("controller_epoch", pa.int32()), ("isr", pa.list_(pa.int32())),
])
"""One row for each operation, and for a multi without any: docs/replay.md says what the columns are.

What an operation does not have is null.
"""
_ROWS = 50_000
_LIMIT = 1 << 31
_NAMES = {
    SetData: "setData", Check: "check", Create: "create", Delete: "delete", Failure: "error", SetAcl: "setACL",
    CreateSession: "createSession", CloseSession: "closeSession", Reconfig: "reconfig", type(None): None,
}
_RARE = SCHEMA.names[SCHEMA.names.index("error"):SCHEMA.names.index("text")]
_SAYING = "state", "controller", "epoch"
_STATE = "leader", "leader_epoch", "controller_epoch", "isr"
_IDS = "/brokers/ids/"


class _Known(NamedTuple):
    """Where a znode belongs: the chroot of its cluster, its kind, and what its path says."""

    chroot: str | None = None
    kind: str | None = None
    topic: str | None = None
    partition: int | None = None
    broker: int | None = None


def write_events(transactions: Iterable[Transaction], file: Path) -> None:
    """Write the operations of transactions to a Parquet file; the rows of 50,000 of them are in memory beside these.

    Raises UserError where the file cannot be written.
    """
    rest = iter(transactions)
    with writing(file, SCHEMA) as writer:
        while some := list(islice(rest, _ROWS)):
            writer.write_table(table_of(some))


@contextmanager
def writing(file: Path, schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
    """Writes a Parquet file; raises UserError where that cannot be done."""
    try:
        with pq.ParquetWriter(file, schema, compression="zstd") as writer:
            yield writer
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error}; TMPDIR names the directory of temporary files") from None


def table_of(transactions: Iterable[Transaction]) -> pa.Table:
    """The rows of transactions."""
    records = list(transactions)
    counts = np.array([len(each.operations) for each in records], np.int32)
    rows = np.repeat(np.arange(len(records)), np.maximum(counts, 1))
    operations = [operation for each in records for operation in each.operations or (None,)]
    paths = pa.array([getattr(operation, "path", None) for operation in operations], pa.string()).dictionary_encode()
    contents = [getattr(operation, "data", None) for operation in operations]
    columns = _headers(records, counts, rows) | _rare(operations) | _text(contents) | _as_kafka(paths, contents) | {
        "operation": [_NAMES[type(operation)] for operation in operations], "path": paths,
        "version": [getattr(operation, "version", None) for operation in operations]}
    return pa.table([_column(columns[field.name], field.type) for field in SCHEMA], SCHEMA)


def _column(values: pa.Array | list, kind: pa.DataType) -> pa.Array:
    """Values as a column of that type."""
    if isinstance(values, pa.Array) and values.type == kind:
        return values
    return pa.array(values, kind.value_type if pa.types.is_dictionary(kind) else kind).cast(kind)


def _headers(records: list[Transaction], counts: np.ndarray, rows: np.ndarray) -> dict[str, pa.Array]:
    """What is of a record is in the row of each of its operations; `rows` has the place of the record of each."""
    sessions = pa.array([each.session for each in records], pa.uint64()).dictionary_encode()
    names = _column([f"{session:#x}" for session in sessions.dictionary.to_pylist()], _CODES)
    found = {"session": names.take(sessions.indices.take(pa.array(rows))), "operations": pa.array(counts[rows])}
    for name, kind in (("zxid", np.int64), ("time", np.int64), ("cxid", np.int32), ("multi", np.bool_)):
        values = np.array(list(map(attrgetter(name), records)), kind)
        found[name] = pa.array(values[rows], SCHEMA.field(name).type)
    firsts = np.flatnonzero(np.diff(rows, prepend=-1))
    found["place"] = pa.array((np.arange(len(rows)) - firsts[rows]).astype(np.int32))
    return found


def _rare(operations: list[Operation | None]) -> dict[str, pa.Array]:
    """What checks and those that set data do not have; nearly all operations are of these."""
    places = [place for place, operation in enumerate(operations) if type(operation) not in (Check, SetData)]
    where = np.full(len(operations), -1)
    where[places] = np.arange(len(places))
    indices = pa.array(where, mask=where < 0)
    columns = zip(*[_details(operations[place]) for place in places]) if places else [()] * len(_RARE)
    return {name: _column(list(column), SCHEMA.field(name).type).take(indices)
            for name, column in zip(_RARE, columns)}


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


def _text(contents: list[bytes | None]) -> dict[str, pa.Array | list]:
    """Contents as text, and as bytes where they are no UTF-8."""
    exact = pa.array(contents, pa.binary())
    try:
        return {"text": exact.cast(pa.string()), "bytes": pa.nulls(len(exact), pa.binary())}
    except pa.ArrowInvalid:
        texts = [None if content is None else content.decode(errors="replace") for content in contents]
        same = [text is None or text.encode() == content for text, content in zip(texts, contents)]
        return {"text": texts, "bytes": [None if whole else content for whole, content in zip(same, contents)]}


@lru_cache(maxsize=100_000)
def _known(path: str | None) -> _Known:
    """Where a znode belongs; the shortest chroot counts."""
    below, chroot = path or "", ""
    while below:
        if below in ("/controller", "/controller_epoch"):
            return _Known(chroot, "controller" if below == "/controller" else "epoch")
        if below.startswith(_IDS) and is_number(below[len(_IDS):]):
            return _Known(chroot, "broker", broker=_fitting(int(below[len(_IDS):])))
        if place := place_of(below):
            return _Known(chroot, place.kind, place.topic, _fitting(place.number))
        cut = below.find("/", 1)
        chroot, below = chroot + below[:cut], below[cut:] if cut > 0 else ""
    return _Known()


def _as_kafka(paths: pa.DictionaryArray, contents: list[bytes | None]) -> dict[str, pa.Array]:
    """What Kafka means by znodes: chroot, kind, topic, partition, broker, and the numbers of a state."""
    known = [_known(path) for path in paths.dictionary.to_pylist()] + [_Known()]
    found = {name: _column(list(column), SCHEMA.field(name).type).take(paths.indices.fill_null(len(known) - 1))
             for name, column in zip(_Known._fields, zip(*known))}
    kinds, said = [each.kind if each.kind in _SAYING else None for each in known], {None: 0}
    codes = [said.setdefault((kind, content) if content and (kind := kinds[code]) else None, len(said))
             for code, content in zip(paths.indices.fill_null(-1).to_numpy().tolist(), contents)]
    for name, column in zip(("broker", *_STATE), zip(*(_said(*each or (None, None)) for each in said))):
        told = _column(list(column), SCHEMA.field(name).type).take(pa.array(codes))
        found[name] = pc.coalesce(found[name], told) if name in found else told
    return found


def _said(kind: str | None, content: bytes | None) -> tuple:
    """What a content says: broker, and the values of _STATE."""
    if kind == "state" and (state := state_in(content)):
        leader, leader_epoch, controller_epoch, isr = state
        return None, _fitting(leader), _fitting(leader_epoch), _fitting(controller_epoch), _fitting_all(isr)
    if kind == "controller":
        return _fitting(broker_in(content)), *(None,) * 4
    return None, None, None, _fitting(number_in(content)) if kind == "epoch" else None, None


def _fitting(number: int | None) -> int | None:
    """A number that fits its column; None for one that no cluster has."""
    return int(number) if number is not None and -_LIMIT <= number < _LIMIT else None


@lru_cache(maxsize=10_000)
def _fitting_all(numbers: tuple[int, ...]) -> list[int] | None:
    found = [_fitting(number) for number in numbers]
    return None if None in found else found


def rows_in(file: Path) -> int:
    """How many operations a file has that `write_events` wrote."""
    return pq.ParquetFile(file).metadata.num_rows
