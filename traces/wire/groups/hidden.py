"""Steps that no message shows: elections, loads, rebalances that are complete, callbacks of appends, and timers.

A timer fires only when its time may have come, and a broker begins anew only where ZooKeeper's log has another
registration of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from kafkaproof.spec.group import deletion, faults, join, loading, membership, offsets, static, sync
from kafkaproof.spec.group.clock import patience_in_rebalance, patience_with
from kafkaproof.spec.group.coordinator import MEMBER, PENDING, all_joined
from kafkaproof.spec.group.group_states import ABSENT, COMPLETING_REBALANCE, DEAD, PREPARING_REBALANCE
from kafkaproof.spec.group.join import is_next_leader
from kafkaproof.spec.group.protocols import is_elected
from kafkaproof.spec.group.records import GROUP_RECORD, NO_RECORD, OFFSET_RECORD, STATIC_RECORD
from kafkaproof.spec.group.storage import NOT_ENOUGH_REPLICAS_AFTER_APPEND, NOT_LEADER, has_news
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.plain import Plain, ids_in
from kafkaproof.traces.wire.groups.situation import Side, Situation
from kafkaproof.traces.wire.groups.steps import Steps, may_fail

SOON = 1_000
"""By so many ms clocks may differ."""
LATE = 200
"""So many ms may lie between what happens and when it is noted, on one clock."""
FAILURES = range(NOT_ENOUGH_REPLICAS_AFTER_APPEND, NOT_LEADER + 1)
_CALLBACKS: dict[int, tuple[Callable, Callable]] = {
    GROUP_RECORD: (sync.group_stored, sync.group_not_stored),
    OFFSET_RECORD: (offsets.offset_stored, offsets.offset_not_stored),
    STATIC_RECORD: (static.static_stored, static.static_not_stored),
}


class Elected(NamedTuple):
    """An election of the group's partition: when (ms), and whom, by the number of the broker, NOBODY for none."""

    time: int
    leader: int


class Hidden:
    """The hidden steps of one group; `lives`: of each broker, when it registered again (ms)."""

    def __init__(self, steps: Steps, elections: list[Elected], lives: list[list[int]]):
        self._steps, self._elections, self._lives = steps, elections, lives

    def of(self, at: Situation, now: int, b: int, others: set[int]) -> Iterator[Situation]:
        """The situations after one hidden step of broker `b`, or of the cluster, until a time (ms), or after something has
        become of what others have appended.
        """
        yield from self._elects(at, now)
        yield from self._begins_anew(at, b, now)
        yield from self._leads(at, b)
        yield from self._completes(at, b, now)
        yield from self._runs_out(at, b, now)
        for each in {b, *others}:
            yield from self._called_back(at, each)

    def _elects(self, at: Situation, now: int) -> Iterator[Situation]:
        """The next election of the partition: the new leader has all that was acknowledged, and any part of the rest."""
        storage = at.storage
        if storage.epoch >= len(self._elections) or self._elections[storage.epoch].time - SOON > now:
            return
        elected, length = self._elections[storage.epoch], storage.log.length
        same = storage.epoch > 0 and storage.leaders[storage.epoch - 1] == elected.leader
        clock = elected.time - SOON
        if storage.epoch == 0 or elected.leader == NOBODY or same:
            again = at.but(storage=storage.copy(), clock=max(at.clock, clock))
            again.storage.epoch += 1
            yield again
            return
        for kept in range(storage.committed, length + 1):
            for committed in {storage.committed, kept}:
                to = elected.leader
                yield from self._if(self._steps.take(at, faults.fail_over, None, to, committed, kept, clock=clock))

    def _begins_anew(self, at: Situation, b: int, now: int) -> Iterator[Situation]:
        """A new process of a broker knows nothing, and is told who leads."""
        begun = at.lives[b]
        if begun >= len(self._lives[b]) or self._lives[b][begun] - SOON > now:
            return
        following = self._elections[at.storage.epoch :]
        if following and following[0].time + SOON < self._lives[b][begun]:
            return
        time = self._lives[b][begun] - SOON
        lives = (*at.lives[:b], begun + 1, *at.lives[b + 1 :])
        gone = {m for m in at.waiting if self._steps.place(m) == b and self._steps.flying[m].time < time}
        after = self._steps.take(at, faults.crash, b, clock=time)
        if after is not None:
            side = after.sides[b]
            side.record.epoch = max(0, side.record.epoch - 1)
            yield after.but(waiting=after.waiting - gone, lives=lives)
        yield at.but(lives=lives)

    def _leads(self, at: Situation, b: int) -> Iterator[Situation]:
        """A broker hears who leads, and loads or gives up the partition."""
        record = at.sides[b].record
        if has_news(at.storage, record.epoch):
            yield from self._if(self._steps.take(at, loading.take_over, b))
            yield from self._if(self._not_elected(at, b))
        if record.group.state == DEAD:
            yield from self._if(self._steps.take(at, deletion.remove_dead, b))
        if record.loading:
            after, more = at, self._steps.take(at, loading.read, b)
            while more is not None:
                after, more = more, self._steps.take(more, loading.read, b)
            yield from self._if(self._steps.take(after, loading.load, b))
        if record.tombstone != NO_RECORD:
            yield from self._if(self._steps.take(at, deletion.bury, b))

    def _not_elected(self, at: Situation, b: int) -> Situation | None:
        """A broker hears that another is elected; where it has nothing to give up, of all others until its own turn."""
        after = self._steps.take(at, loading.unload, b)
        while (
            after and after.sides[b].record.group.state == ABSENT and has_news(at.storage, after.sides[b].record.epoch)
        ):
            if (more := self._steps.take(after, loading.unload, b)) is None:
                break
            after = more
        return after

    def _called_back(self, at: Situation, b: int) -> Iterator[Situation]:
        appends = at.sides[b].record.appends
        for i in range(appends.length):
            stored, failed = _CALLBACKS[appends.slots[i].kind]
            yield from self._if(self._steps.take(at, stored, b, i))
            for error in FAILURES if self._may_fail(at, b, appends.slots[i]) else ():
                yield from self._if(self._steps.take(at, failed, b, i, error))

    def _may_fail(self, at: Situation, b: int, append: Plain) -> bool:
        """Whether somebody who waits for an append may be answered with an error, or nobody waits that is seen."""
        parked = 0
        for member in at.sides[b].record.group.members:
            parked |= member.waiter
        waiting = ids_in(append.waiter if append.kind == OFFSET_RECORD else parked)
        return not waiting or any(may_fail(self._steps.flying[m]) for m in waiting)

    def _completes(self, at: Situation, b: int, now: int) -> Iterator[Situation]:
        """A rebalance ends: all have joined, or the time is over, which nobody knows of the first delay."""
        side = at.sides[b]
        group = side.record.group
        if group.state != PREPARING_REBALANCE:
            return
        over = side.began if group.delayed else side.began + self._longest(side)
        endings = [(join.complete_join, 0)] * all_joined(group) + [(join.join_timeout, over)] * (over <= now + LATE)
        for function, clock in endings:
            for leader in filter(
                partial(is_next_leader, group), dict.fromkeys((group.leader, *side.present(), NOBODY))
            ):
                for protocol in filter(partial(is_elected, group), range(max(1, self._steps.names.protocols))):
                    after = self._steps.take(at, function, b, leader, protocol, 0, clock=clock)
                    if after is not None:
                        yield after

    def _runs_out(self, at: Situation, b: int, now: int) -> Iterator[Situation]:
        """Sessions end, and the time for syncs."""
        side = at.sides[b]
        for n, member in enumerate(side.record.group.members):
            if member.status not in (MEMBER, PENDING):
                continue
            due = side.since.get(n, 0) + patience_with(member, side.members[n].session)
            if due > now + LATE:
                continue
            if member.status == PENDING:
                yield from self._if(self._steps.take(at, membership.expire_pending, b, n, clock=due - LATE))
                continue
            for heir in self._heirs(side):
                yield from self._if(self._steps.take(at, membership.expire, b, n, heir, clock=due - LATE))
        over = side.began + self._longest(side)
        if side.record.group.state == COMPLETING_REBALANCE and over <= now + LATE:
            for heir in self._heirs(side):
                yield from self._if(self._steps.take(at, membership.sync_timeout, b, heir, clock=over - LATE))

    @staticmethod
    def _if(after: Situation | None) -> Iterator[Situation]:
        if after is not None:
            yield after

    @staticmethod
    def _heirs(side: Side) -> Iterator[int]:
        yield from dict.fromkeys((side.record.group.leader, *side.present(), NOBODY))

    @staticmethod
    def _longest(side: Side) -> int:
        """How long a rebalance may last."""
        return patience_in_rebalance([side.members[n].rebalance for n in side.present()] or [0])
