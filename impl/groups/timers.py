"""When the timers of a group fire: sessions, rebalances, the initial delay, syncs. What they do is for the steps to say."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from kafkaproof.impl.groups.group import Group
from kafkaproof.spec.group import join, membership
from kafkaproof.spec.group.clock import patience_in_rebalance, patience_with
from kafkaproof.spec.group.coordinator import JOIN_PARKED, MEMBER, PENDING
from kafkaproof.spec.group.group_states import COMPLETING_REBALANCE, PREPARING_REBALANCE, STABLE
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.running.coordinators import UNKNOWN

INITIAL_DELAY, REBALANCE = 0.5, 60.0
"""group.initial.rebalance.delay.ms, and the rebalance timeout of a group without members, in seconds."""


@dataclass(frozen=True)
class Rebalance:
    """When a rebalance is over: in seconds, the deadline, the present delay, and how much longer it may be extended."""

    generation: int
    deadline: float
    delay: float
    remaining: float


def longest_rebalance(group: Group) -> float:
    """The rebalance timeout of a group, in seconds: the longest of its members'."""
    timeouts = [group.members[n].rebalance for n in group.present()]
    return patience_in_rebalance(timeouts) / 1000 if timeouts else REBALANCE


class Timers:
    """The deadlines of all groups; `take` takes a step of a group if it is enabled."""

    def __init__(self, take: Callable[..., bool]):
        self._take = take
        self._sessions: dict[tuple[str, int], float] = {}
        self._rebalances: dict[str, Rebalance] = {}
        self._syncs: dict[str, tuple[float, set[int]]] = {}
        self._joined_late: set[str] = set()

    def loaded(self, group: Group) -> None:
        """The sessions of all members begin, and nobody is waited for."""
        self._syncs.pop(group.name, None)
        self._begin(group)

    def restart(self, group: Group, n: int) -> None:
        """The session of a member begins anew; a new one that waits to be let in may wait longer."""
        if n in group.members:
            record = group.broker.group.members[n]
            session = patience_with(record, group.members[n].session)
            self._sessions[group.name, n] = time.monotonic() + session / 1000

    def joined(self, group: Group, n: int, late: bool) -> None:
        """A new member waits to be let in. If it is `late`, a rebalance goes on: the initial delay before the first
        generation is extended.
        """
        self.restart(group, n)
        if late and group.broker.group.generation == 0:
            self._joined_late.add(group.name)

    def synced(self, group: Group, n: int) -> None:
        """The sync of a member has come."""
        self._syncs.get(group.name, (0.0, set()))[1].discard(n)

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
                self._begin(group)
                self._syncs[group.name] = now + longest_rebalance(group), set(group.present())
        else:
            self._rebalances.pop(group.name, None)
        if record.state in (COMPLETING_REBALANCE, STABLE) and now > self._syncs.get(group.name, (now,))[0]:
            self._end_syncs(group)

    def _begin(self, group):
        for n in group.present():
            self.restart(group, n)

    def _end_session(self, group, n):
        if group.broker.group.members[n].status == PENDING:
            self._take(group, membership.expire_pending, id=n)
        else:
            self._choose(group, membership.expire, id=n)

    def _end_syncs(self, group):
        """Remove the members whose syncs have not come; once the group is Stable, one by one."""
        missing = self._syncs.pop(group.name)[1]
        if group.broker.group.state == COMPLETING_REBALANCE:
            self._choose(group, membership.sync_timeout)
            return
        for n in missing.intersection(group.present()):
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
        """Whether a rebalance has lasted too long; the initial delay goes on as long as members join during it."""
        record, name, longest = group.broker.group, group.name, longest_rebalance(group)
        rebalance = self._rebalances.get(name)
        if rebalance is None or rebalance.generation != record.generation:
            delay = INITIAL_DELAY if record.delayed else longest
            rebalance = Rebalance(record.generation, now + delay, delay, max(0.0, longest - delay))
            self._rebalances[name] = rebalance
        if now > rebalance.deadline and record.delayed and name in self._joined_late and rebalance.remaining > 0:
            self._joined_late.discard(name)
            delay = min(INITIAL_DELAY, rebalance.remaining)
            remaining = max(0.0, rebalance.remaining - rebalance.delay)
            self._rebalances[name] = rebalance = Rebalance(record.generation, now + delay, delay, remaining)
        return now > rebalance.deadline
