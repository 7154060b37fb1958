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

    `size`: how many numbers there are. Which topic has which numbers of the room is learnt while the cluster runs
    (`note`). `takes_any`: topics that none of our controllers has created get some, too.
    """

    def __init__(self, topic: str, offsets: int = NONE, room: int = NONE, size: int = 0, takes_any: bool = False):
        self.topic, self.offsets, self.room, self.size, self.takes_any = topic, offsets, room, size, takes_any
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
        """The number of a partition in the specification; None for a topic that does not exist."""
        if topic == OFFSETS_TOPIC:
            return self.offsets if partition == 0 and self.offsets != NONE else None
        if topic == self.topic and 0 <= partition < self._first_else:
            return partition
        return next((p for p, place in self._further.items() if place == (topic, partition)), None)

    def initial(self, topic: str) -> list[int]:
        """The numbers that a topic has from the beginning: those of the first topic, and that of the offsets partition."""
        if topic == OFFSETS_TOPIC:
            return self.numbers_of(topic)
        return list(range(self._first_else)) if topic == self.topic else []

    @property
    def _first_else(self) -> int:
        """The first number that is not one of the first topic from the beginning."""
        return min((p for p in (self.offsets, self.room) if p != NONE), default=self.size)

    def numbers_of(self, topic: str) -> list[int]:
        """The numbers of all partitions of a topic, as far as they are known."""
        if topic == OFFSETS_TOPIC:
            return [self.offsets] if self.offsets != NONE else []
        first = range(self._first_else) if topic == self.topic else ()
        return [*first, *(p for p, place in self._further.items() if place[0] == topic)]

    def note(self, topic: str, partitions: Mapping[int, int]) -> None:
        """Note which numbers of the room are a topic's, and which partition each is; it loses its former ones."""
        former = [
            p
            for p, (name, partition) in self._further.items()
            if name == topic and partition in partitions.values() and p not in partitions
        ]
        for p in former:
            del self._further[p]
        self._further.update({p: (topic, partition) for p, partition in partitions.items()})

    def on_disk(self, p: int) -> tuple[str, int]:
        """What a partition is called on a disk, which is read before it is known which topics there are."""
        place = self.place_of(p)
        return (ROOM, p) if place is None or self.is_room(p) else place

    def number_on_disk(self, name: str, number: int) -> int | None:
        """The number of what is called so on a disk."""
        return number if name == ROOM else self.number_of(name, number)
