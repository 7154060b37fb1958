"""Which partition a number of the specification is: those of the first topic in order, the offsets partition, if any,
and behind them the numbers that topics get when they are created. There are as many as topics need, and none is given twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

OFFSETS_TOPIC = "__consumer_offsets"
NONE = -1
FURTHER = "place"
"""What a partition of a further topic is called on a disk, whatever topic it is of."""


class Places:
    """The first topic of a cluster; how many numbers there are at first (`size`), that of the offsets partition, and the first
    that further topics get (`further`); -1: there is none.

    Which topic has which further number is learnt while the cluster runs (`note`). `reach` is told up to which number there
    must be records for partitions.
    """

    def __init__(self, topic: str, offsets: int = NONE, further: int = NONE, size: int = 0):
        self.topic, self.offsets, self.further, self.size = topic, offsets, further, size
        self.reach: Callable[[int], None] = lambda p: None
        self._further: dict[int, tuple[str, int]] = {}
        self._numbers: dict[tuple[str, int], int] = {}

    def is_further(self, p: int) -> bool:
        """Whether a number is not one of those from the beginning."""
        return self.further != NONE and p >= self.further

    def place_of(self, p: int) -> tuple[str, int] | None:
        """The topic and the partition in it; None for a further number that no topic is known to have."""
        if self.is_further(p):
            return self._further.get(p)
        return (OFFSETS_TOPIC, 0) if p == self.offsets else (self.topic, p)

    def number_of(self, topic: str, partition: int) -> int | None:
        """The number of a partition in the specification; None for a topic that does not exist."""
        if topic == OFFSETS_TOPIC and self.offsets != NONE:
            return self.offsets if partition == 0 else None
        if topic == self.topic and 0 <= partition < self._first_else:
            return partition
        return self._numbers.get((topic, partition))

    def initial(self, topic: str) -> list[int]:
        """The numbers that a topic has from the beginning: those of the first topic, and that of the offsets partition."""
        if topic == OFFSETS_TOPIC:
            return [self.offsets] if self.offsets != NONE else []
        return list(range(self._first_else)) if topic == self.topic else []

    @property
    def _first_else(self) -> int:
        """The first number that is not one of the first topic from the beginning."""
        return min((p for p in (self.offsets, self.further) if p != NONE), default=self.size)

    def numbers_of(self, topic: str) -> list[int]:
        """The numbers of all partitions of a topic, as far as they are known."""
        return [*self.initial(topic), *(p for p, place in self._further.items() if place[0] == topic)]

    def note(self, topic: str, partitions: Mapping[int, int]) -> None:
        """Note which further numbers are a topic's, and which partition each is; these partitions lose former ones."""
        for p, partition in partitions.items():
            former = self._numbers.get((topic, partition))
            if former is not None and former != p:
                del self._further[former]
            self._further[p], self._numbers[topic, partition] = (topic, partition), p
        if partitions:
            self.reach(max(partitions))

    def on_disk(self, p: int) -> tuple[str, int]:
        """What a partition is called on a disk, which is read before it is known which topics there are."""
        place = self.place_of(p)
        return (FURTHER, p) if place is None or self.is_further(p) else place

    def number_on_disk(self, name: str, number: int) -> int | None:
        """The number of what is called so on a disk."""
        return number if name == FURTHER else self.number_of(name, number)
