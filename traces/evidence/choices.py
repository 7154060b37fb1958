"""What all streams must show before one of them is judged: whom controllers choose, and which of their machines work."""

from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from math import inf
from typing import NamedTuple

import numpy as np

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.basics.columns import Rows, groups
from kafkaproof.traces.evidence.cluster_inputs import Departure
from kafkaproof.traces.evidence.terms import TermKey


class Chosen(NamedTuple):
    """A controller's epoch and session, a broker that it chose, and how often that broker had left before."""

    term_key: TermKey
    broker: int
    life: int


class Choice(NamedTuple):
    """A state with another leader than before, and the term that it was written in; `first`: the ISR, where it is the first state.

    `leader` is NOBODY too where a controller leaves it as it is and takes a replica out of the ISR.
    """

    term_key: TermKey
    leader: int
    first: tuple[int, ...] | None


class Census:
    """Collects that from all choices.

    `chosen`: the last time that a controller chose a broker to lead, or for a first ISR, in each of the broker's lives;
    a life ends with the broker's next departure. `used`: which state machines of a controller are seen to work,
    "elections" or "removals".
    """

    def __init__(self, departures: Mapping[int, list[Departure]], ends: Mapping[TermKey, float]):
        """`ends`: the zxid at which each term ends; whom its controller chooses after that tells nothing."""
        self._departures = {broker: array("q", [d.zxid for d in found]) for broker, found in departures.items()}
        self._ends = ends
        self.chosen: dict[Chosen, int] = {}
        self.used: dict[TermKey, set[str]] = defaultdict(set)

    def add(self, choices: Rows) -> None:
        """Note choices: rows of the zxid of the record that shows one, which rises, and of a Choice."""
        zxids, different = choices.numbers(0), choices.values(1).different
        codes = np.array(choices.values(1).codes, np.int64)
        for rows in groups(codes):
            term_key, leader, first = different[codes[rows[0]]]
            self.used[term_key].add("removals" if leader == NOBODY else "elections")
            counting = zxids[rows][zxids[rows] <= self._ends.get(term_key, inf)]
            for broker in (leader,) if first is None else first:
                self._choose(term_key, broker, counting)

    def life(self, broker: int, zxid: int) -> int:
        """How often a broker had left before the record of that zxid, or with it."""
        return bisect_right(self._departures.get(broker, ()), zxid)

    def _choose(self, term_key: TermKey, broker: int, zxids: np.ndarray) -> None:
        """A controller has chosen a broker at these zxids, which rise."""
        lives = np.searchsorted(self._departures.get(broker, ()), zxids, "right")
        last = np.flatnonzero(np.diff(lives, append=-1))
        for life, zxid in zip(lives[last].tolist(), zxids[last].tolist()):
            each = Chosen(term_key, broker, life)
            self.chosen[each] = max(zxid, self.chosen.get(each, 0))
