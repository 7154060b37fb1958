"""The versions of znodes that each session writes: a session is one process, and a process is of one release."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from kafkaproof.spec.language.releases import Releases
from kafkaproof.traces.zookeeper.transactions import Transaction
from kafkaproof.traces.zookeeper.znodes.foreign_writes import Declared, Strange


class Written(NamedTuple):
    """A znode that a session writes: what it is, its version, and the releases that write that."""

    zxid: int
    path: str
    name: str
    version: int | str
    releases: Releases


@dataclass
class WrittenVersions:
    """By session, chroot, kind of znode and version the first that is written; only kinds that have several versions."""

    first: dict[tuple, Written] = field(default_factory=dict)

    def add(self, transaction: Transaction, declared: list[Declared | None]) -> None:
        """Note what a record that succeeded writes."""
        for operation, found in zip(transaction.operations, declared):
            version = found and found.content.version
            if found and version and len(found.known.versions) > 1:
                key = transaction.session, found.root, found.known.name, version.version
                path, name = getattr(operation, "path", ""), found.known.name
                self._keep(key, Written(transaction.zxid, path, name, version.version, version.releases))

    def merge(self, other: "WrittenVersions") -> None:
        """Take in what another part of the log shows."""
        for key, written in other.first.items():
            self._keep(key, written)

    def _keep(self, key: tuple, written: Written) -> None:
        self.first[key] = min(written, self.first.get(key, written), key=lambda each: each.zxid)

    def mixed(self) -> Iterator[Strange]:
        """What no release writes that writes what the session has written before."""
        releases: dict[tuple, Releases] = {}
        for (session, root, *_), each in sorted(self.first.items(), key=lambda item: item[1].zxid):
            before = releases.setdefault((session, root), each.releases)
            if before.overlaps(each.releases):
                releases[session, root] = before.within(each.releases)
            else:
                told = (
                    f"{each.name} of version {each.version} is of Kafka {each.releases}, and its session is of {before}"
                )
                yield Strange(each.zxid, session, root, each.path, told, True)
