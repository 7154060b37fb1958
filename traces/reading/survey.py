"""What must be known of all records of a log before one of them is judged."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc

from kafkaproof.traces.reading.end import End, end_at
from kafkaproof.traces.reading.written_versions import WrittenVersions
from kafkaproof.traces.zookeeper.data_records import slices
from kafkaproof.traces.zookeeper.records import Records
from kafkaproof.traces.zookeeper.transactions import Check, Create, Failure, Operation, SetData, Transaction
from kafkaproof.traces.zookeeper.znodes.contents import USUAL
from kafkaproof.traces.zookeeper.znodes.foreign_writes import Declared, Strange, declared_at, declared_in, strange_in
from kafkaproof.traces.zookeeper.znodes.formats import STATE, format_of
from kafkaproof.traces.zookeeper.znodes.json_parts import json_in

_HOME = re.compile(r"(.*)/(?:controller_epoch|brokers/ids)")
_TOPIC = re.compile(r"(.*)/brokers/topics/[^/]+")
_CONTROLLER, _EPOCH = "/controller", "/controller_epoch"


class Owned(NamedTuple):
    """An ephemeral that was asked for: when, in which session, where, and with what data."""

    zxid: int
    session: int
    path: str
    data: bytes | None


class Elected(NamedTuple):
    """How a controller is seen to be: `fenced`, by a multi that is checked, or by a /controller of its own."""

    zxid: int
    fenced: bool


@dataclass
class Survey:
    """What the records of a log, or of a part of it, show.

    `roots`: the chroots of clusters ("" for none), told by where /brokers/ids and /controller_epoch are; `ephemerals`:
    all, in the order of the log; `elected`: by each chroot the first record that shows how controllers are elected;
    `topics`: the chroots with a topic znode; `reassigns`: those with one of version 2 or later, which says what is
    added and removed; `ends`: by each chroot the first record that cannot be replayed; `strange`: what no Kafka writes,
    of what is alike the first; `versions`: those of the znodes that each session writes.
    """

    roots: set[str] = field(default_factory=set)
    ephemerals: list[Owned] = field(default_factory=list)
    elected: dict[str, Elected] = field(default_factory=dict)
    topics: set[str] = field(default_factory=set)
    reassigns: set[str] = field(default_factory=set)
    ends: dict[str, End] = field(default_factory=dict)
    strange: dict[tuple, Strange] = field(default_factory=dict)
    versions: WrittenVersions = field(default_factory=WrittenVersions)

    def add(self, transaction: Transaction) -> None:
        """Note what a record shows."""
        for operation in transaction.operations:
            if isinstance(operation, Create) and operation.ephemeral:
                self.ephemerals.append(Owned(transaction.zxid, transaction.session, operation.path, operation.data))
        if not transaction.failed:
            declared = declared_in(transaction)
            for operation, found in zip(transaction.operations, declared):
                path, data = getattr(operation, "path", ""), getattr(operation, "data", None)
                self._see(transaction.zxid, path, data, found)
            self._note(strange_in(transaction, declared))
            self.versions.add(transaction, declared)
        root, fenced = _election(transaction.operations, transaction.multi)
        if root is not None and root not in self.elected:
            self.elected[root] = Elected(transaction.zxid, fenced)

    def _see(self, zxid: int, path: str, data: bytes | None, declared: Declared | None) -> None:
        """Note what a znode shows."""
        if found := end_at(zxid, path, data, declared):
            self.ends.setdefault(*found)
        root, holds_topic = _home(path)
        if root is None:
            return
        if not holds_topic:
            self.roots.add(root)
        elif data is not None:
            self.topics.add(root)
            if json_in(data).get("version", 1) != 1:
                self.reassigns.add(root)

    def hold(self, zxid: int, path: str, data: bytes | None) -> None:
        """Note what a znode of a snapshot shows."""
        declared = declared_at(path, data)
        self._see(zxid, path, data, declared)
        if declared and declared.content.fault:
            self._note([Strange(zxid, None, declared.root, path, *declared.content.fault)])

    def _note(self, found: Iterable[Strange]) -> None:
        """Note what is strange; of what one session wrote alike the first counts."""
        for each in found:
            key = each.session, each.root, each.text, each.certain
            self.strange[key] = min(each, self.strange.get(key, each), key=lambda one: one.zxid)

    def merge(self, other: "Survey") -> None:
        """Take in what another part of the log shows."""
        self.roots |= other.roots
        self.topics |= other.topics
        self.reassigns |= other.reassigns
        self.ephemerals = sorted({*self.ephemerals, *other.ephemerals}, key=lambda each: each[:2])
        self._note(other.strange.values())
        self.versions.merge(other.versions)
        self.elected |= {root: min(each, self.elected.get(root, each)) for root, each in other.elected.items()}
        self.ends |= {root: min(each, self.ends.get(root, each)) for root, each in other.ends.items()}


@lru_cache(maxsize=100_000)
def _home(path: str) -> tuple[str | None, bool]:
    """The chroot of which a path tells, if it does, and whether it is that of a topic."""
    if found := _HOME.fullmatch(path):
        return found[1], False
    found = _TOPIC.fullmatch(path)
    return (found[1], True) if found else (None, False)


def survey_of(transactions: Iterable[Transaction]) -> Survey:
    """What transactions show."""
    survey = Survey()
    for transaction in _telling(transactions) if isinstance(transactions, Records) else transactions:
        survey.add(transaction)
    return survey


def _telling(records: Records) -> Iterator[Transaction]:
    """The records but for those that set what shows nothing, behind a check that others have shown before."""
    sets = records.sets
    names = [name or "" for name in sets.names.to_pylist()]
    always = np.array([_tells_by_path(name) for name in names], bool)[sets.paths]
    known = [format_of(name) for name in names]
    formed = np.array([each is not None for each in known], bool)[sets.paths]
    is_state = np.array([each is not None and each[1] is STATE for each in known], bool)[sets.paths]
    usual = pc.match_substring_regex(slices(records.content, sets.begins, sets.ends), USUAL).to_numpy(False)
    tells = always | formed & ~(is_state & usual)
    tells[np.unique(sets.checked, return_index=True)[1]] = True
    found = {place: records[place] for place in sets.places[tells].tolist()} | records.odd
    return (found[place] for place in sorted(found))


def _tells_by_path(path: str) -> bool:
    """Whether a znode of this path shows something whatever its data."""
    root, holds_topic = _home(path)
    return root is not None and not holds_topic


def _election(operations: tuple[Operation, ...], multi: bool) -> tuple[str | None, bool]:
    """The chroot in which a record shows how controllers are elected, if it does, and whether they are fenced."""
    match operations:
        case (Check(path), *_) if multi and path.endswith(_EPOCH):
            return path.removesuffix(_EPOCH), True
        case (Create(path), SetData() | Failure()) if multi and path.endswith(_CONTROLLER):
            return path.removesuffix(_CONTROLLER), True
        case (Create(path), *_) if not multi and path.endswith(_CONTROLLER):
            return path.removesuffix(_CONTROLLER), False
    return None, False
