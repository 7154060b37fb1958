"""Who follows whom: the interface of the data plane while there are no logs.

A follower asks its leader again and again, as a fetch does. With empty logs whoever follows in the leader's epoch has
all that there is, so the leader wishes an ISR of itself and of those that have asked lately
(replica.lag.time.max.ms). Which ISR a leader may wish, the specification says.
"""

from __future__ import annotations

import time


class Followers:
    """What a leader knows of its followers, by partition and broker: the leader epoch of the last fetch, and when."""

    def __init__(self, lag: float):
        self._lag = lag
        self._fetched: dict[tuple[int, int], tuple[int, float]] = {}

    def note(self, p: int, follower: int, leader_epoch: int) -> None:
        """A fetch has come."""
        self._fetched[p, follower] = leader_epoch, time.monotonic()

    def in_sync(self, p: int, leader: int, leader_epoch: int, replicas: tuple[int, ...]) -> int:
        """The ISR that the leader wishes, as a set."""
        oldest = time.monotonic() - self._lag
        wished = 1 << leader
        for replica in replicas:
            epoch, when = self._fetched.get((p, replica), (-1, 0.0))
            if epoch == leader_epoch and when > oldest:
                wished |= 1 << replica
        return wished
