"""Who may be shutting down: the request for a controlled shutdown is not logged, what follows it is.

A broker that asked is gone soon, and until then its controller elects it for nothing. It may rejoin an ISR
meanwhile: leaders take it back (seen in 1.1.1), and the controller refuses that only from 3.3 on (KIP-841).
"""

from collections.abc import Mapping

from traces.census import Census, Chosen, Reign
from traces.common import Departure
from traces.partitions.changes import Change

LEAVES_WITHIN = 60_000
"""How many ms after its request a broker is gone: controlled.shutdown.max.retries with their timeouts."""


class Leaving:
    """Knows from the whole log when brokers left and when they were chosen."""

    def __init__(self, departures: Mapping[int, list[Departure]], last_time: int, census: Census):
        self._departures, self._last_time, self._census = departures, last_time, census

    def may_be(self, broker: int, view: int, change: Change) -> bool:
        """Whether a broker that stands in the view of that zxid may be shutting down when a state is written."""
        return self.gone_soon(broker, view, change.time, change.zxid, change.reign)

    def gone_soon(self, broker: int, view: int, time: int, zxid: int, reign: Reign) -> bool:
        """The same of anything that the controller of a reign writes at a time."""
        lives, life = self._departures.get(broker, ()), self._census.life(broker, view)
        gone = lives[life].time if life < len(lives) else self._last_time
        return gone <= time + LEAVES_WITHIN and self._census.chosen.get(Chosen(reign, broker, life), 0) <= zxid
