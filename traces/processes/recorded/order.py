"""One order of all that the processes did and of what was done to them, which respects causes and zxids.

A step that wrote stands at the transaction that it made; one that read, behind the transaction that it saw last; any
other behind the last that its process knew of. A step that took a message stands behind the one that sent it. What
ZooKeeper logged, and no recorded step made, is a fault: the end of a session, an operator's request. A process that ended
without a word crashed; when, nothing tells, so its crash stands as late as it can: right before its session
ends, or before the next process of the broker begins.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from kafkaproof.spec.cluster import data_plane
from kafkaproof.spec.cluster.deletion import stop_replica
from kafkaproof.spec.election.faults import stop
from kafkaproof.spec.election.session import die, notice_expiry, register_broker, reopen, start
from kafkaproof.spec.errors import UserError
from kafkaproof.spec.kafka.zookeeper import NOTHING
from kafkaproof.spec.language.steps import by_name, names
from kafkaproof.spec.partition.history.leader_zk import change_isr
from kafkaproof.spec.partition.log_dirs import notify
from kafkaproof.spec.running.processes import ELECTION
from kafkaproof.traces.processes.recorded.controller_watches import ControllerWatches
from kafkaproof.traces.processes.recorded.lines import Line
from kafkaproof.traces.processes.recorded.notices import STATE
from kafkaproof.traces.processes.recorded.reading import Cluster
from kafkaproof.traces.processes.recorded.topic_numbers import TopicNumbers
from kafkaproof.traces.zookeeper.transactions import ERROR_NAMES, CloseSession, CreateSession, Transaction

BEFORE, AT, BEHIND = -1, 0, 1
END = 1 << 62
FIRST_STEPS = names(start, reopen)
"""Steps that open a session."""
LAST_STEPS = names(stop, die)
APPENDS = names(data_plane.produce, data_plane.receive_answer, stop_replica)
"""Steps that write to a log, not to ZooKeeper."""
REFUSED = by_name({register_broker: "nodeexists"})
"""With which error ZooKeeper refuses the second request of a step that asks again, if the first has landed."""
LANDED = by_name(
    {
        notify: re.compile("/log_dir_event_notification/.*"),
        change_isr: re.compile("/brokers/topics/[^/]+/partitions/[0-9]+/state"),
    }
)
"""What the first request of a step that asks again has written if it landed, where *partition* does not show it."""
FOLDER = re.compile(
    r"/brokers/topics/[^/]+/partitions(/\d+)?|/config/brokers/<default>|/consumers/.+|/latest_producer_id_block|/feature"
)
"""What a process writes and the specification of brokers leaves out: parents of states; which numbers topics have had;
offsets that clients keep in ZooKeeper; blocks of producer ids; features.
"""

_BROKER = re.compile(r"/brokers/ids/(\d+)")
CHANGES = "/config/changes/"
"""Where a process notes, on behalf of an operator, that it has altered the configuration of the first topic."""


class Place(NamedTuple):
    """Where something stands: before, at, or behind a transaction."""

    zxid: int
    rank: int


BEGINNING = Place(0, BEFORE)


@dataclass(frozen=True)
class Occurrence:
    """A line of a process, or a transaction that no recorded step made, or the crash of a process (`crash`: its broker).

    `closes`: the broker whose session the transaction closes; `landed`: the step whose request made it, which got no
    answer and asked again; `stray`: the broker whose session made it, though none of its steps did; `foreign`: the real broker
    whose session made it. `waits`: what the watch on /controller has said besides, and the process of the line has not heard
    yet.
    """

    place: Place
    line: Line | None = None
    transaction: Transaction | None = None
    closes: int | None = None
    landed: Line | None = None
    stray: int | None = None
    foreign: int | None = None
    crash: int | None = None
    process: str = ""
    waits: int = NOTHING

    @property
    def key(self) -> tuple:
        """What sorts it; among steps behind the same transaction the clock decides."""
        if self.line:
            return (*self.place, self.line.clock, self.line.process, self.line.n)
        return (*self.place, 0, "", 0)

    @property
    def title(self) -> str:
        """Where in the recording it is."""
        line = self.line
        if line and line.step:
            return f"broker {line.process}, step {line.n}, {line.brokers.with_ids(line.step)}"
        if line:
            return f"broker {line.process}, {line.kind} {line.sends}"
        if self.transaction:
            return f"{self.transaction.zxid:#x}, {self.transaction.form()}"
        return f"the end of a process of broker {self.process.split('.')[0]}"


class Sessions:
    """The sessions of the brokers' processes: whose they are, and when ZooKeeper opened and closed them."""

    def __init__(self, cluster: Cluster):
        self._brokers = cluster.brokers
        self.process = {line.session: line.process for lines in cluster.processes for line in lines if line.session}
        self.foreign: dict[int, int] = {}
        self.opened, self.closed = {}, {}
        for transaction in cluster.zookeeper.transactions:
            if isinstance(transaction.first, CreateSession):
                self.opened[transaction.session] = transaction.zxid
            elif isinstance(transaction.first, CloseSession):
                self.closed[transaction.session] = transaction.zxid
            elif cluster.is_mixed and transaction.session not in self.process:
                self._note_foreign(transaction)

    def _note_foreign(self, transaction: Transaction) -> None:
        """Note whose session a real broker has registered with."""
        found = [_BROKER.fullmatch(getattr(each, "path", "")) for each in transaction.operations]
        if not transaction.failed and found and found[0]:
            self.foreign[transaction.session] = self._brokers.number(int(found[0][1]))

    def broker_of(self, session: int) -> int | None:
        """The broker whose session it is, None for a tool's."""
        process = self.process.get(session)
        return None if process is None else self._brokers.number(int(process.split(".")[0]))


def in_order(cluster: Cluster) -> list[Occurrence]:
    """All that happened, in one order; raises UserError where causes and zxids contradict each other."""
    sessions = Sessions(cluster)
    places = _Places(cluster, sessions)
    placed = places.all()
    written = {each.place.zxid for each in placed if each.place.rank == AT}
    made = places.refused | written | {zxid for each in placed if each.line for zxid in each.line.zxids}
    found = placed + _crashes(cluster, sessions, placed)
    unsettled = _unsettled(cluster)
    for transaction in cluster.zookeeper.transactions:
        closes = isinstance(transaction.first, CloseSession)
        broker = sessions.broker_of(transaction.session)
        if transaction.zxid in made or transaction.zxid > unsettled.get(transaction.session, END) and not closes:
            continue
        if broker is not None and _is_of_folder(transaction):
            continue
        landed = places.landed.get(transaction.zxid)
        stray = None if closes or landed or _is_of_operator(transaction, cluster.topic) else broker
        found.append(
            Occurrence(
                Place(transaction.zxid, AT),
                transaction=transaction,
                closes=broker if closes else None,
                landed=landed,
                stray=stray,
                foreign=sessions.foreign.get(transaction.session),
            )
        )
    return sorted(found, key=lambda each: each.key)


def _unsettled(cluster: Cluster) -> dict[int, int]:
    """For each session in which a process asked ZooKeeper for something and did not record it: from when on."""
    found: dict[int, int] = {}
    for lines in cluster.processes:
        for line in lines:
            if line.asks and line.name not in APPENDS:
                found.setdefault(line.session, line.zxid)
    return found


class _Places:
    """Finds the places of all lines, each process in its order, a receipt behind its message."""

    def __init__(self, cluster: Cluster, sessions: Sessions):
        self._cluster, self._sessions = cluster, sessions
        self._sent: dict[str, Place] = {}
        self._last: dict[int, Place] = {}
        self._watches = ControllerWatches(cluster.zookeeper.transactions)
        self._placed: list[Occurrence] = []
        self._numbers = TopicNumbers(cluster)
        self._made: dict[int, list[int]] = defaultdict(list)
        for line in (line for lines in cluster.processes for line in lines):
            self._made[line.session] += line.zxids
        self.claimed = {zxid for made in self._made.values() for zxid in made}
        self.refused: set[int] = set()
        self.landed: dict[int, Line] = {}

    def all(self) -> list[Occurrence]:
        """Every line with its place."""
        brokers: dict[int, list[Line]] = {}
        for lines in self._cluster.processes:
            brokers.setdefault(lines[0].broker, []).extend(lines) if lines else None
        waiting = {broker: iter(lines) for broker, lines in brokers.items()}
        heads = {broker: next(lines) for broker, lines in waiting.items()}
        while heads:
            ready = [b for b, line in heads.items() if line.took is None or line.came or line.took in self._sent]
            if not ready and self._cluster.running:
                break
            if not ready:
                told = ", ".join(f"{line.process} step {line.n} takes {line.took}" for line in heads.values())
                raise UserError(f"{self._cluster.directory}: messages that nobody has sent before: {told}")
            for broker in ready:
                self._place(heads[broker])
                if following := next(waiting[broker], None):
                    heads[broker] = following
                else:
                    del heads[broker]
        return self._placed

    def _place(self, line: Line) -> None:
        own = self._own(line)
        causes = [self._last.get(line.broker, own)] + ([self._sent[line.took]] if line.took and not line.came else [])
        place = own if own.rank == AT or line.at else max(own, *(_behind(cause) for cause in causes))
        self._last[line.broker] = place
        if line.arms and line.at:
            self._watches.arm(line.broker, line.at[0])
        self._claim_refused(line)
        self._claim_landed(line)
        for message in (*line.sent, *([line.sends] if line.sends else ())):
            self._sent[message] = place
        waits = self._watches.waits(line.broker, place.zxid) if line.heard else NOTHING
        self._placed.append(Occurrence(place, line, waits=waits))

    def _own(self, line: Line) -> Place:
        """Where a line stands by itself. The last step of a process closes its session, unless that was over before."""
        if line.asks and line.name in APPENDS:
            return Place(line.zxid, BEHIND)
        if line.at and line.taken.answer not in ("LOST", "EXPIRED"):
            return Place(line.at[0], AT if line.at[1] else BEHIND)
        if line.asks or line.step and line.step.answer == "LOST":
            return self._unanswered(line)
        closed = self._sessions.closed.get(line.session)
        if line.step and line.part == ELECTION:
            if line.name in FIRST_STEPS:
                self._watches.forget(line.broker)
                return Place(self._opened(line), AT)
            if line.name in LAST_STEPS and closed and Place(closed, AT) > self._last.get(line.broker, BEGINNING):
                return Place(closed, AT)
        known = Place(max(line.zxid, self._watches.fired(line.broker, line.heard) if line.heard else 0), BEHIND)
        heard = line.step and (line.name in (notice_expiry.__name__, *LAST_STEPS) or line.taken.answer == "EXPIRED")
        return max(known, Place(closed, BEHIND)) if heard and closed else known

    def _opened(self, line: Line) -> int:
        """When ZooKeeper opened the session that a step begins with; raises UserError."""
        if line.session not in self._sessions.opened:
            raise UserError(
                f"{self._cluster.directory}: ZooKeeper's log has no session {line.session:#x}, which "
                f"broker {line.process} has opened: it is not whole, or of another cluster"
            )
        return self._sessions.opened[line.session]

    def _unanswered(self, line: Line) -> Place:
        """Where a request stands whose answer nobody has got: at its transaction, if there is one that was not refused.

        ZooKeeper takes the requests of a session in their order: it is behind what the process knew of when it asked, and
        before what later steps have made. By the time that the process gives the answer up, a watch may have told it of
        that transaction.
        """
        first = max(line.asked or line.zxid, *line.zxids, 0)
        end = min((zxid for zxid in self._made[line.session] if zxid > first), default=END)
        for transaction in self._cluster.zookeeper.transactions:
            zxid, own = transaction.zxid, transaction.session == line.session
            if not own or not first < zxid < end or zxid in self.claimed or zxid in self.refused:
                continue
            if transaction.failed and not line.asks:
                self.refused.add(zxid)
                break
            if self._may_make(line, transaction):
                self.claimed.add(transaction.zxid)
                return Place(transaction.zxid, AT)
        return Place(line.zxid, BEHIND)

    def _may_make(self, line: Line, transaction: Transaction) -> bool:
        """Whether a step that is about a partition, or about none, may have made a transaction in the end."""
        if transaction.failed or not _is_last(transaction):
            return False
        found = STATE.fullmatch(getattr(transaction.operations[-1], "path", ""))
        number = self._numbers.of(found[1], int(found[2]), transaction.zxid) if found else None
        return number is None or line.taken.arguments.get("p", number) == number

    def _claim_refused(self, line: Line) -> None:
        """Take the transactions that refused a step's requests without an answer reaching it: at most one for each
        request but the last, in its session, from the first request until it was answered, and refused as it is.
        """
        if line.attempts == 1 or line.asks or line.name not in REFUSED:
            return
        heard = self._sessions.closed.get(line.session, END) if line.taken.answer == "EXPIRED" else line.zxid
        found = (t.zxid for t in self._unclaimed(line, heard) if _is_refused(t, REFUSED[line.name]))
        self.refused.update(islice(found, line.attempts - 1))

    def _claim_landed(self, line: Line) -> None:
        """Take the transactions of a step's requests whose answers it never got: one for each request but the last."""
        if line.attempts == 1 or line.name not in LANDED:
            return
        found = (
            t.zxid
            for t in self._unclaimed(line, END if line.asks else line.zxid)
            if not t.failed and LANDED[line.name].fullmatch(getattr(t.operations[-1], "path", ""))
        )
        self.landed |= dict.fromkeys(islice(found, line.attempts - 1), line)

    def _unclaimed(self, line: Line, last: int) -> Iterator[Transaction]:
        """The transactions of a line's session from its first request to the zxid `last` that no step has made."""
        return (
            t
            for t in self._cluster.zookeeper.transactions
            if t.session == line.session and line.asked < t.zxid <= last and t.zxid not in self.claimed
        )


def _is_refused(transaction, error):
    """Whether a transaction was refused because its first operation was, by an error of this name."""
    first, *others = [ERROR_NAMES.get(getattr(each, "code", None)) for each in transaction.operations]
    return first == error and set(others) <= {"runtimeinconsistency"}


def _is_last(transaction):
    """Whether a transaction is what its step asks for in the end: not a folder above a state, nor the session's end."""
    last = transaction.operations[-1]
    return not isinstance(last, CloseSession) and not FOLDER.fullmatch(getattr(last, "path", ""))


def _is_of_folder(transaction):
    """Whether a transaction writes something that the specification does not know."""
    return FOLDER.fullmatch(getattr(transaction.operations[-1], "path", "")) is not None


def _is_of_operator(transaction, topic):
    """Whether a transaction alters the configuration of the first topic: it is an operator who wants that."""
    path = getattr(transaction.operations[-1], "path", "") if transaction.operations else ""
    return path == f"/config/topics/{topic}" or path.startswith(CHANGES)


def _behind(place):
    return Place(place.zxid, max(place.rank, BEHIND))


def _crashes(cluster: Cluster, sessions: Sessions, placed: list[Occurrence]) -> list[Occurrence]:
    """The crash of each process that ended without a word; one that has recorded nothing has done nothing."""
    begins = {each.line.process: each.place for each in reversed(placed) if each.line}
    lasts = {each.line.process: each.place for each in placed if each.line}
    processes = [lines for lines in cluster.processes if lines]
    found = []
    for lines, following in zip(processes, [*processes[1:], []]):
        line, broker = lines[-1], lines[0].broker
        if line.step and not line.asks and line.part == ELECTION and line.name in LAST_STEPS:
            continue
        succeeded = following and following[0].broker == broker
        end = begins[following[0].process] if succeeded else Place(END, AT)
        session = next((each.session for each in reversed(lines) if each.session), 0)
        closed = Place(sessions.closed.get(session, END), AT)
        if closed > lasts[line.process]:
            end = min(end, closed)
        found.append(Occurrence(Place(end.zxid, BEFORE), crash=broker, process=line.process))
    return found
