"""The topics that ZooKeeper holds, as one write after another leaves them."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from kafkaproof.traces.evidence.state_changes import Partition
from kafkaproof.traces.evidence.writes import Form, Write
from kafkaproof.traces.zookeeper.snapshot import Znode
from kafkaproof.traces.zookeeper.znodes.contents import PartitionState, state_in
from kafkaproof.traces.zookeeper.znodes.json_parts import entries_in
from kafkaproof.traces.zookeeper.znodes.topics import (
    NO_NUMBER,
    OUTSIDE,
    Place,
    PlaceKind,
    Topic,
    place_of,
    text_of,
    topic_in,
)


@dataclass
class TopicTree:
    """What there is of a topic: `since`: the zxid that created its znode, `marked`: that asked for its deletion.

    `topic` is None where there is no topic znode, or one that cannot be read (then `since` is not None).
    """

    topic: Topic | None = None
    since: int | None = None
    directory: bool = False
    partitions: set[int] = field(default_factory=set)
    states: dict[int, PartitionState | None] = field(default_factory=dict)
    config: bool = False
    marked: int | None = None


class World:
    """The trees of all topics, and what the requests to the controller list."""

    def __init__(self, nodes: Mapping[str, Znode]):
        """`nodes`: what there is before the first write, by the paths as brokers know them."""
        self.topics: dict[str, TopicTree] = defaultdict(TopicTree)
        self.listed: dict[Partition, tuple[int, ...]] | None = None
        self.preferred = False
        for path, node in nodes.items():
            if place := place_of(path):
                self._put(place, node.mzxid if place.kind != PlaceKind.TOPIC else node.czxid, node.data)

    def apply(self, write: Write) -> None:
        """Go on to what a write leaves."""
        if write.place == OUTSIDE:
            return
        if write.form == Form.DELETE:
            self._remove(write.place)
        else:
            self._put(write.place, write.zxid, write.data)

    def text(self, place: Place) -> str:
        """What stands where a write goes, in words."""
        if not place.topic:
            listed = self.listed or {}
            entries = ", ".join(f"{topic}-{number} {list(target)}" for (topic, number), target in listed.items())
            return f"/admin/reassign_partitions with {entries}" if entries else "no /admin/reassign_partitions"
        tree = self.topics[place.topic]
        assigned = tree.topic.partitions if tree.topic else {}
        numbers = [place.number] if place.number != NO_NUMBER else sorted(assigned)
        parts = [f"{n}: {text_of(assigned.get(n))}, {_state_text(tree.states.get(n))}" for n in numbers]
        topic = f"{place.topic} with {'; '.join(parts)}" if assigned else f"no topic {place.topic}"
        asked = "" if tree.marked is None else ", its deletion asked for"
        return topic + (asked if tree.config else f"{asked}, without configuration")

    def _put(self, place: Place, zxid: int, data: bytes | None) -> None:
        tree = self.topics[place.topic] if place.topic else TopicTree()
        match place.kind:
            case PlaceKind.TOPIC:
                tree.topic, tree.since = topic_in(data), zxid if tree.since is None else tree.since
            case PlaceKind.DIRECTORY:
                tree.directory = True
            case PlaceKind.PARTITION:
                tree.partitions.add(place.number)
            case PlaceKind.STATE:
                tree.states[place.number] = state_in(data)
            case PlaceKind.CONFIG:
                tree.config = True
            case PlaceKind.MARKER:
                tree.marked = zxid
            case PlaceKind.REASSIGN:
                self.listed = entries_in(data)
            case PlaceKind.PREFERRED:
                self.preferred = True

    def _remove(self, place: Place) -> None:
        tree = self.topics[place.topic] if place.topic else TopicTree()
        match place.kind:
            case PlaceKind.TOPIC:
                tree.topic, tree.since = None, None
            case PlaceKind.DIRECTORY:
                tree.directory = False
            case PlaceKind.PARTITION:
                tree.partitions.discard(place.number)
            case PlaceKind.STATE:
                tree.states.pop(place.number, None)
            case PlaceKind.CONFIG:
                tree.config = False
            case PlaceKind.MARKER:
                tree.marked = None
            case PlaceKind.REASSIGN:
                self.listed = None
            case PlaceKind.PREFERRED:
                self.preferred = False


def _state_text(state: PartitionState | None) -> str:
    return "no state" if state is None else f"leader {state.leader}, ISR {list(state.isr)}"
