"""What the log shows of a controller's inputs: the versions of the znodes that it reads, each with its zxid."""

import re
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, NamedTuple, TypeVar

from traces.cluster import below, json_in
from traces.partitions.changes import Partition
from traces.partitions.leaving import Departure
from traces.transactions import CloseSession, Create, Delete, Operation, SetData, Transaction
from traces.zookeeper_tree import Tree

Value = TypeVar("Value")
_REASSIGN, _PREFERRED = "/admin/reassign_partitions", "/admin/preferred_replica_election"
_TOPIC, _MARKER, _CONFIG = "/brokers/topics/", "/admin/delete_topics/", "/config/topics/"
_DEFAULT_CONFIG, _LOG_DIRS = "/config/brokers/<default>", "/log_dir_event_notification/"
_WATCHED = re.compile(rf"{_REASSIGN}|{_PREFERRED}|{_DEFAULT_CONFIG}|({_TOPIC}|{_MARKER}|{_CONFIG})[^/]+")
_PARTS = ("partitions", "adding_replicas", "removing_replicas")
_LAST = 1 << 64
_UNCLEAN = "unclean.leader.election.enable"


class Version(NamedTuple):
    """A value and the zxid since which it stood."""

    zxid: int
    value: object


class Versions(Generic[Value]):
    """The values that something had in the course of a log; `initial` before the first that was added."""

    def __init__(self, initial: Value):
        self._zxids, self._values = [0], [initial]

    def add(self, zxid: int, value: Value) -> None:
        """Note a new value; one that is equal to the present one is none."""
        if value != self._values[-1]:
            self._zxids.append(zxid)
            self._values.append(value)

    def at(self, zxid: int) -> Value:
        """The value after the record of that zxid."""
        return self._values[bisect_right(self._zxids, zxid) - 1]

    def between(self, first: int, last: int) -> list[Version]:
        """The versions that stood at some time from zxid `first` to `last`, oldest first."""
        begin, end = bisect_right(self._zxids, first) - 1, bisect_right(self._zxids, last)
        return [Version(*pair) for pair in zip(self._zxids[begin:end], self._values[begin:end])]


@dataclass(frozen=True)
class Assignment:
    """A partition in the topic znode: its replicas, and (2.4+) those being added and removed."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()


class Inputs:
    """Collects the inputs record by record; asked afterwards, when all of the log is known."""

    def __init__(self, root: str, tree: Tree):
        self._root = root
        self.brokers: Versions[frozenset[int]] = Versions(self._registered(tree))
        self.last_time = 0
        self._znodes: dict[str, Versions[bytes | None]] = defaultdict(lambda: Versions(None))
        self.departures: dict[int, list[Departure]] = defaultdict(list)
        self._failed_directory: dict[int, int] = {}
        for path, node in tree.nodes.items():
            self._note(0, path, node.data or b"")

    def add(self, transaction: Transaction, tree: Tree) -> None:
        """Note what a transaction that succeeded did; `tree` is the one after it."""
        self.last_time = transaction.time
        for operation in transaction.operations:
            match operation:
                case Create(path, data) | SetData(path, data):
                    self._note(transaction.zxid, path, data or b"")
                case Delete(path):
                    self._note(transaction.zxid, path, None)
        if any(isinstance(o, CloseSession) or self._is_registration(o) for o in transaction.operations):
            self._note_brokers(transaction, self._registered(tree))

    def assignments(self, partition: Partition, first: int, last: int) -> list[Version]:
        """The assignments that the topic znode gave a partition, oldest first, since the topic was created."""
        topic, number = partition
        found: list[Version] = []
        for version in self._znodes[_TOPIC + topic].between(first, last):
            assignment = assignment_in(version.value, number)
            found = found + [Version(version.zxid, assignment)] if assignment else []
        return found

    def exists(self, topic: str, zxid: int) -> bool:
        """Whether a topic was there after the record of that zxid."""
        return self._znodes[_TOPIC + topic].at(zxid) is not None

    def deletions(self, topic: str, first: int, last: int) -> list[bool]:
        """Whether the deletion of a topic was requested, at each time that this changed."""
        return [v.value is not None for v in self._znodes[_MARKER + topic].between(first, last)]

    def requested_targets(self, partition: Partition, first: int, last: int) -> list[tuple[int, ...]]:
        """The replicas that /admin/reassign_partitions wanted for a partition."""
        listed = [entries_in(version.value) for version in self._znodes[_REASSIGN].between(first, last)]
        return [entries[partition] for entries in listed if entries.get(partition)]

    def requests(self, first: int, last: int) -> list[Version]:
        """What /admin/reassign_partitions listed, oldest first; nothing where it did not exist."""
        return [Version(v.zxid, entries_in(v.value)) for v in self._znodes[_REASSIGN].between(first, last)]

    def numbers(self, topic: str, first: int, last: int) -> list[list[int]]:
        """The numbers of the partitions in each version of a topic znode, oldest first, since the topic was created."""
        found: list[list[int]] = []
        for version in self._znodes[_TOPIC + topic].between(first, last):
            listed = part_of(json_in(version.value), "partitions")
            numbers = sorted(int(name) for name in listed if name.isdigit())
            found = [] if version.value is None else [*found, numbers]
        return found

    def all_brokers(self) -> set[int]:
        """The ids of all brokers that registered, or that some assignment or request names."""
        found = {broker for version in self.brokers.between(0, _LAST) for broker in version.value}
        for path, versions in self._znodes.items():
            for version in versions.between(0, _LAST):
                if path.startswith(_TOPIC):
                    parts = (part_of(json_in(version.value), name) for name in _PARTS)
                    found |= {broker for part in parts for ids in part.values() for broker in ids_in(ids)}
                elif path == _REASSIGN:
                    found |= {broker for target in entries_in(version.value).values() for broker in target}
        return found

    def topic_versions(self, topic: str, first: int, last: int) -> list[Version]:
        """The contents of a topic znode, oldest first, None where there was none."""
        return self._znodes[_TOPIC + topic].between(first, last)

    def marked(self, topic: str, first: int, last: int) -> int | None:
        """The zxid since which the deletion of a topic was asked for at some time from `first` on, None if never."""
        versions = self._znodes[_MARKER + topic].between(first, last)
        return next((max(v.zxid, first) for v in versions if v.value is not None), None)

    def preferred_requested(self, partition: Partition, first: int, last: int) -> bool:
        """Whether /admin/preferred_replica_election listed a partition."""
        return any(partition in entries_in(v.value) for v in self._znodes[_PREFERRED].between(first, last))

    def unclean(self, topic: str, first: int, last: int) -> list[Version]:
        """unclean.leader.election.enable of a topic, else the cluster's default: True, False, None if neither says."""
        own, default = self._znodes[_CONFIG + topic], self._znodes[_DEFAULT_CONFIG]
        zxids = sorted({max(v.zxid, first) for versions in (own, default) for v in versions.between(first, last)})
        pairs = [(zxid, unclean_in(own.at(zxid)), unclean_in(default.at(zxid))) for zxid in zxids]
        return [Version(zxid, general if special is None else special) for zxid, special, general in pairs]

    def lost_a_log_directory(self, broker: int, zxid: int) -> bool:
        """Whether a broker has told of a failed log directory before."""
        return self._failed_directory.get(broker, zxid) < zxid

    def _note(self, zxid: int, path: str, data: bytes | None) -> None:
        known = below(self._root, path) or ""
        if _WATCHED.fullmatch(known):
            self._znodes[known].add(zxid, data)
        elif known.startswith(_LOG_DIRS) and isinstance(broker := json_in(data).get("broker"), int):
            self._failed_directory.setdefault(broker, zxid)

    def _note_brokers(self, transaction: Transaction, brokers: frozenset[int]) -> None:
        for broker in self.brokers.at(transaction.zxid) - brokers:
            self.departures[broker].append(Departure(transaction.zxid, transaction.time))
        self.brokers.add(transaction.zxid, brokers)

    def _is_registration(self, operation: Operation) -> bool:
        return (below(self._root, getattr(operation, "path", "")) or "").startswith("/brokers/ids/")

    def _registered(self, tree: Tree) -> frozenset[int]:
        names = (path.rpartition("/")[2] for path in tree.children.get(f"{self._root}/brokers/ids", ()))
        return frozenset(int(name) for name in names if name.isdigit())


def assignment_in(data: bytes | None, number: int) -> Assignment | None:
    """A partition's assignment in a topic znode of any version; None if it has none."""
    parts = (part_of(json_in(data), name) for name in _PARTS)
    replicas, adding, removing = (ids_in(part.get(str(number))) for part in parts)
    return Assignment(replicas, adding, removing) if replicas else None


def target_of(assignment: Assignment) -> tuple[int, ...]:
    """The replicas that remain when what is being removed is gone."""
    return tuple(replica for replica in assignment.replicas if replica not in assignment.removing)


def origin_of(assignment: Assignment) -> tuple[int, ...]:
    """The replicas that there were before what is being added."""
    return tuple(replica for replica in assignment.replicas if replica not in assignment.adding)


def part_of(found: dict, name: str) -> dict:
    """The object of that name inside a JSON object; an empty one where there is none."""
    part = found.get(name)
    return part if isinstance(part, dict) else {}


@lru_cache(maxsize=1_000)
def entries_in(data: bytes | None) -> dict[Partition, tuple[int, ...]]:
    """The partitions that an admin znode lists, each with the replicas that it wants, if it wants any."""
    listed = json_in(data).get("partitions")
    entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    return {(str(entry.get("topic")), entry["partition"]): ids_in(entry.get("replicas"))
            for entry in entries if isinstance(entry.get("partition"), int)}


def ids_in(value: object) -> tuple[int, ...]:
    """The broker ids of a JSON list; none where it is no list of numbers."""
    return tuple(value) if isinstance(value, list) and all(isinstance(each, int) for each in value) else ()


def unclean_in(data: bytes | None) -> bool | None:
    """What a config znode says of unclean elections, None for nothing."""
    value = part_of(json_in(data), "config").get(_UNCLEAN)
    return None if value is None else str(value).lower() == "true"
