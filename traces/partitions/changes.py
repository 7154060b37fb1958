"""The changes of partition states in a log: every version of every state znode, with its writer."""

from collections.abc import Mapping
from dataclasses import dataclass

from traces.writes import Write
from traces.znodes.contents import PartitionState, state_in
from traces.znodes.places import place_of
from traces.zookeeper.snapshot import Znode

Partition = tuple[str, int]


@dataclass(slots=True)
class Change:
    """One version of a partition's state; `before` is None when it is created, and stood from zxid `since` on.

    `broker` is whose session wrote it, None for a tool's; `checked`: in a multi with a check of
    /controller_epoch; `after` is None where the znode holds no partition state.
    """

    zxid: int
    time: int
    partition: Partition
    since: int
    before: PartitionState | None
    after: PartitionState | None
    session: int
    broker: int | None
    checked: bool

    @property
    def topic(self) -> str:
        """The topic of the partition."""
        return self.partition[0]

    @property
    def number(self) -> int:
        """The number of the partition in its topic."""
        return self.partition[1]

    @property
    def reign(self) -> tuple[int, int]:
        """The controller that a controller's write claims to be of: epoch and session."""
        return self.after.controller_epoch, self.session


class Changes:
    """Collects the changes write by write."""

    def __init__(self, nodes: Mapping[str, Znode]):
        """`nodes`: the znodes before the first write, by their paths as brokers know them."""
        self.all: list[Change] = []
        self._known: dict[Partition, tuple[int, PartitionState | None]] = {}
        for path, node in nodes.items():
            place = place_of(path)
            if place and place.kind == "state":
                self._known[place.partition] = node.mzxid, state_in(node.data)

    def add(self, write: Write) -> None:
        """Note what a write did to a partition's state."""
        partition = write.place.partition
        if write.form == "delete":
            self._known.pop(partition, None)
            return
        known, after = self._known.get(partition, (0, None)), state_in(write.data)
        self.all.append(Change(write.zxid, write.time, partition, *known, after, write.session, write.broker,
                               write.checked))
        self._known[partition] = write.zxid, after
