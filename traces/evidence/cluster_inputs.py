"""What the log shows of a controller's inputs that are of the whole cluster: registrations, requests, defaults."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from functools import cached_property
from math import inf
from typing import NamedTuple

import numpy as np

from kafkaproof.traces.basics.versions import NEVER, Version, Versions
from kafkaproof.traces.reading.cluster import below
from kafkaproof.traces.zookeeper.transactions import CloseSession, Create, Delete, Operation, SetData, Transaction
from kafkaproof.traces.zookeeper.tree import Tree
from kafkaproof.traces.zookeeper.znodes.json_parts import entries_in, is_int, is_number, json_in

_REASSIGN, _PREFERRED = "/admin/reassign_partitions", "/admin/preferred_replica_election"
_DEFAULT_CONFIG, _LOG_DIRS = "/config/brokers/<default>", "/log_dir_event_notification/"
_ID = re.compile(r"/brokers/ids/\d+")
_LAST = 1 << 64
Partition = tuple[str, int]


class Departure(NamedTuple):
    """A broker's registration went: the record that ended it, and its time in ms."""

    zxid: int
    time: int


class ListWrite(NamedTuple):
    """Somebody wrote or deleted /admin/reassign_partitions: the record, its time in ms, and whether there is a list."""

    zxid: int
    time: int
    session: int
    stands: bool


class CommonInputs:
    """Collects the inputs record by record; asked afterwards, when all of the log is known.

    `brokers`: who is registered; `departures`: of each broker; `default_config`: that of /config/brokers/<default>;
    `lists`: who wrote /admin/reassign_partitions; `last_time`: of the last record, in ms.
    """

    def __init__(self, root: str, tree: Tree):
        self._root = root
        self.brokers: Versions[frozenset[int]] = Versions(self._registered(tree))
        self.departures: dict[int, list[Departure]] = defaultdict(list)
        self.default_config: Versions[bytes | None] = Versions(None)
        self.lists: list[ListWrite] = []
        self.last_time = 0
        self._requests: Versions[bytes | None] = Versions(None)
        self._preferred: Versions[bytes | None] = Versions(None)
        self._dealt: dict[int, list[int]] = defaultdict(list)
        self._failed_directory: dict[int, int] = {}
        self._times: list[tuple[int, int]] = []
        self._clock: list[tuple[int, int]] = []
        for path, node in tree.nodes.items():
            self._note(0, path, node.data or b"")

    def add(self, transaction: Transaction, tree: Tree) -> None:
        """Note what a transaction that succeeded did; `tree` is the one after it."""
        self.last_time = transaction.time
        self._clock.append((transaction.zxid, transaction.time))
        for operation in transaction.operations:
            if below(self._root, getattr(operation, "path", "")) == _REASSIGN:
                stands = not isinstance(operation, Delete)
                self.lists.append(ListWrite(transaction.zxid, transaction.time, transaction.session, stands))
            match operation:
                case Create(path, data) | SetData(path, data):
                    self._note(transaction.zxid, path, data or b"")
                case Delete(path):
                    self._note(transaction.zxid, path, None)
                    if below(self._root, path) == _PREFERRED:
                        self._dealt[transaction.session].append(transaction.zxid)
        if any(isinstance(o, CloseSession) or self._is_registration(o) for o in transaction.operations):
            self._note_brokers(transaction, self._registered(tree))

    def requested_targets(self, partition: Partition, first: int, last: int) -> list[tuple[int, ...]]:
        """The replicas that /admin/reassign_partitions wanted for a partition."""
        found = []
        for _, data in self._requests.between(first, last):
            if data is not None and (target := entries_in(data).get(partition)):
                found.append(target)
        return found

    def requests(self, first: int, last: int) -> list[Version]:
        """What /admin/reassign_partitions listed, oldest first; nothing where it did not exist."""
        return [Version(v.zxid, entries_in(v.value)) for v in self._requests.between(first, last)]

    def preferred_requested(self, partition: Partition, session: int, first: int, last: int) -> bool:
        """Whether /admin/preferred_replica_election listed a partition.

        The controller of a session deletes the list when it has elected for all in it: it goes by none from before.
        """
        dealt = self._dealt.get(session, [])
        place = bisect_left(dealt, last)
        since = max(first, dealt[place - 1]) if place else first
        return any([partition in entries_in(data) for _, data in self._preferred.between(since, last)])

    def lost_a_log_directory(self, broker: int, zxid: int) -> bool:
        """Whether a broker has told of a failed log directory before."""
        return self._failed_directory.get(broker, zxid) < zxid

    def lost_log_directories(self, zxid: int) -> frozenset[int]:
        """The brokers that have told of a failed log directory before."""
        return frozenset([broker for broker, told in self._failed_directory.items() if told < zxid])

    def failures_of_directories(self) -> set[int]:
        """The zxids from which on brokers are known to have a failed log directory."""
        return {told + 1 for told in self._failed_directory.values()}

    def moments_of_lists(self) -> np.ndarray:
        """The zxids at which the lists of requests of the whole cluster changed."""
        zxids = {version.zxid for versions in (self._requests, self._preferred) for version in list(versions)[1:]}
        return np.array(sorted(zxids), np.int64)

    def registered_since(self, time: int, last: int) -> list[Version]:
        """The versions of /brokers/ids that stood at some time from `time` (ms) to the record of zxid `last`."""
        until = bisect_right(self._times, (last, inf))
        before = (self._times[place] for place in range(until - 1, -1, -1))
        return self.brokers.between(next((zxid for zxid, at in before if at < time), 0), last)

    def all_brokers(self) -> set[int]:
        """The ids of all brokers that registered, or that a request names."""
        found = {broker for version in self.brokers.between(0, _LAST) for broker in version.value}
        targets = [target for version in self.requests(0, _LAST) for target in version.value.values()]
        return found | {broker for target in targets for broker in target}

    def topics_requested(self) -> set[str]:
        """The topics that /admin/reassign_partitions ever listed."""
        return {topic for version in self.requests(0, _LAST) for topic, _ in version.value}

    @cached_property
    def absences(self) -> dict[int, list[tuple[int, int]]]:
        """From when to when (zxids) each broker was not registered that ever was; 0 and NEVER are beyond the log."""
        versions, found, before = list(self.brokers), defaultdict(list), frozenset()
        gone = dict.fromkeys(frozenset().union(*(version.value for version in versions)), 0)
        for zxid, there in versions:
            for broker in there - before:
                found[broker].append((gone[broker], zxid))
            gone |= dict.fromkeys(before - there, zxid)
            before = there
        for broker in gone.keys() - before:
            found[broker].append((gone[broker], NEVER))
        return dict(found)

    def time_at(self, zxid: float) -> int:
        """The time (ms) of a record, or of the last one before it of those that are no mere states of partitions."""
        place = bisect_right(self._clock, (zxid, inf))
        return self._clock[place - 1][1] if place else 0

    def _note(self, zxid: int, path: str, data: bytes | None) -> None:
        known = below(self._root, path) or ""
        versions = {_REASSIGN: self._requests, _PREFERRED: self._preferred, _DEFAULT_CONFIG: self.default_config}
        if known in versions:
            versions[known].add(zxid, data)
        elif known.startswith(_LOG_DIRS) and is_int(broker := json_in(data).get("broker")):
            self._failed_directory.setdefault(broker, zxid)

    def _note_brokers(self, transaction: Transaction, brokers: frozenset[int]) -> None:
        for broker in self.brokers.at(transaction.zxid) - brokers:
            self.departures[broker].append(Departure(transaction.zxid, transaction.time))
        if brokers != self.brokers.at(transaction.zxid):
            self._times.append((transaction.zxid, transaction.time))
        self.brokers.add(transaction.zxid, brokers)

    def _is_registration(self, operation: Operation) -> bool:
        return bool(_ID.fullmatch(below(self._root, getattr(operation, "path", "")) or ""))

    def _registered(self, tree: Tree) -> frozenset[int]:
        names = (path.rpartition("/")[2] for path in tree.children.get(f"{self._root}/brokers/ids", ()))
        return frozenset(int(name) for name in names if is_number(name))
