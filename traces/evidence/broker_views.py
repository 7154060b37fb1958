"""The versions of /brokers/ids as the controllers of a log may have seen them, with what earlier ones tell of each."""

from collections.abc import Sequence
from functools import lru_cache
from math import inf
from typing import NamedTuple

import numpy as np

from kafkaproof.traces.basics.columns import groups
from kafkaproof.traces.basics.interned import Known, known
from kafkaproof.traces.basics.versions import Version, Versions
from kafkaproof.traces.evidence.shutdowns import Leaving
from kafkaproof.traces.evidence.terms import ObservedTerm

_REMEMBERED = 50_000


class View(NamedTuple):
    """A version of /brokers/ids in a term: `left` and `joined` since an earlier one of the term, `brokers` are there.

    A broker may have done both.
    """

    zxid: int
    brokers: frozenset[int]
    left: frozenset[int]
    joined: frozenset[int]


class Sight(NamedTuple):
    """A view of /brokers/ids that a controller may have gone by.

    `leaving`: who of it may be shutting down: such a broker is gone soon; `leaderless`: the leader was missing in some
    version from its election to this view.
    """

    view: View
    leaving: frozenset[int]
    leaderless: bool


Moment = tuple[int, int, int]
"""What a controller may see at a time depends on no more of it: how many versions of /brokers/ids there have been, and
how many of the times and of the zxids of its term from which brokers may be shutting down."""


class Views:
    """Gives what controllers see; what is asked again and again is remembered, and given as the same object."""

    def __init__(self, brokers: Versions, leaving: Leaving):
        self._brokers, self._leaving = brokers, leaving
        for name in ("_of_places", "_gone_soon", "_without", "_outlook", "_sights"):
            setattr(self, name, lru_cache(_REMEMBERED)(getattr(self, name)))

    def moments(
        self, terms: np.ndarray, keys: Sequence[tuple[int, int]], times: np.ndarray, zxids: np.ndarray
    ) -> list[Moment]:
        """The moments of records. `terms`: codes of `keys`, epoch and session of a controller each."""
        chosen = np.zeros(len(zxids), np.int64)
        for rows in groups(terms):
            chosen[rows] = np.searchsorted(self._leaving.chosen(keys[terms[rows[0]]]), zxids[rows], "right")
        counts = self._brokers.counts(zxids), np.searchsorted(self._leaving.times, times, "right"), chosen
        return list(zip(*(count.tolist() for count in counts)))

    def sights(self, term: ObservedTerm, leader: int | None, elected: int, moment: Moment) -> Known[tuple[Sight, ...]]:
        """What the controller of a term may have gone by at a moment, oldest first.

        `leader`: that of the partition, None for a new one; `elected`: the zxid since which it may be the leader.
        """
        return self._sights(term.key, term.start, term.view, leader, elected, moment)

    def _sights(self, key, start, view, leader, elected, moment) -> Known[tuple[Sight, ...]]:
        outlook = self._outlook(key, start, view, moment)
        return known(
            tuple(
                Sight(view, leaving, leader is not None and self._was_without(leader, elected, view.zxid))
                for view, leaving in outlook
            )
        )

    def _outlook(self, key, start, view, moment) -> list[tuple[View, frozenset[int]]]:
        versions, begun, chosen = moment
        views = self._of_places(start, self._brokers.places(view, view).start, versions)
        return [(each, self._gone_soon(each, key, begun, chosen)) for each in views]

    def _of_places(self, start: int, first: int, end: int) -> tuple[View, ...]:
        found, seen, always = [], frozenset(), None
        for place in range(self._brokers.places(start, start).start, end):
            version: Version = self._brokers[place]
            brokers = version.value
            joined = frozenset() if always is None else brokers - always
            if place >= first:
                found.append(View(version.zxid, brokers, seen - brokers, joined))
            seen, always = seen | brokers, brokers if always is None else always & brokers
        return tuple(found)

    def _gone_soon(self, view: View, key: tuple[int, int], begun: int, chosen: int) -> frozenset[int]:
        time = self._leaving.times[begun - 1] if begun else -inf
        zxid = self._leaving.chosen(key)[chosen - 1] if chosen else 0
        return frozenset(b for b in view.brokers if self._leaving.gone_soon(b, view.zxid, time, zxid, key))

    def _was_without(self, broker: int, first: int, last: int) -> bool:
        """Whether a broker was missing in some version that stood from zxid `first` to `last`, or at `first`."""
        places = self._brokers.places(first, max(first, last))
        return self._without(broker, places.start, places.stop)

    def _without(self, broker: int, first: int, end: int) -> bool:
        return any(broker not in self._brokers[place].value for place in range(first, end))
