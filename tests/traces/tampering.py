"""Alters real logs so that ZooKeeper could have written them: only Kafka could not."""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.zookeeper.transactions import Check, CloseSession, Create, Delete, SetData, Transaction
from kafkaproof.traces.zookeeper.tree import Tree, parent_path
from kafkaproof.traces.zookeeper.znodes.contents import state_in
from kafkaproof.traces.zookeeper.znodes.formats import format_of

Log = list[Transaction]


def dropped(log: Log, *zxids: int) -> Log:
    """The log without some records."""
    return [t for t in log if t.zxid not in zxids]


def swapped(log: Log, one: int, other: int) -> Log:
    """The log with two records in each other's place."""
    places = {t.zxid: place for place, t in enumerate(log)}
    changed = list(log)
    changed[places[one]], changed[places[other]] = log[places[other]], log[places[one]]
    return changed


def moved(log: Log, zxid: int, behind: int) -> Log:
    """The log with a record behind another one."""
    record = next(t for t in log if t.zxid == zxid)
    rest = dropped(log, zxid)
    place = next(place for place, t in enumerate(rest) if t.zxid == behind) + 1
    return [*rest[:place], record, *rest[place:]]


def rewritten(log: Log, zxid: int, change: Callable[[dict], None]) -> Log:
    """The log with the JSON changed that the last operation of a record writes."""
    return [_with_json(t, change) if t.zxid == zxid else t for t in log]


def _with_json(transaction: Transaction, change: Callable[[dict], None]) -> Transaction:
    *others, write = transaction.operations
    content = json.loads(write.data)
    change(content)
    return replace(transaction, operations=(*others, replace(write, data=json.dumps(content).encode())))


def consistent(log: Log, original: Log) -> Recording:
    """The log as ZooKeeper would have it: zxids, versions and closed sessions are right, leader epochs go on.

    Each state raises the leader epoch by as much as it did in the original.
    """
    found, contradictions = repaired(log, original)
    assert contradictions == [], contradictions
    return Recording(Path("altered"), None, found, [])


def renumbered(log: Log) -> Log:
    """The log with the zxids and versions that ZooKeeper would give; what is written stays as it is."""
    tree, found, names = Tree(), [], dict[str, str]()
    for zxid, transaction in enumerate(log, 1):
        right = tuple(_right(transaction.operations, transaction, tree, names))
        changed = replace(transaction, zxid=zxid, operations=right, trailer=b"")
        tree.apply(changed)
        found.append(changed)
    return found


def repaired(log: Log, original: Log) -> tuple[list[Transaction], list[str]]:
    """The same as far as ZooKeeper can have it, and where it cannot."""
    raises, tree, found, epochs, contradictions = _raises(original), Tree(), [], {}, []
    names: dict[str, str] = {}
    for zxid, transaction in enumerate(log, 1):
        raised = {o.path: raises.get((transaction.zxid, o.path), 0) for o in _states(transaction)}
        operations = [_epoch(o, epochs, raised) for o in transaction.operations]
        right = tuple(_right(operations, transaction, tree, names))
        changed = replace(transaction, zxid=zxid, operations=right, trailer=b"")
        contradictions += tree.apply(changed)
        found.append(changed)
        if not changed.failed:
            epochs |= {o.path: state_in(o.data).leader_epoch for o in _states(changed)}
    return found, contradictions


def _states(transaction: Transaction) -> Iterable[Create | SetData]:
    return [
        o
        for o in transaction.operations
        if isinstance(o, Create | SetData) and o.path.endswith("/state") and state_in(o.data)
    ]


def _raises(log: Log) -> dict[tuple[int, str], int]:
    """By how much each state raises the leader epoch of the one before it."""
    found, known = {}, {}
    for transaction in log:
        for operation in () if transaction.failed else _states(transaction):
            epoch = state_in(operation.data).leader_epoch
            before = known.get(operation.path, epoch) if isinstance(operation, SetData) else epoch
            found[transaction.zxid, operation.path] = epoch - before
            known[operation.path] = epoch
    return found


def _epoch(operation, epochs, raised):
    if not isinstance(operation, SetData) or operation.path not in raised or operation.path not in epochs:
        return operation
    content = json.loads(operation.data) | {"leader_epoch": epochs[operation.path] + raised[operation.path]}
    return replace(operation, data=json.dumps(content).encode())


def _right(operations, transaction: Transaction, tree: Tree, names: dict[str, str]):
    """The operations with the versions that they would have, and sequential znodes with the `names`."""
    versions = {path: node.version for path, node in tree.nodes.items()}
    cversions = {path: node.cversion for path, node in tree.nodes.items()}
    for operation in operations:
        if transaction.failed:
            yield operation
        elif isinstance(operation, SetData):
            versions[operation.path] = versions.get(operation.path, 0) + 1
            yield replace(operation, version=versions[operation.path])
        elif isinstance(operation, Check):
            yield replace(operation, version=versions.get(operation.path, 0) + 1)
        elif isinstance(operation, Create) and operation.parent_cversion != -1:
            parent = parent_path(operation.path)
            cversions[parent] = cversions.get(parent, 0) + 1
            path = names[operation.path] = _numbered(operation.path, cversions[parent] - 1)
            yield replace(operation, path=path, parent_cversion=cversions[parent])
        elif isinstance(operation, Delete):
            yield replace(operation, path=names.get(operation.path, operation.path))
        elif isinstance(operation, CloseSession) and operation.paths is not None:
            yield CloseSession(tuple(sorted(tree.ephemerals.get(transaction.session, ()))))
        else:
            yield operation


def _numbered(path: str, number: int) -> str:
    """The path of a sequential znode with its number, any other as it is."""
    root, known = format_of(path) or (None, None)
    return f"{path[:-10]}{number:010d}" if known and known.sequence else path
