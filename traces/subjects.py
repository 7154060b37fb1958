"""Which stream a write belongs to: each topic has its own, and what is of no topic goes to that of the cluster."""

from collections.abc import Collection

from traces.writes import Write
from traces.znode_json import entries_in
from traces.znodes import ENTITY, entity_in, place_of

CLUSTER, REASSIGNED = "", "/reassigned"
"""The streams of what is of no topic, and of all topics that were ever listed for a reassignment (2.3 and before)."""


class Subjects:
    """Names the streams of writes.

    Up to 2.3 a controller writes the list of all requests to reassign from its memory, so the topics in it are of
    one stream (`together`). From 2.4 on each is a stream of its own.
    """

    def __init__(self, together: Collection[str]):
        self._together = frozenset(together)

    def of_topic(self, topic: str) -> str:
        """The stream of a topic."""
        return REASSIGNED if topic in self._together else topic

    def of(self, write: Write) -> set[str]:
        """The streams of a write: one, but for a notification that names partitions of several topics."""
        place = write.place
        if place is None:
            return {CLUSTER}
        if place.topic is not None:
            return {self.of_topic(place.topic)}
        if write.form == "delete":
            return {REASSIGNED if place.kind == "reassign" and self._together else CLUSTER}
        if place.kind == "isr_change":
            return {self.of_topic(topic) for topic, _ in entries_in(write.data)} or {CLUSTER}
        if place.kind == "reassign":
            return {REASSIGNED if self._together else CLUSTER}
        if place.kind == "announcement":
            return {self._of_entity(entity_in(write.data))}
        return {CLUSTER}

    def _of_entity(self, entity: str | None) -> str:
        place = place_of(entity) if entity and ENTITY.fullmatch(entity) else None
        return self.of_topic(place.topic) if place and place.topic else CLUSTER
