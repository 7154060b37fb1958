"""What must be known of all streams before one of them is judged: whom controllers choose, and what of theirs works."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from math import inf
from typing import NamedTuple

from spec.language.domains import NOBODY
from traces.common import Departure

Reign = tuple[int, int]


class Chosen(NamedTuple):
    """A controller's epoch and session, a broker that it chose, and how often that broker had left before."""

    reign: Reign
    broker: int
    life: int


class Choice(NamedTuple):
    """A state with another leader than before: by which controller; `first`: the ISR, where it is the first state.

    `leader` is NOBODY too where a controller leaves it as it is and takes a replica out of the ISR.
    """

    reign: Reign
    leader: int
    first: tuple[int, ...] | None


class Census:
    """Collects it choice by choice.

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

    def add(self, choices: Iterable[tuple[int, Choice]]) -> None:
        """Note choices, each with the zxid of the record that shows it."""
        for zxid, (reign, leader, first) in choices:
            self.used[reign].add("removals" if leader == NOBODY else "elections")
            if zxid <= self._ends.get(reign, inf):
                for broker in (leader,) if first is None else first:
                    self._choose(Chosen(reign, broker, self.life(broker, zxid)), zxid)

    def life(self, broker: int, zxid: int) -> int:
        """How often a broker had left before the record of that zxid, or with it."""
        return bisect_right(self._departures.get(broker, ()), zxid)

    def _choose(self, each: Chosen, zxid: int) -> None:
        self.chosen[each] = max(zxid, self.chosen.get(each, 0))
