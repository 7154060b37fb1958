"""What a ZooKeeper log knows of the offsets partitions: how many, their leader epochs, and topics that were deleted."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafkaproof.traces.groups.directories import TOPIC
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.zookeeper.transactions import Create, SetData
from kafkaproof.traces.zookeeper.znodes.contents import state_in
from kafkaproof.traces.zookeeper.znodes.topics import Place, PlaceKind, place_of, topic_in

_SIZES = Place(PlaceKind.TOPIC, TOPIC)
_SLACK = 60_000
"""Milliseconds by which the clocks of ZooKeeper and of brokers may differ."""


@dataclass
class Known:
    """`epochs`: the leader epochs written by partition; `deletions`: when they were asked for by topic, in ms; `sizes`:
    how many partitions there have been.
    """

    epochs: dict[int, list[int]] = field(default_factory=dict)
    deletions: dict[str, list[int]] = field(default_factory=dict)
    sizes: set[int] = field(default_factory=set)
    whole: bool = True

    def misses(self, partition: int, epoch: int) -> bool:
        """Whether a leader epoch was never written; earlier ones than a log begins with are unknown."""
        written = self.epochs.get(partition, [])
        return epoch not in written and (self.whole or bool(written) and epoch > min(written))

    def deleted(self, topic: str, time: int) -> bool:
        """Whether the deletion of a topic was asked for before this time, or may have been before the log begins."""
        return not self.whole or any(asked <= time + _SLACK for asked in self.deletions.get(topic, ()))


def known_from(recording: Recording, root: str) -> Known:
    """Read what is known from a log whose cluster is at `root`."""
    known = Known(whole=recording.start is None)
    for path, node in (recording.start.nodes if recording.start else {}).items():
        _note(known, path.removeprefix(root), node.data)
    for transaction in recording.transactions:
        for operation in () if transaction.failed else transaction.operations:
            if isinstance(operation, Create | SetData):
                place = _note(known, operation.path.removeprefix(root), operation.data)
                if place and place.kind == PlaceKind.MARKER and isinstance(operation, Create):
                    known.deletions.setdefault(place.topic, []).append(transaction.time)
    return known


def _note(known, path, content):
    place = place_of(path)
    if place == _SIZES and (topic := topic_in(content)):
        known.sizes.add(len(topic.partitions))
    state = state_in(content) if place and place.kind == PlaceKind.STATE and place.topic == TOPIC else None
    if state:
        known.epochs.setdefault(place.number, []).append(state.leader_epoch)
    return place
