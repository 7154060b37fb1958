"""Who may be shutting down: the request for a controlled shutdown is not logged, what follows it is.

A broker that asked is gone soon, and until then its controller elects it for nothing. It may rejoin an ISR
meanwhile: leaders take it back (seen in 1.1.1), and the controller refuses that only from 3.3 on (KIP-841).
"""

from collections.abc import Mapping

from traces.census import Census, Chosen, Reign
from traces.common import Departure

LEAVES_WITHIN = 60_000
"""How many ms after its request a broker is gone: controlled.shutdown.max.retries with their timeouts."""


class Leaving:
    """Knows from the whole log when brokers left and when they were chosen."""

    def __init__(self, departures: Mapping[int, list[Departure]], last_time: int, census: Census):
        self._departures, self._last_time, self._census = departures, last_time, census

    def gone_soon(self, broker: int, view: int, time: int, zxid: int, reign: Reign) -> bool:
        """Whether a broker of the view of a zxid may be shutting down when a controller writes something."""
        begins, chosen = self.limits(broker, view, reign)
        return begins <= time and chosen <= zxid

    def limits(self, broker: int, view: int, reign: Reign) -> tuple[int, int]:
        """From which time (ms) and zxid on a broker of that view may be shutting down to the controller of a reign."""
        lives, life = self._departures.get(broker, ()), self._census.life(broker, view)
        gone = lives[life].time if life < len(lives) else self._last_time
        return gone - LEAVES_WITHIN, self._census.chosen.get(Chosen(reign, broker, life), 0)
