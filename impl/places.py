"""Which partition a number of the specification is: those of the first topic in order, the offsets partition, if any,
and behind them a room: numbers that topics get when they are created.
"""

from __future__ import annotations

from collections.abc import Mapping

OFFSETS_TOPIC = "__consumer_offsets"
NONE = -1
ROOM = "place"
"""What a number of the room is called on a disk, whatever topic has it."""


class Places:
    """The first topic of a cluster; the number of the offsets partition, and the first of the room (-1: there is none).

    Which topic has which numbers of the room is learnt while the cluster runs (`note`).
    """

    def __init__(self, topic: str, offsets: int = NONE, room: int = NONE):
        self.topic, self.offsets, self.room = topic, offsets, room
        self._further: dict[int, tuple[str, int]] = {}

    def is_room(self, p: int) -> bool:
        """Whether a number belongs to the room."""
        return self.room != NONE and p >= self.room

    def place_of(self, p: int) -> tuple[str, int] | None:
        """The topic and the partition in it; None for a number of the room that no topic is known to have."""
        if self.is_room(p):
            return self._further.get(p)
        return (OFFSETS_TOPIC, 0) if p == self.offsets else (self.topic, p)

    def number_of(self, topic: str, partition: int) -> int | None:
        """The number of a partition in the specification; None for a topic that there is not."""
        if topic == OFFSETS_TOPIC:
            return self.offsets if partition == 0 and self.offsets != NONE else None
        if topic == self.topic:
            first_else = self.offsets if self.offsets != NONE else self.room
            return partition if partition >= 0 and (first_else == NONE or partition < first_else) else None
        return next((p for p, place in self._further.items() if place == (topic, partition)), None)

    def note(self, topic: str, partitions: Mapping[int, int]) -> None:
        """A topic is known to have some numbers of the room: which partition each is."""
        self._further.update({p: (topic, partition) for p, partition in partitions.items()})

    def on_disk(self, p: int) -> tuple[str, int]:
        """What a partition is called on a disk, which is read before anybody tells which topics there are."""
        return (ROOM, p) if self.is_room(p) else self.place_of(p)

    def number_on_disk(self, name: str, number: int) -> int | None:
        """The number of what is called so on a disk."""
        return number if name == ROOM else self.number_of(name, number)
