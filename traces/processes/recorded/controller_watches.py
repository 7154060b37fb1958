"""When the watch of a broker on /controller has fired, and what it said: a server before 3.9 does not tell its client when."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kafkaproof.spec.kafka.zookeeper import CHANGED, DELETED, NOTHING
from kafkaproof.traces.zookeeper.transactions import CloseSession, Create, Transaction

PATH = "/controller"


class Change(NamedTuple):
    """/controller has come (`event`: CHANGED) or gone (DELETED) with a transaction."""

    zxid: int
    event: int


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

    def fired(self, broker: int, heard: int) -> int:
        """The zxid of the change of which a broker has heard this; 0 where it has no watch, or there is none.

        Of events that it handles together the broker says the gravest. A client that reconnects is told of the last change
        only.
        """
        zxid = 0
        for change in self._next(broker):
            zxid = change.zxid
            self._armed[broker] = [at for at in self._armed[broker] if at >= zxid]
            if change.event == heard:
                break
        return zxid

    def waits(self, broker: int, zxid: int) -> int:
        """What the watch has said up to a zxid, and the broker does not know of yet; of several events the gravest."""
        return max((change.event for change in self._next(broker) if change.zxid <= zxid), default=NOTHING)

    def _next(self, broker: int) -> Iterator[Change]:
        """The changes of which a broker hears next, in order."""
        heard = 0
        for at in list(self._armed[broker]):
            change = next((change for change in self._changes if change.zxid > at), None) if at >= heard else None
            if change:
                heard = change.zxid
                yield change


def _changes(transactions: Iterable[Transaction]) -> Iterator[Change]:
    """The changes of /controller: it is created or goes, by a deletion or with the session that owns it."""
    owner = None
    for transaction in transactions:
        named = [each for each in transaction.operations if getattr(each, "path", "") == PATH]
        if isinstance(transaction.first, CloseSession) and transaction.session == owner:
            owner = None
            yield Change(transaction.zxid, DELETED)
        elif named and not transaction.failed:
            owner = transaction.session if isinstance(named[0], Create) else None
            yield Change(transaction.zxid, DELETED if owner is None else CHANGED)
