"""One order of all that the processes did and of what was done to them, which respects causes and zxids.

A step that wrote stands at the transaction that it made; any other behind the last transaction that its process knew of,
and so before the next: then it read what it read. A step that took a message stands behind the one that sent it. What
ZooKeeper logged of nobody's step is a fault: the end of a session, an operator's request. A process that ended
without a word crashed; when, nothing tells, so its crash stands as late as it can: right before its session
ends, or before the next process of the broker begins.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from spec.processes import ELECTION
from spec.errors import UserError
from traces.processes.reading import Cluster, Line
from traces.transactions import CloseSession, CreateSession, Transaction

BEFORE, AT, BEHIND = -1, 0, 1
END = 1 << 62
LAST_STEPS = ("stop", "die")
FOLDER = re.compile(r"/brokers/topics/[^/]+/partitions(/\d+)?")


class Place(NamedTuple):
    """Where something stands: before, at, or behind a transaction."""

    zxid: int
    rank: int


@dataclass(frozen=True)
class Occurrence:
    """A line of a process, or a transaction of nobody's step, or the crash of a process (`crash`: its broker)."""

    place: Place
    line: Line | None = None
    transaction: Transaction | None = None
    closes: int | None = None
    crash: int | None = None

    @property
    def key(self) -> tuple:
        """What sorts it; among steps behind the same transaction the clock decides."""
        if self.line:
            return (*self.place, self.line.clock, self.line.process, self.line.n)
        return (*self.place, 0, "", 0)


class Sessions:
    """The sessions of the brokers' processes: whose they are, and when ZooKeeper opened and closed them."""

    def __init__(self, cluster: Cluster):
        self.process = {line.session: line.process for lines in cluster.processes for line in lines if line.session}
        self.opened, self.closed = {}, {}
        for transaction in cluster.zookeeper.transactions:
            first = transaction.operations[0]
            if isinstance(first, CreateSession):
                self.opened[transaction.session] = transaction.zxid
            elif isinstance(first, CloseSession):
                self.closed[transaction.session] = transaction.zxid

    def broker_of(self, session: int) -> int | None:
        """The broker whose session it is, None for a tool's."""
        process = self.process.get(session)
        return None if process is None else int(process.split(".")[0])


def in_order(cluster: Cluster) -> list[Occurrence]:
    """All that happened, in one order; raises UserError where causes and zxids contradict each other."""
    sessions = Sessions(cluster)
    placed = _Places(cluster, sessions).all()
    made = {each.place.zxid for each in placed if each.place.rank == AT}
    found = placed + _crashes(cluster, sessions, placed)
    for transaction in cluster.zookeeper.transactions:
        closes = isinstance(transaction.operations[0], CloseSession)
        broker = sessions.broker_of(transaction.session)
        if broker is not None and not closes or transaction.zxid in made:
            continue
        found.append(Occurrence(Place(transaction.zxid, AT), transaction=transaction,
                                closes=broker if closes else None))
    return sorted(found, key=lambda each: each.key)


class _Places:
    """Finds the places of all lines, each process in its order, a receipt behind its message."""

    def __init__(self, cluster: Cluster, sessions: Sessions):
        self._cluster, self._sessions = cluster, sessions
        self._sent: dict[str, Place] = {}
        self._last: dict[int, Place] = {}
        self._placed: list[Occurrence] = []
        self.claimed = {zxid for lines in cluster.processes for line in lines for zxid in line.zxids}

    def all(self) -> list[Occurrence]:
        """Every line with its place."""
        brokers: dict[int, list[Line]] = {}
        for lines in self._cluster.processes:
            brokers.setdefault(lines[0].broker, []).extend(lines) if lines else None
        waiting = {broker: iter(lines) for broker, lines in brokers.items()}
        heads = {broker: next(lines) for broker, lines in waiting.items()}
        while heads:
            ready = [b for b, line in heads.items() if line.took is None or line.took in self._sent]
            if not ready:
                told = ", ".join(f"{line.process} step {line.n} takes {line.took}" for line in heads.values())
                raise UserError(f"{self._cluster.directory}: messages that nobody has sent before: {told}")
            for broker in ready:
                self._place(heads[broker])
                heads[broker] = next(waiting[broker], None)
            heads = {broker: line for broker, line in heads.items() if line}
        return self._placed

    def _place(self, line: Line) -> None:
        own = self._own(line)
        causes = [self._last.get(line.broker, own)] + ([self._sent[line.took]] if line.took else [])
        place = own if own.rank == AT else max(own, *(_behind(cause) for cause in causes))
        self._last[line.broker] = place
        for message in (*line.sent, *([line.sends] if line.sends else ())):
            self._sent[message] = place
        self._placed.append(Occurrence(place, line))

    def _own(self, line: Line) -> Place:
        """Where a line stands by itself."""
        if line.zxids:
            return Place(line.zxids[-1], AT)
        if line.asks or line.step and line.step.answer == "LOST":
            return self._unanswered(line)
        closed = self._sessions.closed.get(line.session)
        if line.step and line.part == ELECTION:
            if line.name in ("start", "reopen"):
                return Place(self._sessions.opened[line.session], AT)
            if line.name in LAST_STEPS and closed:
                return Place(closed, AT)
        known = Place(line.zxid, BEHIND)
        heard = line.step and (line.name == "notice_expiry" or line.step.answer == "EXPIRED")
        return max(known, Place(closed, BEHIND)) if heard and closed else known

    def _unanswered(self, line: Line) -> Place:
        """Where a request stands whose answer nobody has got: at its transaction, if there is one."""
        for transaction in self._cluster.zookeeper.transactions:
            own = transaction.session == line.session and transaction.zxid not in self.claimed
            if own and transaction.zxid > line.zxid and not transaction.failed and _is_last(transaction):
                self.claimed.add(transaction.zxid)
                return Place(transaction.zxid, AT)
        return Place(line.zxid, BEHIND)


def _is_last(transaction):
    """Whether a transaction is what its step asks for in the end: not a folder above a state, nor the session's end."""
    last = transaction.operations[-1]
    return not isinstance(last, CloseSession) and not FOLDER.fullmatch(getattr(last, "path", ""))


def _behind(place):
    return Place(place.zxid, max(place.rank, BEHIND))


def _crashes(cluster: Cluster, sessions: Sessions, placed: list[Occurrence]) -> list[Occurrence]:
    """The crash of each process that ended without a word."""
    ends = {lines[0].process: lines[-1] for lines in cluster.processes if lines}
    begins = {each.line.process: each.place for each in reversed(placed)}
    lasts = {each.line.process: each.place for each in placed}
    found = []
    for process, line in ends.items():
        if line.step and not line.asks and line.part == ELECTION and line.name in LAST_STEPS:
            continue
        broker, incarnation = process.split(".")
        following = begins.get(f"{broker}.{int(incarnation) + 1}", Place(END, AT))
        closed = Place(sessions.closed.get(_last_session(cluster, process), END), AT)
        end = min(following, closed) if closed > lasts[process] else following
        found.append(Occurrence(Place(end.zxid, BEFORE), crash=int(broker)))
    return found


def _last_session(cluster, process):
    (lines,) = (lines for lines in cluster.processes if lines and lines[0].process == process)
    return next((line.session for line in reversed(lines) if line.session), 0)
