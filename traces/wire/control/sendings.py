"""What a controller sends about a partition in its term: the transitions are run at each occasion that the log and the wire
show, and what they put into the network is what may pass, and what has to.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import takewhile
from math import inf
from typing import NamedTuple

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.partition.context import NO_EPOCH
from kafkaproof.traces.explain.partitions.events import Partition, Seen, events_of
from kafkaproof.traces.explain.partitions.sent import HALT, STOP_REPLICA, Sent
from kafkaproof.traces.explain.partitions.strategies import Elected
from kafkaproof.traces.explain.partitions.ways import (
    DELETION,
    DIRECTORY,
    FAILOVER,
    FAILURE,
    NOTIFIED,
    REASSIGNMENT,
    SHUTDOWN,
    START_UP,
)
from kafkaproof.traces.wire.control.asked import ALTER_PARTITION
from kafkaproof.traces.wire.control.knowing import Knowing, with_remembered
from kafkaproof.traces.wire.control.runs import EVENTS
from kafkaproof.traces.wire.control.steps import control_steps_of
from kafkaproof.traces.wire.history import Version, Written
from kafkaproof.traces.zookeeper.znodes.assignments import Assignment, assignment_in

NOTICE = "notification of an ISR"
_SOON = 5_000
"""So many ms an event may wait before it is handled."""


class Sending(NamedTuple):
    """Something that a step sends about a partition: at which occasion (zxid and time in ms of what brought it about), to
    whom it may go, and to whom it must (where the step has written what is told); `leader_epoch` None: as where there is none.
    """

    trigger: str
    zxid: int
    time: int
    kind: str
    elected: Elected
    leader_epoch: int | None
    may: frozenset[int]
    must: frozenset[int]
    cause: str = ""


class Sendings(Knowing):
    """What the controller of a term sends about one partition. `all`: everything, in no order."""

    @cached_property
    def all(self) -> list[Sending]:
        """What is sent at all occasions."""
        return list(self._all())

    def _all(self) -> Iterator[Sending]:
        for place, version in enumerate(self.versions):
            if self.is_own(version):
                yield from self._by_writing(place)
            until = self.until(place)
            if until > self.reign.zxid:
                yield from self._by_knowing(version, until)
        if self._history.markers[self.partition[0]]:
            yield from self._by_deleting()

    # What writes

    def _by_writing(self, place: int) -> Iterator[Sending]:
        """What is sent when a version is written, and before that: of the former version, which may have been told long ago."""
        version, remembers = self.versions[place], self.is_not_remembered(self.versions[place])
        base = version.state.leader_epoch - (version.before is not None and not version.stays)
        found = []
        for trigger in dict.fromkeys(each.trigger for each in self.explained(version)):
            runs = self.runs_of(version, trigger)
            if remembers:
                runs = [with_remembered(run, each, base) for each in self.remembered(place) for run in runs]
            found.append(list(self._joined(trigger, version.zxid, version.time, base, runs)))
        for own in found:
            for each in own:
                musts = [frozenset[int]().union(*(o.must for o in other if _same(o, each))) for other in found]
                is_former = not remembers and each.leader_epoch != version.state.leader_epoch
                yield each._replace(must=frozenset() if is_former else each.must.intersection(*musts))

    def _joined(self, trigger: str, zxid: int, time: int, base: int, runs: list[tuple[Sent, ...]]) -> Iterator[Sending]:
        """What one of some runs sends, by what it is; how often: as the run does that sends it most often."""
        kinds = dict.fromkeys(_what(sent, base) for run in runs for sent in run)
        for what in kinds:
            of = [[sent.to for sent in run if _what(sent, base) == what] for run in runs]
            most = max(of, key=len)
            must = frozenset.intersection(*(frozenset().union(*each) for each in of)) if all(of) else frozenset()
            for number, _ in enumerate(most):
                may = frozenset[int]().union(*(each[number] for each in of if number < len(each)))
                yield Sending(trigger, zxid, time, *what, may, must if number == 0 else frozenset())

    # What writes nothing

    def _by_knowing(self, version: Version, until: float) -> Iterator[Sending]:
        """What is sent of a version that the controller knows, or is to know soon, when something else happens."""
        early = max(self._history.zxid_at(version.time - _SOON), self.reign.zxid)
        state, base = version.elected, version.state.leader_epoch
        for assignment in self.assignments(until):
            partition = Partition(assignment.replicas, *state)
            for trigger, zxid, time, live, more in self._occasions(early, until, self.is_own(version)):
                runs = []
                for seen in self.seen(live, time, state.isr):
                    for variant in self._usual:
                        run = getattr(events_of(variant, telling=True), EVENTS[trigger])(partition, seen, *more)
                        runs.append(_before_writing(run))
                for each in self._joined(trigger, zxid, time, base, runs):
                    yield each._replace(must=frozenset())
            for trigger, zxid, time, cause, sent in self._told_of(version, assignment, early, until):
                for each in self._joined(trigger, zxid, time, base, sent):
                    yield each._replace(must=frozenset(), cause=cause)

    def _occasions(self, since: int, until: float, own: bool) -> Iterator[tuple[str, int, int, frozenset[int], tuple]]:
        """What makes a controller tell of partitions without writing: the beginning of its term, brokers that come, go, notify
        of a failed log directory, have lost that of the partition, or ask to be shut down. Each with its zxid and time, who is
        live then, and whom it concerns.
        """
        reign, history = self.reign, self._history
        for live in self._views_at(reign.zxid, reign.time):
            if not own:
                yield FAILOVER, reign.zxid, reign.time, live, (NOBODY,)
        for life in history.lives:
            if since < life.zxid < min(until, self.end):
                for live in self._views_at(life.zxid, life.time):
                    yield START_UP, life.zxid, life.time, live | {life.broker}, (life.broker,)
            if since < life.ended < min(until, self.end):
                for live in self._views_at(int(life.ended), int(life.ended_time)):
                    yield FAILURE, int(life.ended), int(life.ended_time), live - {life.broker}, (life.broker,)
        for failure in history.failed_directories:
            if since < failure.zxid < min(until, self.end):
                for live in self._views_at(failure.zxid, failure.time):
                    yield NOTIFIED, failure.zxid, failure.time, live, (failure.broker,)
        for told in self._asked.failures(reign, self.partition):
            zxid, time = history.zxid_at(told.answered or told.time), told.answered or told.time
            if since <= zxid < until:
                for live in self._views_at(zxid, time):
                    yield DIRECTORY, zxid, time, live, (told.broker,)
        for asked in self._asked.shutdowns(reign):
            zxid = history.zxid_at(asked.time)
            if since <= zxid < until:
                for live in self._views_at(zxid, asked.time):
                    yield SHUTDOWN, zxid, asked.time, live, (asked.asked["broker_id"],)

    def _told_of(
        self, version: Version, assignment: Assignment, since: int, until: float
    ) -> Iterator[tuple[str, int, int, str, list[tuple[Sent, ...]]]]:
        """What is told of a version alone: proposals of its leader, notifications of its ISR, the ends of reassignments. Each
        with the message that is its cause, if one is.
        """
        steps, reign, history = control_steps_of(self._features), self.reign, self._history
        state = version.elected
        for asked in self._asked.proposals(reign, self.partition):
            zxid = history.zxid_at(asked.time)
            if since <= zxid and (zxid < until or until == inf):
                views = self._views_at(zxid, asked.time)
                sent = [steps.telling(state, assignment.replicas, live) for live in views]
                yield ALTER_PARTITION, zxid, asked.time, str(asked.place), sent
        for notice in history.notices:
            if notice.session == reign.session and since <= notice.zxid:
                views = self._views_at(notice.zxid, notice.time)
                sent = [steps.notice(state, assignment.replicas, live) for live in views]
                yield NOTICE, notice.zxid, notice.time, "", sent
        for write in history.topics[self.partition[0]]:
            if write.session == reign.session and since <= write.zxid and write.data is not None:
                views = self._views_at(write.zxid, write.time)
                is_known = write.zxid < until
                sent = [self._reassigned(version, assignment, write, live, is_known) for live in views]
                yield REASSIGNMENT, write.zxid, write.time, "", sent

    def _reassigned(
        self, version: Version, assignment: Assignment, write: Written, live: frozenset[int], is_known: bool
    ) -> tuple[Sent, ...]:
        """What is sent before and after a controller writes a topic znode: replicas that go are stopped, all are told.

        Their logs are removed by the state that is known when it is written (`is_known`), when all have left the ISR.
        """
        steps, written = control_steps_of(self._features), assignment_in(write.data, self.partition[1])
        state = version.elected
        left = (set(assignment.replicas) - set(written.replicas) if written else set()) | set(assignment.removing)
        stopped = steps.removal(state, assignment.replicas, frozenset(left), live) if left and is_known else ()
        ending = steps.telling(state, assignment.replicas, live)
        return (*ending, *stopped, *self._halted(state, assignment, left - self._taken_out(version), live))

    def _taken_out(self, version: Version) -> set[int]:
        """Whom reassignments of this term had taken out of the ISR when a version was written: they were halted before."""
        found: set[int] = set()
        for each in (v for v in self.versions if v.zxid <= version.zxid and v.before and self.is_own(v)):
            found -= each.elected.isr
            explained = self._history.explained.get((each.zxid, self.partition), ())
            if each.before and any(one.trigger == REASSIGNMENT for one in explained):
                found |= each.before.isr - each.elected.isr
        return found

    def _halted(self, state: Elected, assignment: Assignment, left: set[int], live: frozenset[int]) -> tuple[Sent, ...]:
        """What the replicas that a reassignment removes are told as they go offline, those outside the ISR, too."""
        events, found = events_of(self._features.handling, telling=True), []
        for broker in sorted(left):
            run = events.releases(Partition(assignment.replicas, *state), Seen(live), broker)
            found += [each for each in run if isinstance(each, Sent) and each.kind == HALT]
        return tuple(found)

    def _by_deleting(self) -> Iterator[Sending]:
        """What is sent when a topic is deleted, by whatever state it had; again whenever the deletion goes on."""
        reign, events = self.reign, events_of(self._features.reassigning, telling=True)
        states = [*dict.fromkeys(each.elected for each in self.versions)]
        live = frozenset[int]().union(*self._history.views_of(reign))
        for assignment in self.assignments(self.end):
            for state in states:
                partition = Partition(assignment.replicas, *state)
                runs = [events.deletes(partition, Seen(live), broker) for broker in assignment.replicas]
                sent = [tuple(each for each in run if isinstance(each, Sent)) for run in runs]
                for each in self._joined(DELETION, reign.zxid, reign.time, 0, sent):
                    if each.leader_epoch is None or each.kind in (HALT, STOP_REPLICA):
                        yield each._replace(must=frozenset())

    # What may have been read

    def _views_at(self, zxid: int, time: int) -> list[frozenset[int]]:
        """Who was registered after a record, and soon after that."""
        views = self._history.views
        found = [self._history.live_at(zxid)]
        found += [each.brokers for each in views if each.zxid > zxid and each.time <= time + _SOON]
        return list(dict.fromkeys(found))


def _same(one: Sending, other: Sending) -> bool:
    """Whether two say the same."""
    return (one.kind, one.elected, one.leader_epoch) == (other.kind, other.elected, other.leader_epoch)


def _what(sent: Sent, base: int) -> tuple[str, Elected, int | None]:
    """What is sent: its kind, leader and ISR, and leader epoch."""
    raised = int(sent.raised)
    return sent.kind, Elected(sent.leader, sent.isr), None if raised == NO_EPOCH else base + raised


def _before_writing(run: tuple) -> tuple[Sent, ...]:
    """What a run sends before it writes anything."""
    return tuple(takewhile(lambda each: isinstance(each, Sent), run))
