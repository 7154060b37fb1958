"""What must be known of all streams before one of them is judged: whom controllers choose, and what of theirs works."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from math import inf
from typing import NamedTuple

from spec.language.domains import NOBODY
from traces.common import Departure
from traces.partitions.changes import Change

Reign = tuple[int, int]


class Chosen(NamedTuple):
    """A controller's epoch and session, a broker that it chose, and how often that broker had left before."""

    reign: Reign
    broker: int
    life: int


class Census:
    """Collects it change by change; what was collected elsewhere can be taken in.

    `chosen`: the last time that a controller chose a broker to lead, or for a first ISR, in each of the broker's lives;
    a life ends with the broker's next departure. `used`: which state machines of a controller are seen to work,
    "elections" or "removals".
    """

    def __init__(self, departures: Mapping[int, list[Departure]], ends: Mapping[Reign, float]):
        """`ends`: the zxid at which each reign ends; whom its controller chooses after that tells nothing."""
        self._departures = {broker: [d.zxid for d in found] for broker, found in departures.items()}
        self._ends = ends
        self.chosen: dict[Chosen, int] = {}
        self.used: dict[Reign, set[str]] = defaultdict(set)

    def add(self, changes: Iterable[Change]) -> None:
        """Note what changes tell."""
        for change in changes:
            before, after = change.before, change.after
            if after is None or before is not None and after.leader == before.leader:
                continue
            self.used[change.reign].add("removals" if after.leader == NOBODY else "elections")
            if change.zxid <= self._ends.get(change.reign, inf):
                for broker in after.isr if before is None else (after.leader,):
                    self._choose(Chosen(change.reign, broker, self.life(broker, change.zxid)), change.zxid)

    def life(self, broker: int, zxid: int) -> int:
        """How often a broker had left before the record of that zxid, or with it."""
        return bisect_right(self._departures.get(broker, ()), zxid)

    def merge(self, other: "Census") -> None:
        """Take in what was collected elsewhere."""
        for each, zxid in other.chosen.items():
            self._choose(each, zxid)
        for reign, machines in other.used.items():
            self.used[reign] |= machines

    def _choose(self, each: Chosen, zxid: int) -> None:
        self.chosen[each] = max(zxid, self.chosen.get(each, 0))
