"""What controllers know that the models tell only by "it is the present one": registrations, and versions of states.

A controller may send to the former registration of a broker, which refuses, and may confirm an ISR by a version that
others have overtaken. Registrations of a broker are numbered from 1, versions from 0 as ZooKeeper does.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkaproof.spec.language.plain import Plain
from kafkaproof.spec.language.sets import contains
from kafkaproof.traces.processes.state.watched import Path

NO_VERSION = -1
WRITTEN = ("leader", "isr", "leader_epoch")


class Knowledge:
    """How often each broker has registered (`registrations`), and what controllers have read of that and of states."""

    def __init__(self, brokers: int, partitions: int):
        self.registrations = [0] * brokers
        self._listed = [[0] * brokers for _ in range(brokers)]
        self._versions = [NO_VERSION] * partitions
        self._read: dict[tuple[int, int], int] = {}

    def list_brokers(self, b: int, registered: int) -> None:
        """A controller has listed the brokers: this set is registered."""
        self._listed[b] = [number if contains(registered, r) else 0 for r, number in enumerate(self.registrations)]

    def registration(self, b: int, r: int) -> int:
        """The registration of a broker that a controller knows, 0 for none."""
        return self._listed[b][r]

    def note(self, zk: Plain, written: Iterable[Path]) -> None:
        """Count the writes of states, and note who knows the present version."""
        found = {(int(path[2]), path[3]) for path in written if path[:2] == ("zk", "partitions")}
        for p in {p for p, name in found if name in WRITTEN}:
            self._versions[p] += 1
        for p in {p for p, _ in found}:
            for b in range(len(self.registrations)):
                if contains(zk.partitions[p].readers, b):
                    self._read[b, p] = self._versions[p]

    def version(self, b: int, p: int) -> int:
        """The version of a state that a controller has read or written last, -1 for none."""
        return self._read.get((b, p), NO_VERSION)
