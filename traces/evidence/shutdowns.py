"""Who may be shutting down: the request for a controlled shutdown is not logged, what follows it is.

A broker that asked is gone soon, and until then its controller elects it for nothing. It may rejoin an ISR
meanwhile: leaders take it back (seen in 1.1.1), and the controller refuses that only from 3.3 on (KIP-841).
"""

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property

import numpy as np

from kafkaproof.traces.evidence.choices import Census, Chosen
from kafkaproof.traces.evidence.cluster_inputs import Departure
from kafkaproof.traces.evidence.terms import TermKey

LEAVES_WITHIN = 60_000
"""How many ms after its request a broker is gone: controlled.shutdown.max.retries with their timeouts."""

_NONE = np.zeros(0, np.int64)


class Leaving:
    """Knows from the whole log when brokers left and when they were chosen."""

    def __init__(self, departures: Mapping[int, list[Departure]], last_time: int, census: Census):
        self._departures, self._last_time, self._census = departures, last_time, census

    @cached_property
    def times(self) -> np.ndarray:
        """The times (ms) from each of which on some broker may be shutting down."""
        ends = {departure.time for lives in self._departures.values() for departure in lives} | {self._last_time}
        return np.array(sorted(ends), np.int64) - LEAVES_WITHIN

    def chosen(self, term_key: TermKey) -> np.ndarray:
        """The zxids from each of which on some broker may be shutting down to the controller of a term."""
        return self._chosen.get(term_key, _NONE)

    @cached_property
    def _chosen(self) -> dict[TermKey, np.ndarray]:
        found: dict[TermKey, list[int]] = defaultdict(list)
        for each, zxid in self._census.chosen.items():
            found[each.term_key].append(zxid)
        return {term_key: np.array(sorted(zxids), np.int64) for term_key, zxids in found.items()}

    def gone_soon(self, broker: int, view: int, time: float, zxid: int, term_key: TermKey) -> bool:
        """Whether a broker of the view of a zxid may be shutting down when a controller writes something."""
        lives, life = self._departures.get(broker, ()), self._census.life(broker, view)
        gone = lives[life].time if life < len(lives) else self._last_time
        return gone - LEAVES_WITHIN <= time and self._census.chosen.get(Chosen(term_key, broker, life), 0) <= zxid
