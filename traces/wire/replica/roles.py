"""What a broker takes itself for, of one partition: what LeaderAndIsr and StopReplica have told it, and when."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import inf
from typing import NamedTuple

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.traces.explain.partitions.sent import LEADER_AND_ISR, STOP_REPLICA, UPDATE_METADATA
from kafkaproof.traces.wire.control.entries import entries_of
from kafkaproof.traces.wire.exchanges import Exchange
from kafkaproof.traces.wire.history import History, Partition, Version

_LATE = 2_000
"""So many ms after a write its leader may not know of it yet."""
_EARLY = 1_000
"""By so many ms clocks may differ."""


class Role(NamedTuple):
    """Who leads, in which leader epoch and ISR, as a broker was told at `since` (ms) and surely knew at `known`; never
    surely where the leader is nobody, or none that lives: a broker may go on as before.

    `leader` is NOBODY, and the epoch -1, where it has no replica, or has not been told of one since its process began.
    """

    leader: int
    epoch: int
    isr: frozenset[int]
    since: float
    known: float


class Roles:
    """The roles of brokers, by what reached them; where nothing of that was captured, by what ZooKeeper held."""

    def __init__(self, exchanges: Sequence[Exchange], history: History):
        self._history = history
        self._of: dict[tuple[int, Partition], list[Role]] = defaultdict(list)
        control = [e for e in exchanges if e.api in (LEADER_AND_ISR, STOP_REPLICA) and not e.is_lost]
        self._told = {each.broker for each in control}
        self.begins = min((each.time for each in control), default=inf)
        for each in control:
            self._note(each)
        self._named: dict[tuple[int | None, str], list[int]] = defaultdict(list)
        for each in exchanges:
            if each.api == UPDATE_METADATA and each.answered is not None:
                for topic in {entry.topic for entry in entries_of(each)}:
                    self._named[each.broker, topic].append(each.answered)
        for life in history.lives:
            for (broker, _), roles in self._of.items():
                if broker == life.broker:
                    roles.append(Role(NOBODY, -1, frozenset(), life.time - _EARLY, inf))
        for roles in self._of.values():
            roles.sort(key=lambda each: each.since)

    def _note(self, exchange: Exchange) -> None:
        told = exchange.told
        refused = told is not None and told["error_code"].value != 0
        assert exchange.broker is not None
        known = exchange.answered if exchange.answered is not None and not refused else inf
        live = {each["broker_id"] for each in exchange.asked.get("live_leaders", ())}
        for entry in () if refused else entries_of(exchange):
            role = Role(NOBODY, -1, frozenset(), exchange.time, inf)
            if entry.elected:
                leader, isr = entry.elected
                sure = known if leader in (exchange.broker, *live) else inf
                role = Role(leader, entry.leader_epoch or 0, frozenset(isr), exchange.time, sure)
            self._of[exchange.broker, entry.partition].append(role)

    def of(self, broker: int, partition: Partition, since: float, until: float) -> list[Role]:
        """What a broker may have taken itself for at some time between two (ms), the newest last."""
        if broker not in self._told:
            return self._by_history(partition, until)
        roles = self._of.get((broker, partition), [])
        sure = max((place for place, each in enumerate(roles) if each.known <= since), default=None)
        highest = roles[sure].epoch if sure is not None else -1
        found = [
            each
            for place, each in enumerate(roles)
            if each.since <= until and (sure is None or place >= sure) and (each.epoch >= highest or each.epoch < 0)
        ]
        return found if sure is not None else [Role(NOBODY, -1, frozenset(), -inf, inf), *found]

    def _by_history(self, partition: Partition, until: float) -> list[Role]:
        versions = [each for each in self._history.states.get(partition, ()) if each.time <= until + _EARLY]
        known = [Role(v.state.leader, v.state.leader_epoch, v.elected.isr, v.time, inf) for v in versions]
        return [Role(NOBODY, -1, frozenset(), -inf, inf), *known]

    def ceases_to_lead(self, broker: int, partition: Partition) -> list[float]:
        """When a broker that had led was told to follow another (ms)."""
        roles = [each for each in self._of.get((broker, partition), ()) if each.epoch >= 0]
        return [each.since for before, each in pairwise(roles) if before.leader == broker != each.leader]

    def begins_to_lead(self, broker: int, partition: Partition) -> list[float]:
        """When a broker was told to lead a partition that it did not lead before (ms)."""
        found, leads = [], False
        for each in self._of.get((broker, partition), ()):
            if each.epoch < 0:
                continue
            if each.leader == broker and not leads and each.since >= self.begins:
                found.append(each.since)
            leads = each.leader == broker
        return found

    def configured_at(self, time: int) -> int:
        """How often settings had been written until a time (ms)."""
        return bisect_right(self._history.configured, time)

    def knows_topic(self, broker: int, topic: str, time: int) -> bool:
        """Whether a broker has surely been told of a topic, which nobody deletes: by an UpdateMetadata since it registered."""
        if self._history.markers.get(topic):
            return False
        begun = max((each.time for each in self._history.lives_of(broker) if each.time <= time), default=inf)
        return any(begun <= known <= time for known in self._named[broker, topic])

    def is_followed(self, broker: int) -> bool:
        """Whether what controllers tell a broker was captured."""
        return broker in self._told

    def isrs(self, role: Role, partition: Partition, since: float, until: float) -> set[frozenset[int]]:
        """The ISRs that a leader may have known in its leader epoch at some time between two (ms)."""
        own = [v for v in self._history.states.get(partition, ()) if v.state.leader_epoch == role.epoch]
        stood = {v.elected.isr for v, later in _with_next(own) if _stood(v, later, since - _LATE, until + _EARLY)}
        return stood or {role.isr}

    def members(self, role: Role, partition: Partition) -> frozenset[int]:
        """All that may be in the ISR of a leader, or may have been: the replicas and whoever was in it."""
        states = self._history.states.get(partition, ())
        assigned = self._history.assignments(partition, 0, inf)
        return frozenset(role.isr).union(
            *(v.elected.isr for v in states if v.state.leader_epoch == role.epoch), *(a.replicas for a in assigned)
        )


def _with_next(versions: list[Version]) -> Iterable[tuple[Version, Version | None]]:
    return zip(versions, [*versions[1:], None])


def _stood(version: Version, later: Version | None, since: float, until: float) -> bool:
    return version.time <= until and (later is None or later.time >= since)
