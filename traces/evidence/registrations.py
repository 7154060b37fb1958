"""Which broker was registered in /brokers/ids, from when to when, and how that ended."""

import re
from dataclasses import dataclass

from kafkaproof.traces.reading.cluster import below
from kafkaproof.traces.zookeeper.transactions import CloseSession, Create, Delete, Transaction

_PATH = re.compile(r"/brokers/ids/(\d+)")
CLOSED, ENDED, EXPIRED, BY_HAND = (
    "session closed by the broker",
    "session closed by another client",
    "session expired",
    "deleted by hand",
)


@dataclass
class Registration:
    """One life of /brokers/ids/N; `time` in ms since 1970 as that of its end; `how` is None while it stands.

    `cxid`: the number of the client's request that made it, 0 where that is before the log.
    """

    broker: int
    session: int
    zxid: int
    time: int
    cxid: int = 0
    how: str | None = None
    ended: int | None = None
    ended_time: int | None = None

    def as_json(self) -> dict:
        """The registration as an object of `replay --json`."""
        ended = None if self.ended is None else {"how": self.how, "zxid": hex(self.ended), "time": self.ended_time}
        return {
            "broker": self.broker,
            "session": hex(self.session),
            "zxid": hex(self.zxid),
            "time": self.time,
            "ended": ended,
        }


class Registrations:
    """Collects the registrations record by record."""

    def __init__(self, root: str, nodes: dict):
        self.all: list[Registration] = []
        self._root = root
        self._standing: dict[int, Registration] = {}
        for path, node in nodes.items():
            if (broker := self._broker(path)) is not None:
                self._begin(Registration(broker, node.ephemeral_owner, node.czxid, node.ctime))

    def add(self, transaction: Transaction) -> None:
        """Note what a transaction that succeeded did."""
        for operation in transaction.operations:
            match operation:
                case Create(path) if (broker := self._broker(path)) is not None:
                    self._begin(
                        Registration(broker, transaction.session, transaction.zxid, transaction.time, transaction.cxid)
                    )
                case Delete(path) if (broker := self._broker(path)) in self._standing:
                    self._end(self._standing[broker], BY_HAND, transaction)
                case CloseSession():
                    for each in [r for r in self._standing.values() if r.session == transaction.session]:
                        self._end(each, _how(each, transaction), transaction)

    def _broker(self, path: str) -> int | None:
        found = _PATH.fullmatch(below(self._root, path) or "")
        return int(found[1]) if found else None

    def _begin(self, registration: Registration) -> None:
        self.all.append(registration)
        self._standing[registration.broker] = registration

    def _end(self, registration: Registration, how: str, transaction: Transaction) -> None:
        registration.how, registration.ended, registration.ended_time = how, transaction.zxid, transaction.time
        del self._standing[registration.broker]


def _how(registration: Registration, closed: Transaction) -> str:
    """How a session came to its end: a client numbers its requests, and another that takes over begins anew."""
    if not closed.cxid:
        return EXPIRED
    return CLOSED if closed.cxid > registration.cxid else ENDED
