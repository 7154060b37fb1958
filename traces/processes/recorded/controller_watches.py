"""At which transaction the watch of a broker on /controller has fired: a server before 3.9 does not tell its client."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from kafkaproof.traces.zookeeper.transactions import CloseSession, Create, Transaction

PATH = "/controller"


class ControllerWatches:
    """The watches of all brokers, each armed by a read of /controller, and fired once by its next change."""

    def __init__(self, transactions: Iterable[Transaction]):
        self._changes = list(_changes(transactions))
        self._armed: dict[int, list[int]] = defaultdict(list)

    def arm(self, broker: int, zxid: int) -> None:
        """A broker has read /controller as it was at a zxid."""
        self._armed[broker].append(zxid)

    def forget(self, broker: int) -> None:
        """A broker has begun a new session: its watches are gone."""
        self._armed[broker].clear()

    def fired(self, broker: int) -> int:
        """The zxid of the change that a broker hears of next; 0 where it has no watch, or there is none."""
        armed = self._armed[broker]
        found = next((zxid for zxid in self._changes if zxid > armed[0]), 0) if armed else 0
        armed[:] = [zxid for zxid in armed if zxid >= found]
        return found


def _changes(transactions: Iterable[Transaction]) -> Iterator[int]:
    """The zxids at which /controller is created or goes, by a deletion or with the session that owns it."""
    owner = None
    for transaction in transactions:
        named = [each for each in transaction.operations if getattr(each, "path", "") == PATH]
        if isinstance(transaction.first, CloseSession) and transaction.session == owner:
            owner = None
            yield transaction.zxid
        elif named and not transaction.failed:
            owner = transaction.session if isinstance(named[0], Create) else None
            yield transaction.zxid
