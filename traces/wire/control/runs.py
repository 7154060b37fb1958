"""Runs what the log says has written a partition's state, by all that its controller may have gone by, and tells what the
runs send.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.partition.context import NO_EPOCH
from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.explain.partitions.events import Partition, Seen, events_of
from kafkaproof.traces.explain.partitions.explanations import special_variants
from kafkaproof.traces.explain.partitions.scene import PARTITION, Written
from kafkaproof.traces.explain.partitions.sent import Sent
from kafkaproof.traces.explain.partitions.strategies import Strategy
from kafkaproof.traces.explain.partitions.ways import (
    BY_REQUEST,
    BY_ZNODE,
    CREATION,
    DELETION,
    DIRECTORY,
    ENABLED,
    EXPANSION,
    FAILOVER,
    FAILURE,
    FORCED,
    NOTIFIED,
    REASSIGNMENT,
    SHUTDOWN,
    START_UP,
)
from kafkaproof.traces.wire.control.asked import Asked
from kafkaproof.traces.wire.control.steps import control_steps_of
from kafkaproof.traces.wire.history import History, Reign, Version
from kafkaproof.traces.zookeeper.znodes.assignments import Assignment, target_of

EVENTS = {
    FAILOVER: "begins",
    FAILURE: "misses",
    START_UP: "joins",
    SHUTDOWN: "releases",
    DIRECTORY: "loses",
    NOTIFIED: "notices",
    ENABLED: "permits",
    BY_ZNODE: "prefers",
    BY_REQUEST: "asks",
    FORCED: "asks",
    CREATION: "makes",
    EXPANSION: "adds",
    DELETION: "deletes",
}


class Runs:
    """The runs of transitions about one partition in a controller's term."""

    def __init__(self, history: History, features: Features, asked: Asked, reign: Reign, partition: tuple[str, int]):
        self._history, self._features, self._asked = history, features, asked
        self.reign, self.partition = reign, partition
        self._usual, self._special = features.explaining, special_variants(features)

    def writing(
        self, trigger: str, version: Version, strategies: set[Strategy], oldest: int
    ) -> Iterator[tuple[Sent, ...]]:
        """What each run sends that writes exactly this, by no older view of /brokers/ids than that of a zxid."""
        steps, before = control_steps_of(self._features), version.before
        for live in self.views(version.zxid, oldest):
            for assignment in self.assignments(version.zxid):
                replicas = assignment.replicas
                if before and not strategies.isdisjoint({Strategy.ISR_EXPAND, Strategy.ISR_SHRINK}):
                    yield steps.proposal(before, frozenset(version.state.isr), replicas, live)
                elif before and Strategy.EPOCH_BUMP in strategies:
                    for order in {replicas, target_of(assignment)}:
                        yield steps.raising(before, order, live)
                elif trigger != REASSIGNMENT:
                    yield from self._event_runs(trigger, version, replicas, live)
                elif before:
                    yield from self._reassigning(version, assignment, live, strategies)

    def _reassigning(
        self, version: Version, assignment: Assignment, live: frozenset[int], strategies: set[Strategy]
    ) -> Iterator[tuple[Sent, ...]]:
        """What a reassignment sends that elects, or takes a replica out of the ISR: as a shutdown does, or the like."""
        before, target, leader = version.before, target_of(assignment), version.state.leader
        assert before
        events = events_of(self._features.handling, telling=True)
        if Strategy.REASSIGN in strategies and leader in target:
            led = Partition((leader, *(r for r in target if r != leader)), *before)
            yield _of_write(events.prefers(led, Seen(live)), version) or ()
        gone = before.isr - frozenset(version.state.isr)
        partition = Partition((*target, *(r for r in assignment.replicas if r not in target)), *before)
        for broker in gone:
            yield _of_write(events.releases(partition, Seen(live | gone), broker), version) or ()

    def _event_runs(
        self, trigger: str, version: Version, replicas: tuple[int, ...], live: frozenset[int]
    ) -> Iterator[tuple[Sent, ...]]:
        """What the runs of an event send that write a version."""
        before = version.before
        partition = Partition(replicas, *(before or ()))
        for seen in self.seen(live, version.time, frozenset(version.state.isr)):
            for run in self._runs(trigger, partition, seen, replicas):
                if (sent := _of_write(run, version)) is not None:
                    yield sent

    def _runs(self, trigger: str, partition: Partition, seen: Seen, replicas: Iterable[int]) -> Iterator[tuple]:
        """The runs of an event, whomever it concerns."""
        others = sorted({*replicas, *(partition.isr or ()), *seen.live})
        given: list[tuple] = {
            FAILOVER: [(NOBODY,), (NOBODY, True), *((broker,) for broker in others)],
            FORCED: [(True,)],
            BY_REQUEST: [(False,)],
        }.get(trigger, [(broker,) for broker in others])
        if trigger in (BY_ZNODE, ENABLED, CREATION, EXPANSION):
            given = [()]
        event = EVENTS[trigger]
        variants, system = self._special.get(event, (self._usual, PARTITION))
        for variant in variants:
            for more in given:
                yield getattr(events_of(variant, system, telling=True), event)(partition, seen, *more)

    def seen(self, live: frozenset[int], time: int, isr: frozenset[int]) -> Iterator[Seen]:
        """What a controller may go by: who has asked to be shut down until then, and may have lost a log directory."""
        leaving = self._asked.leaving(self.reign, time) & live
        for offline in {leaving, frozenset[int]()}:
            for unclean in (False, True):
                for leaderless in (False, True):
                    yield Seen(live, offline, unclean, leaderless=leaderless)

    def views(self, zxid: int, oldest: int) -> list[frozenset[int]]:
        """Whom the controller may have taken for live when it wrote, the newest view last; `oldest`: the first of them."""
        views = [
            each.brokers
            for each, later in zip(self._history.views, [*self._history.views[1:], None])
            if oldest <= each.zxid < zxid and (later is None or later.zxid > self.reign.zxid)
        ]
        return list(dict.fromkeys(views))

    def assignments(self, until: float) -> list[Assignment]:
        return self._history.assignments(self.partition, self.reign.zxid, until)


def _of_write(run: tuple, version: Version) -> tuple[Sent, ...] | None:
    """What a run sends up to the write of a version, and from there to the next write; None where it does not write it."""
    place = next(
        (
            place
            for place, each in enumerate(run)
            if isinstance(each, Written) and (each.before, each.after) == (version.before, version.elected)
        ),
        None,
    )
    if place is None:
        return None
    begin = next((n for n in range(place - 1, -1, -1) if isinstance(run[n], Written)), -1) + 1
    end = next((n for n in range(place + 1, len(run)) if isinstance(run[n], Written)), len(run))
    earlier = sum(isinstance(each, Written) for each in run[:place])
    return tuple(
        each._replace(raised=str(int(each.raised) - earlier)) if int(each.raised) != NO_EPOCH else each
        for each in (*run[begin:place], *run[place + 1 : end])
        if isinstance(each, Sent)
    )
