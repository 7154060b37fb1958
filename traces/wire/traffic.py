"""What judges go by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.wire.exchanges import Exchange
from kafkaproof.traces.wire.history import History


class Traffic(NamedTuple):
    """What judges go by: the readable messages of some APIs in the order of time, what ZooKeeper's log tells, and what it
    was held to; `is_whole`: the capture lacks nothing.
    """

    exchanges: list[Exchange]
    history: History
    features: Features
    is_whole: bool = True

    def of(self, *apis: str) -> Iterator[Exchange]:
        """The messages of some APIs."""
        return (each for each in self.exchanges if each.api in apis)
