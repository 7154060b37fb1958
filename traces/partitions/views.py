"""The versions of /brokers/ids as the controllers of a log may have seen them, with what earlier ones tell of each."""

from functools import lru_cache
from typing import NamedTuple

from traces.partitions.leaving import Leaving
from traces.versions import Version, Versions

_REMEMBERED = 20_000


class View(NamedTuple):
    """A version of /brokers/ids in a reign: `left` and `joined` since an earlier one of the reign, `brokers` are there.

    A broker may have done both.
    """

    zxid: int
    brokers: frozenset[int]
    left: frozenset[int]
    joined: frozenset[int]


class Views:
    """Gives the views of reigns; what is asked again and again is remembered, and given as the same object."""

    def __init__(self, brokers: Versions, leaving: Leaving):
        self._brokers, self._leaving = brokers, leaving
        for name in ("_of_places", "_limits", "_without"):
            setattr(self, name, lru_cache(_REMEMBERED)(getattr(self, name)))

    def of(self, start: int, oldest: int, zxid: int) -> tuple[View, ...]:
        """What the controller of a reign that began at `start` may see, from `oldest` to `zxid`, oldest first."""
        places = self._brokers.places(oldest, zxid)
        return self._of_places(start, places.start, places.stop)

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

    def leaving(self, view: View, reign: tuple[int, int], time: int, zxid: int) -> frozenset[int]:
        """Who of a view may be shutting down when the controller of a reign writes something."""
        found = [broker for broker, begins, chosen in self._limits(view, reign) if begins <= time and chosen <= zxid]
        return frozenset(found)

    def _limits(self, view: View, reign: tuple[int, int]) -> tuple[tuple[int, int, int], ...]:
        return tuple((broker, *self._leaving.limits(broker, view.zxid, reign)) for broker in view.brokers)

    def was_without(self, broker: int, first: int, last: int) -> bool:
        """Whether a broker was missing in some version that stood from zxid `first` to `last`, or at `first`."""
        places = self._brokers.places(first, max(first, last))
        return self._without(broker, places.start, places.stop)

    def _without(self, broker: int, first: int, end: int) -> bool:
        return any(broker not in self._brokers[place].value for place in range(first, end))
