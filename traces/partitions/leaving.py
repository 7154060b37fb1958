"""Who may be shutting down: the request for a controlled shutdown is not logged, what follows it is.

A broker that asked is gone soon, and until then its controller elects it for nothing. It may rejoin an ISR
meanwhile: leaders take it back (seen in 1.1.1), and the controller refuses that only from 3.3 on (KIP-841).
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from math import inf
from typing import NamedTuple

from traces.partitions.changes import Change

LEAVES_WITHIN = 60_000
"""How many ms after its request a broker is gone: controlled.shutdown.max.retries with their timeouts."""


class Departure(NamedTuple):
    """A broker's registration went: the record that ended it, and its time in ms."""

    zxid: int
    time: int


class Leaving:
    """Knows from the whole log when brokers left and when they were elected."""

    def __init__(self, departures: dict[int, list[Departure]], last_time: int, changes: Iterable[Change]):
        self._departures, self._last_time = departures, last_time
        self._elected: dict[tuple, list[int]] = defaultdict(list)
        for change in changes:
            if change.after:
                self._note(change)

    def may_be(self, broker: int, view: int, change: Change, until: float) -> bool:
        """Whether a broker that stands in the view of that zxid may be shutting down when a state is written.

        `until` is the zxid at which the controller's reign ends, and with it what it knows of shutdowns.
        """
        return self.gone_soon(broker, view, change.time, change.zxid, change.reign, until)

    def gone_soon(self, broker: int, view: int, time: int, zxid: int, reign: tuple[int, int], until: float) -> bool:
        """The same of anything that the controller of a reign writes at a time."""
        soon = time + LEAVES_WITHIN
        gone = next((d for d in self._departures.get(broker, ()) if d.zxid > view), None)
        if (gone.time if gone else self._last_time) > soon:
            return False
        until = min(gone.zxid if gone else inf, until)
        elected = self._elected[(reign, broker)]
        place = bisect_right(elected, zxid)
        return place == len(elected) or elected[place] > until

    def _note(self, change: Change) -> None:
        """Note whom a change elects; the first ISR of a partition has all that are online."""
        elected = change.after.isr if change.before is None else (change.after.leader,)
        if change.before is None or change.after.leader != change.before.leader:
            for broker in elected:
                self._elected[(change.reign, broker)].append(change.zxid)
