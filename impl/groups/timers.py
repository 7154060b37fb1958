"""When the timers of a group fire: sessions, rebalances, the initial delay. What they do is for the steps to say."""

from __future__ import annotations

import time
from collections.abc import Callable

from kafkaproof.impl.groups.group import Group
from kafkaproof.spec.group import join, membership
from kafkaproof.spec.group.coordinator import JOIN_PARKED, MEMBER, PENDING
from kafkaproof.spec.group.group_states import COMPLETING_REBALANCE, PREPARING_REBALANCE
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.running.coordinators import UNKNOWN

INITIAL_DELAY, NEW_MEMBER, REBALANCE = 0.5, 300.0, 60.0
"""group.initial.rebalance.delay.ms, and how long a new member may wait to be let in, in seconds."""


class Timers:
    """The deadlines of all groups; `take` takes a step of a group if it is enabled."""

    def __init__(self, take: Callable[..., bool]):
        self._take = take
        self._sessions: dict[tuple[str, int], float] = {}
        self._phases: dict[str, tuple[tuple, float]] = {}

    def begin(self, group: Group) -> None:
        """The sessions of all members begin anew."""
        for n in group.present():
            self.touch(group, n)

    def touch(self, group: Group, n: int) -> None:
        """The session of a member begins anew; a new one that waits to be let in may wait longer."""
        if n in group.members:
            record = group.broker.group.members[n]
            session = NEW_MEMBER if record.fresh and record.parked == JOIN_PARKED else group.members[n].session / 1000
            self._sessions[group.name, n] = time.monotonic() + session

    def tick(self, group: Group) -> None:
        """Take the steps that are due."""
        now, record = time.monotonic(), group.broker.group
        for n in range(UNKNOWN):
            if record.members[n].status in (MEMBER, PENDING) and now > self._sessions.get((group.name, n), now):
                self._end_session(group, n)
        if record.state == PREPARING_REBALANCE:
            if self._complete(group, join.complete_join) or (
                self._is_over(group, now) and self._complete(group, join.join_timeout)
            ):
                self.begin(group)
        elif record.state == COMPLETING_REBALANCE:
            if self._is_over(group, now):
                self._choose(group, membership.sync_timeout)
        else:
            self._phases.pop(group.name, None)

    def _end_session(self, group, n):
        if group.broker.group.members[n].status == PENDING:
            self._take(group, membership.expire_pending, id=n)
        else:
            self._choose(group, membership.expire, id=n)

    def _choose(self, group: Group, step: Callable, **arguments: int) -> bool:
        """Take a step with the first member, or nobody, that may lead the group after it."""
        heirs = [group.broker.group.leader, NOBODY, *group.present()]
        return any(self._take(group, step, heir=heir, **arguments) for heir in heirs)

    def _complete(self, group: Group, step: Callable) -> bool:
        """Take a step that ends a rebalance, with the first leader and protocol that may be chosen."""
        record = group.broker.group
        parked = [n for n in group.present() if record.members[n].parked == JOIN_PARKED]
        return any(
            self._take(group, step, leader=leader, protocol=protocol, topic=0)
            for leader in dict.fromkeys([record.leader, *parked, NOBODY])
            for protocol in range(max(1, len(group.protocols)))
        )

    def _is_over(self, group, now) -> bool:
        """Whether the present phase of a rebalance has lasted too long."""
        record = group.broker.group
        phase = record.state, record.generation, record.delayed
        if self._phases.get(group.name, (None,))[0] != phase:
            longest = max((group.members[n].rebalance / 1000 for n in group.present()), default=REBALANCE)
            self._phases[group.name] = phase, now + (INITIAL_DELAY if record.delayed else longest)
        return now > self._phases[group.name][1]
