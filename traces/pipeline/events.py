"""The operations of a log as a table in Parquet, typed as Kafka means them: for replay, and for SQL."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
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
    columns = zip(*(row for transaction in transactions for row in rows_of(transaction)))
    arrays = (pa.array(column, _plain(field.type)).cast(field.type) for field, column in zip(SCHEMA, columns))
    return pa.table(list(arrays), SCHEMA)


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def rows_of(transaction: Transaction) -> Iterator[tuple]:
    """The row of each operation of a transaction, in the order of SCHEMA."""
    zxid, time, session, cxid = transaction.zxid, transaction.time, f"{transaction.session:#x}", transaction.cxid
    count = len(transaction.operations)
    for place, operation in enumerate(transaction.operations or (None,)):
        row = _row_of_check(operation) if type(operation) is Check else _row(operation)
        yield (zxid, time, session, cxid, transaction.multi, place, count, *row)


def _row(operation: Operation | None) -> tuple:
    """What is in a row of an operation, from its name on."""
    details, content = _details(operation), getattr(operation, "data", None)
    return *details, *_text(content), *_as_kafka(details[1], content)


_row_of_check = lru_cache(maxsize=1_000)(_row)
"""While a controller rules it checks the same thing in each write."""


def _details(operation: Operation | None) -> tuple:
    """Operation, path, version, error, timeout, ephemeral, mode, parent_cversion, ttl, paths, acl."""
    nothing = (None,) * 8
    match operation:
        case SetData(path, _, version):
            return "setData", path, version, *nothing
        case Check(path, version):
            return "check", path, version, *nothing
        case Create(path, _, ephemeral, parent_cversion, kind, acl, ttl):
            return "create", path, None, None, None, ephemeral, kind, parent_cversion, ttl, None, _listed(acl)
        case Delete(path, container):
            return "delete", path, None, None, None, None, "container" if container else None, *nothing[:4]
        case Failure(code):
            return "error", None, None, ERROR_NAMES.get(code, str(code)), *nothing[:7]
        case CreateSession(timeout):
            return "createSession", None, None, None, timeout, *nothing[:6]
        case CloseSession(paths):
            return "closeSession", None, None, *nothing[:6], None if paths is None else list(paths), None
        case SetAcl(path, version, acl):
            return "setACL", path, version, *nothing[:7], _listed(acl)
        case Reconfig(path, _, version):
            return "reconfig", path, version, *nothing
    return None, None, None, *nothing


def _listed(acl: tuple[Acl, ...] | None) -> list[dict] | None:
    if acl is None:
        return None
    return [{"permissions": each.permissions, "scheme": each.scheme, "id": each.id} for each in acl]


def _text(content: bytes | None) -> tuple[str | None, bytes | None]:
    """A content as text, and as bytes where it is no UTF-8."""
    try:
        return None if content is None else content.decode(), None
    except UnicodeDecodeError:
        return content.decode(errors="replace"), content


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


def _as_kafka(path: str | None, content: bytes | None) -> tuple:
    """What Kafka means by a znode: chroot, kind, topic, partition, broker, and the numbers of a state."""
    known = _known(path)
    if known.kind == "state" and (state := state_in(content)):
        leader, leader_epoch, controller_epoch, isr = state
        return *known, _fitting(leader), _fitting(leader_epoch), _fitting(controller_epoch), _fitting_all(isr)
    if known.kind == "controller":
        known = known._replace(broker=_fitting(broker_in(content)))
    return *known, None, None, _fitting(number_in(content)) if known.kind == "epoch" else None, None


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
