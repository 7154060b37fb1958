"""Cuts the events of a log into records that only set the state of one partition, in columns, and all others."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from kafkaproof.traces.reading.events import OPERATIONS
from kafkaproof.traces.reading.state_records import NOTHING, Held, Names, StateColumns, StateWrites
from kafkaproof.traces.reading.stored_events import contents_of, numbers_of, sessions_of, transactions_of
from kafkaproof.traces.zookeeper.transactions import Check, SetData, Transaction


def cut(batch: pa.RecordBatch, names: Names, complete: int) -> Iterator[Transaction | StateWrites]:
    """The records of a batch of whole ones in order, those that set states and are in a row as one piece.

    `complete`: up to this zxid all records are given one by one.
    """
    places, zxids = numbers_of(batch, "place"), numbers_of(batch, "zxid")
    firsts = np.flatnonzero(places == 0)
    lasts = np.append(firsts[1:], len(places)) - 1
    paths = batch.column("path")
    states = np.array([*map(names.state_at, paths.dictionary.to_pylist()), NOTHING], np.int32)
    partitions = states[numbers_of(paths.indices)] if len(states) else places
    sets = _sets_state(batch, names, partitions, firsts, lasts) & (zxids[lasts] > complete)
    others = transactions_of(batch.filter(pa.array(np.repeat(~sets, lasts - firsts + 1))))
    writes = _writes(batch, names, partitions, lasts[sets])
    taken = 0
    bounds = [0, *(np.flatnonzero(np.diff(sets)) + 1).tolist(), len(sets)]
    for first, last in zip(bounds, bounds[1:]):
        if first < last and sets[first]:
            yield writes.part(taken, taken + last - first)
            taken += last - first
        else:
            yield from (next(others) for _ in range(last - first))


def _sets_state(
    batch: pa.RecordBatch, names: Names, partitions: np.ndarray, firsts: np.ndarray, lasts: np.ndarray
) -> np.ndarray:
    """Of each record whether it sets a state and does nothing else but check /controller_epoch."""
    operations, paths = batch.column("operation"), batch.column("path")
    kinds, path = numbers_of(operations.indices), numbers_of(paths.indices)
    multi = batch.column("multi").to_numpy(zero_copy_only=False)[firsts]
    checks = (kinds == _code(operations, OPERATIONS[Check])) & (path == _code(paths, f"{names.root}/controller_epoch"))
    sets = (kinds[lasts] == _code(operations, OPERATIONS[SetData])) & (partitions[lasts] != NOTHING)
    return sets & (lasts - firsts == multi) & (~multi | checks[firsts])


def _code(column: pa.DictionaryArray, value: str) -> int:
    """The code of a value in a column; one that none has where it is not there."""
    found = column.dictionary.index(value).as_py()
    return len(column.dictionary) if found < 0 else found


def _writes(batch: pa.RecordBatch, names: Names, partitions: np.ndarray, rows: np.ndarray) -> StateWrites:
    """The writes of states in some rows."""
    taken = batch.take(pa.array(rows))
    checked = taken.column("multi").to_numpy(zero_copy_only=False)
    number = {name: numbers_of(taken, name) for name in ("zxid", "cxid", "version", "leader_epoch", "controller_epoch")}
    checks = numbers_of(batch, "version")[rows - checked]
    states = StateColumns(_held(taken, names), number["leader_epoch"], number["controller_epoch"])
    return StateWrites(
        names,
        number["zxid"],
        numbers_of(taken, "time"),
        np.array(sessions_of(taken), np.uint64),
        number["cxid"],
        checked,
        checks,
        number["version"],
        partitions[rows],
        contents_of(taken),
        states,
    )


def _held(rows: pa.RecordBatch, names: Names) -> np.ndarray:
    """The codes of leader and ISR in each row, NOTHING where it has no state."""
    leaders, isr = rows.column("leader"), rows.column("isr")
    found = np.full(len(rows), NOTHING, np.int32)
    valid = np.flatnonzero(
        (leaders.is_valid().to_numpy(zero_copy_only=False)) & isr.is_valid().to_numpy(zero_copy_only=False)
    )
    if not len(valid):
        return found
    isr = isr.take(pa.array(valid))
    offsets, members = isr.offsets.to_numpy(), isr.values.to_numpy()
    sizes = np.diff(offsets)
    table = np.full((len(valid), 2 + sizes.max(initial=0)), NOTHING, np.int32)
    table[:, 0], table[:, 1] = numbers_of(leaders.take(pa.array(valid))), sizes
    at = np.repeat(np.arange(len(valid)), sizes), 2 + np.arange(len(members)) - np.repeat(offsets[:-1], sizes)
    table[at] = members
    table = np.ascontiguousarray(table)
    different, codes = np.unique(
        table.view(np.dtype((np.void, table.dtype.itemsize * table.shape[1]))).ravel(), return_inverse=True
    )
    rows_of = different.view(np.int32).reshape(len(different), -1).tolist()
    held = np.array([names.held.of(Held(leader, tuple(ids[:size]))) for leader, size, *ids in rows_of], np.int32)
    found[valid] = held[codes.ravel()]
    return found
