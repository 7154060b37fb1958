"""The versions of /brokers/ids as the controllers of a log may have seen them, with what earlier ones tell of each."""

from functools import lru_cache
from math import inf
from typing import NamedTuple

from traces.partitions.leaving import Leaving
from traces.reigns import Reign
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


class Sight(NamedTuple):
    """A view of /brokers/ids that a controller may have gone by.

    `leaving`: who of it may be shutting down: such a broker is gone soon; `leaderless`: the leader was missing in some
    version from its election to this view.
    """

    view: View
    leaving: frozenset[int]
    leaderless: bool


class Outlook:
    """What the controller of a reign may see in a time in which that stays the same: the views, and who leaves of each.

    `since`, `until`: that time, in ms and as zxids.
    """

    def __init__(self, reign: tuple[int, int], views: tuple[View, ...], limits: list[tuple[tuple[int, int, int], ...]],
                 time: int, zxid: int):
        """`limits`: of each view the brokers with the time (ms) and the zxid from which they may be shutting down."""
        self._reign, self.views = reign, views
        self.leaving = [frozenset(broker for broker, begins, chosen in each if begins <= time and chosen <= zxid)
                        for each in limits]
        times = {begins for each in limits for _, begins, _ in each}
        zxids = {chosen for each in limits for *_, chosen in each}
        self.since = max((t for t in times if t <= time), default=-inf), max((z for z in zxids if z <= zxid), default=0)
        self.until = min((t for t in times if t > time), default=inf), min((z for z in zxids if z > zxid), default=inf)
        self.sights: dict[tuple[int | None, int], tuple[Sight, ...]] = {}

    def lasts(self, reign: tuple[int, int], views: tuple[View, ...], time: int, zxid: int) -> bool:
        """Whether it is still the same."""
        first, last, same = self.since, self.until, views is self.views and reign == self._reign
        return same and first[0] <= time < last[0] and first[1] <= zxid < last[1]


class Views:
    """Gives what controllers see; what is asked again and again is remembered, and given as the same object."""

    def __init__(self, brokers: Versions, leaving: Leaving):
        self._brokers, self._leaving = brokers, leaving
        self._latest: Outlook | None = None
        for name in ("_of_places", "_limits", "_without"):
            setattr(self, name, lru_cache(_REMEMBERED)(getattr(self, name)))

    def sights(self, reign: Reign, leader: int | None, elected: int, time: int, zxid: int) -> tuple[Sight, ...]:
        """What the controller of a reign may have gone by when it wrote the record of that zxid, oldest first.

        `leader`: that of the partition, None for a new one; `elected`: the zxid since which it may be the leader.
        """
        outlook = self._outlook(reign, time, zxid)
        if (leader, elected) not in outlook.sights:
            outlook.sights[leader, elected] = tuple(
                Sight(view, leaving, leader is not None and self._was_without(leader, elected, view.zxid))
                for view, leaving in zip(outlook.views, outlook.leaving))
        return outlook.sights[leader, elected]

    def _outlook(self, reign: Reign, time: int, zxid: int) -> Outlook:
        places = self._brokers.places(reign.view, zxid)
        views, key = self._of_places(reign.start, places.start, places.stop), reign.key
        if self._latest is None or not self._latest.lasts(key, views, time, zxid):
            limits = [self._limits(view, key) for view in views]
            self._latest = Outlook(key, views, limits, time, zxid)
        return self._latest

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

    def _limits(self, view: View, reign: tuple[int, int]) -> tuple[tuple[int, int, int], ...]:
        return tuple((broker, *self._leaving.limits(broker, view.zxid, reign)) for broker in view.brokers)

    def _was_without(self, broker: int, first: int, last: int) -> bool:
        """Whether a broker was missing in some version that stood from zxid `first` to `last`, or at `first`."""
        places = self._brokers.places(first, max(first, last))
        return self._without(broker, places.start, places.stop)

    def _without(self, broker: int, first: int, end: int) -> bool:
        return any(broker not in self._brokers[place].value for place in range(first, end))
