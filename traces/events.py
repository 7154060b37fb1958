"""The operations of a log as a table in Parquet, typed as Kafka means them, for SQL."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from traces.cluster import below, broker_in, number_in
from traces.partitions.changes import state_in
from traces.recording import read_file
from traces.redaction import Redactor
from traces.transactions import ERROR_NAMES, CreateSession, Failure, LogError, Transaction
from traces.znodes import place_of

SCHEMA = pa.schema([
    ("zxid", pa.int64()), ("time", pa.timestamp("ms", "UTC")), ("session", pa.string()), ("cxid", pa.int32()),
    ("place", pa.int32()), ("operations", pa.int32()), ("operation", pa.string()), ("path", pa.string()),
    ("version", pa.int32()), ("error", pa.string()), ("timeout", pa.int32()), ("ephemeral", pa.bool_()),
    ("text", pa.string()), ("kind", pa.string()), ("topic", pa.string()), ("partition", pa.int32()),
    ("broker", pa.int32()), ("leader", pa.int32()), ("leader_epoch", pa.int32()), ("controller_epoch", pa.int32()),
    ("isr", pa.list_(pa.int32())),
])
"""One row for each operation: docs/replay.md says what the columns are. What an operation does not have is null."""
_ROWS = 50_000
_PLACES = {"/controller": "controller", "/controller_epoch": "epoch"}
_IDS = "/brokers/ids/"


def write_events(file: Path, directory: Path, root: str, redactor: Redactor | None = None) -> int:
    """Write the operations of one log file to `directory`/NAME.parquet; returns how many.

    `root`: the chroot of the cluster. Not more than the rows of 50,000 records are in memory beside the file. Of a
    damaged file what is before the damage is written. A `redactor` must know all names before, where files are written
    by several processes.
    """
    try:
        transactions, rows = read_file(file, redactor).transactions, 0
    except LogError as error:
        transactions, rows = error.transactions, 0
    with pq.ParquetWriter(directory / f"{file.parents[1].name}-{file.name}.parquet", SCHEMA) as writer:
        for start in range(0, len(transactions), _ROWS):
            found = [row for transaction in transactions[start:start + _ROWS] for row in rows_of(transaction, root)]
            writer.write_table(pa.Table.from_pylist(found, SCHEMA))
            rows += len(found)
    return rows


def rows_of(transaction: Transaction, root: str) -> Iterator[dict]:
    """The row of each operation of a transaction."""
    for place, operation in enumerate(transaction.operations):
        row = {
            "zxid": transaction.zxid, "time": transaction.time, "session": f"{transaction.session:#x}",
            "cxid": transaction.cxid, "place": place, "operations": len(transaction.operations),
            "operation": "error" if isinstance(operation, Failure) else operation.form().split()[0],
            "version": getattr(operation, "version", None), "ephemeral": getattr(operation, "ephemeral", None),
        }
        if isinstance(operation, Failure):
            row["error"] = ERROR_NAMES.get(operation.code, str(operation.code))
        if isinstance(operation, CreateSession):
            row["timeout"] = operation.timeout
        path, content = getattr(operation, "path", None), getattr(operation, "data", None)
        if path is not None:
            row |= {"path": path, "text": content.decode(errors="replace") if content is not None else None}
            row |= _as_kafka(below(root, path) or "", content)
        yield row


def _as_kafka(path: str, content: bytes | None) -> dict:
    """What Kafka means by a znode: its kind, topic and partition, and what it says."""
    if path in _PLACES:
        said = {"broker": broker_in(content)} if path == "/controller" else {"controller_epoch": number_in(content)}
        return {"kind": _PLACES[path], **said}
    if path.startswith(_IDS) and path[len(_IDS):].isdigit():
        return {"kind": "broker", "broker": int(path[len(_IDS):])}
    place = place_of(path)
    if place is None:
        return {}
    state = state_in(content) if place.kind == "state" else None
    told = {**state._asdict(), "isr": list(state.isr)} if state else {}
    return {"kind": place.kind, "topic": place.topic, "partition": place.number, **told}
