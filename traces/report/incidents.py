"""What somebody on call asks first: may records be lost, who was in charge, what could not be written, what hangs.

An incident is found in what replay has found already; nothing is judged here. Times are in ms since 1970 (UTC).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np

from kafkaproof.checker.basics.words import counted
from kafkaproof.traces.basics.times import day_and_time, lasting
from kafkaproof.traces.explain.facts.remarks import DELETED, OBEYED, STANDS, TRUNCATED, WAYS_OUT, Remark
from kafkaproof.traces.explain.topics.history import STARTED, WAITING
from kafkaproof.traces.metrics.series import Moment, Series
from kafkaproof.traces.report.facts import LONG
from kafkaproof.traces.report.followed import Followed
from kafkaproof.traces.zookeeper.transactions import Transaction

CRITICAL, SERIOUS, WARNING = "critical", "serious", "warning"
LOST, LOST_METADATA, UNCLEAN, SPLIT, NO_CONTROLLER, OFFLINE, STUCK, MIGRATION, FLAPPING, UNDER_REPLICATED = KINDS = (
    "lost-records",
    "lost-metadata",
    "unclean",
    "split-brain",
    "no-controller",
    "offline",
    "stuck",
    "migration",
    "flapping",
    "under-replicated",
)
SEVERITIES = dict.fromkeys(KINDS, SERIOUS) | {LOST: CRITICAL, UNCLEAN: CRITICAL, SPLIT: CRITICAL}
SEVERITIES |= {LOST_METADATA: CRITICAL, FLAPPING: WARNING, UNDER_REPLICATED: WARNING}
OFTEN, WITHIN = 3, 600_000
"""A broker, or the controller, that changes so often within so many ms is flapping."""
WAY_OUT = {
    UNCLEAN: "records that only members of the former ISR have are lost as soon as these follow: copy them before these "
    "brokers start, or send them again; unclean.leader.election.enable=false prevents it",
    SPLIT: "compare leaders and ISRs with what the brokers say, and restart the deposed broker; from 2.1 on its writes "
    "are refused",
    NO_CONTROLLER: "if brokers are registered and /controller is not there, controller.log of each says why",
}
C4, DEPOSED = "C4", "a deposed controller has written (C4)"
SHOWN = 5
"""So many incidents of a kind, and so many names of one, are told at first."""


@dataclass(frozen=True)
class Incident:
    """One thing that went wrong.

    `began`: its first record; `ms`: for how long, None where that is no question; `lasts`: it goes on at the end of the log;
    `what`: partitions, topics or brokers; `way_out`: what to do, where that is known; `place`: where it
    is told, if not by the first record.
    """

    kind: str
    began: Moment
    text: str
    what: tuple[str, ...] = ()
    ms: int | None = None
    lasts: bool = False
    way_out: str | None = None
    place: str = ""

    @property
    def severity(self) -> str:
        """How bad it is."""
        return SEVERITIES[self.kind]

    @property
    def line(self) -> str:
        """The incident in one line."""
        named = ", ".join(self.what[:SHOWN]) + (f" and {len(self.what) - SHOWN} more" if len(self.what) > SHOWN else "")
        length = "" if self.ms is None else f", {lasting(self.ms)}" + (" and not over" if self.lasts else "")
        record = self.place or (hex(self.began.zxid) if self.began.zxid else "the beginning")
        return f"{self.text}{': ' if named else ''}{named} ({day_and_time(self.began.time)}{length}, {record})"

    def as_json(self) -> dict:
        """An object of `incidents` of `replay --json`."""
        return {
            "kind": self.kind,
            "severity": self.severity,
            "zxid": hex(self.began.zxid) if self.began.zxid else None,
            "time": self.began.time,
            "ms": self.ms,
            "lasts": self.lasts,
            "what": list(self.what),
            "text": self.text,
            "way_out": self.way_out,
        }


class OfKind(NamedTuple):
    """The incidents of a kind, and the ways out that they name, each once; several say of which incident."""

    kind: str
    incidents: list[Incident]
    ways_out: list[str]


def by_kind(incidents: Iterable[Incident]) -> Iterator[OfKind]:
    """Incidents in their order as the terminal and the page tell them."""
    for kind, of_kind in groupby(incidents, key=lambda each: each.kind):
        found = list(of_kind)
        ways = {each.way_out: each.text for each in reversed(found) if each.way_out}
        told = [way if len(ways) == 1 else f"{text}: {way}" for way, text in reversed(ways.items())]
        yield OfKind(kind, found, told)


def incidents_of(followed: Followed, remarks: Iterable[Remark], transactions: Iterable[Transaction]) -> list[Incident]:
    """The incidents of a log, the worst kinds first, each kind in the order of time."""
    found = _found(followed, remarks, transactions)
    return sorted(found, key=lambda each: (KINDS.index(each.kind), each.began.time))


def _found(followed, remarks, transactions) -> Iterator[Incident]:
    yield from _remarked(remarks)
    yield from _unclean(followed)
    for each in followed.result.violations.found.values():
        time = next(t.time for t in transactions if t.zxid == each.zxid)
        changed = f", {each.leader_changes:,} of which changed a leader" if each.leader_changes else ""
        what = DEPOSED if each.property == C4 else f"{each.property} is violated"
        text = f"{what}: {counted(each.count, 'record')}{changed}"
        yield Incident(SPLIT, Moment(each.zxid, time), text, way_out=WAY_OUT[SPLIT])
    series = followed.metrics
    yield from _spells(
        series, NO_CONTROLLER, "no controller", _without_controller, ("controller_epoch", "active_controllers")
    )
    yield from _spells(
        series, OFFLINE, "partition{} without a leader", _above("offline_partitions"), ("offline_partitions",)
    )
    yield from _stuck(followed)
    yield from _flapping(followed)
    small = _spells(series, UNDER_REPLICATED, "ISR{} too small", _above("under_replicated"), ("under_replicated",))
    yield from (each for each in small if (each.ms or 0) >= STANDS)


def _remarked(remarks: Iterable[Remark]) -> Iterator[Incident]:
    """What the remarks tell: one incident for each kind of remark."""
    kinds = defaultdict(list)
    for remark in remarks:
        kinds[remark.what].append(remark)
    for what, of_kind in kinds.items():
        first = of_kind[0]
        names = tuple(dict.fromkeys(each.name for each in of_kind if each.partition))
        kind = LOST if what in (OBEYED, TRUNCATED, DELETED) else STUCK
        moment = Moment(first.zxid or 0, first.time)
        yield Incident(kind, moment, what, names, way_out=WAYS_OUT[what], place=first.place)


def _unclean(followed: Followed) -> Iterator[Incident]:
    changes = followed.facts.unclean
    if changes:
        names = tuple(dict.fromkeys(f"{each.topic}-{each.number}" for each in changes))
        text = f"{len(changes):,} unclean elections" if len(changes) > 1 else "an unclean election"
        yield Incident(UNCLEAN, Moment(changes[0].zxid, changes[0].time), text, names, way_out=WAY_OUT[UNCLEAN])


def _stuck(followed: Followed) -> Iterator[Incident]:
    ended = followed.metrics.ended
    for each in followed.streams.deletions:
        if each.ended is None and ended - each.time >= STANDS:
            moment = Moment(each.zxid, each.time)
            yield Incident(STUCK, moment, "a deletion that has not ended", (each.topic,), ended - each.time, True)
    for move in followed.streams.reassignments:
        if move.outcome in (STARTED, WAITING) and (since := move.time) is not None and ended - since >= STANDS:
            name = "{}-{}".format(*move.partition)
            text = f"a reassignment that is {move.outcome}"
            yield Incident(STUCK, Moment(move.zxid or 0, since), text, (name,), ended - since, True)


def _flapping(followed: Followed) -> Iterator[Incident]:
    lives = defaultdict(list)
    for each in followed.facts.registrations:
        lives[each.broker].append(Moment(each.zxid, each.time))
    for broker, moments in sorted(lives.items()):
        yield from _often(moments[1:], f"broker {broker} has come back")
    times = followed.metrics
    elected = times.courses["controller_elections"]
    yield from _often([times.moments[number] for number in elected.samples], "another controller was elected")


def _often(moments: list[Moment], what: str) -> Iterator[Incident]:
    """An incident from the first of several moments that are close together."""
    close = [i for i in range(len(moments) - OFTEN + 1) if moments[i + OFTEN - 1].time - moments[i].time <= WITHIN]
    if close:
        first, last = moments[close[0]], moments[close[-1] + OFTEN - 1]
        count = close[-1] + OFTEN - close[0]
        yield Incident(FLAPPING, first, f"{what} {count} times", ms=last.time - first.time)


Values = dict[str, np.ndarray]


def _without_controller(values: Values) -> np.ndarray:
    return (values["controller_epoch"] > 0) & (values["active_controllers"] == 0)


def _above(name: str) -> Callable[[Values], np.ndarray]:
    return lambda values: values[name] > 0


def _spells(
    series: Series, kind: str, text: str, is_bad: Callable[[Values], np.ndarray], names: Iterable[str]
) -> Iterator[Incident]:
    """The times in which something is bad while some broker is registered, but for short ones.

    In `text`, ``{}`` is where a plural has its s.
    """
    courses = {name: series.courses[name] for name in ("brokers", *names)}
    numbers = np.unique(np.concatenate([np.array(course.samples, np.int64) for course in courses.values()]))
    values = {name: np.concatenate([[c.initial], c.at(numbers)]) for name, c in courses.items()}
    bad = np.concatenate([[False], is_bad(values) & (values["brokers"] > 0), [False]])
    turns = np.flatnonzero(np.diff(bad)).tolist()
    most = values[[*names][-1]]
    for begin, end in zip(turns[::2], turns[1::2]):
        moment = series.moments[int(numbers[begin - 1])] if begin else Moment(0, series.began)
        lasts = end > len(numbers)
        ms = (series.ended if lasts else series.moments[int(numbers[end - 1])].time) - moment.time
        if ms >= LONG:
            number = most[begin:end].max()
            count = "" if kind == NO_CONTROLLER else f"{number:,} "
            told = count + text.format("" if number == 1 else "s")
            yield Incident(kind, moment, told, (), ms, lasts, WAY_OUT.get(kind))
