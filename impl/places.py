"""Which partition a number of the specification is: those of the topic in order, and the offsets partition, if any."""

from __future__ import annotations

from typing import NamedTuple

OFFSETS_TOPIC = "__consumer_offsets"
NONE = -1


class Places(NamedTuple):
    """The topic of a cluster, and the number of the offsets partition (-1: there is none)."""

    topic: str
    offsets: int = NONE

    def place_of(self, p: int) -> tuple[str, int]:
        """The topic and the partition in it."""
        return (OFFSETS_TOPIC, 0) if p == self.offsets else (self.topic, p)

    def number_of(self, topic: str, partition: int) -> int | None:
        """The number of a partition in the specification; None for a topic that there is not."""
        if topic == OFFSETS_TOPIC:
            return self.offsets if partition == 0 and self.offsets != NONE else None
        return partition if topic == self.topic and partition != self.offsets else None
