"""Which stream a write belongs to: each topic has its own, and what is of no topic goes to that of the cluster."""

from collections.abc import Collection

from kafkaproof.traces.evidence.writes import Form, Write
from kafkaproof.traces.zookeeper.znodes.json_parts import entries_in
from kafkaproof.traces.zookeeper.znodes.topics import ENTITY, PlaceKind, entity_in, place_of

CLUSTER, REASSIGNED = "", "/reassigned"
"""The streams of what is of no topic, and of all topics that were ever listed for a reassignment (2.3 and before)."""
LISTED = "/listed"
"""What the lists of requests are kept as, which are of one of these streams."""


class Subjects:
    """The streams of a log: of each topic, of what is of no topic, and of the topics that are reassigned `together`.

    Up to 2.3 a controller writes the list of all requests to reassign from its memory, so the topics in it are of
    one stream. From 2.4 on each is a stream of its own.
    """

    def __init__(self, together: Collection[str]):
        self._together = frozenset(together)

    def of_topic(self, topic: str) -> str:
        """The stream of a topic."""
        return REASSIGNED if topic in self._together else topic

    def names(self, kept: Collection[str]) -> dict[str, list[str]]:
        """The streams, each with the names under which its writes are kept."""
        found: dict[str, list[str]] = {}
        for name in sorted(kept):
            listed = REASSIGNED if self._together else CLUSTER
            found.setdefault(listed if name == LISTED else self.of_topic(name), []).append(name)
        return found


def subjects_of(write: Write) -> Collection[str]:
    """What a write is about: a topic, CLUSTER or LISTED; of a notification all topics of which it names partitions."""
    place = write.place
    if place.topic:
        return (place.topic,)
    if place.kind == PlaceKind.REASSIGN:
        return {LISTED}
    if write.form == Form.DELETE:
        return {CLUSTER}
    if place.kind == PlaceKind.ISR_CHANGE:
        return {topic for topic, _ in entries_in(write.data)} or {CLUSTER}
    if place.kind == PlaceKind.ANNOUNCEMENT:
        return {_of_entity(entity_in(write.data))}
    return {CLUSTER}


def _of_entity(entity: str | None) -> str:
    place = place_of(entity) if entity and ENTITY.fullmatch(entity) else None
    return place.topic if place and place.topic else CLUSTER
