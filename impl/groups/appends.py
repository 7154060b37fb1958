"""The appends of groups that are not decided yet: what follows when they are acknowledged, have failed, or take too long."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from kafkaproof.impl.groups.group import Group
from kafkaproof.impl.groups.leader import Leader
from kafkaproof.spec.group import offsets, static, storage, sync
from kafkaproof.spec.group.records import GROUP_RECORD, OFFSET_RECORD, STATIC_RECORD
from kafkaproof.spec.group.sorts import NOWHERE

APPEND_TIMEOUT = 5.0
"""offsets.commit.timeout.ms, in seconds."""
CALLBACKS = {
    GROUP_RECORD: (sync.group_stored, sync.group_not_stored),
    OFFSET_RECORD: (offsets.offset_stored, offsets.offset_not_stored),
    STATIC_RECORD: (static.static_stored, static.static_not_stored),
}
"""The steps that follow an append, by the kind of its record: when it is acknowledged, and when it has failed."""


class Appends:
    """The appends of one broker's groups, and when each began; `take` takes a step of a group, `leader` hears what becomes
    of appends.
    """

    def __init__(self, leader: Leader, take: Callable[..., bool]):
        self._leader, self._take = leader, take
        self._appended: dict[tuple[str, int], float] = {}

    def note(self, group: Group, before: int) -> None:
        """Note the append that a step has begun, if any; `before`: how many were under way before it."""
        if group.broker.appends.length > before:
            self._appended[group.name, group.broker.appends.slots[before].position] = time.monotonic()

    def finish(self, groups: Iterable[Group]) -> None:
        """Run the callbacks of the appends that are acknowledged, have failed, or take too long."""
        done, self._leader.done = self._leader.done, []
        for seams, place, error in done:
            seams.deliveries.setdefault(place, error)
        now = time.monotonic()
        for group in groups:
            while self._finish_one(group, now):
                pass
            if group.broker.appends.length == 0:
                group.storage.deliveries.clear()
                group.contents.clear()
                group.stored.clear()

    def _finish_one(self, group: Group, now: float) -> bool:
        deliveries, appends = group.storage.deliveries, group.broker.appends
        for i in range(appends.length):
            append = appends.slots[i]
            stored, not_stored = CALLBACKS[append.kind]
            place = append.position
            if place != NOWHERE and place not in deliveries:
                if now - self._appended.get((group.name, place), now) < APPEND_TIMEOUT:
                    continue
                deliveries[place] = storage.TIMED_OUT
            error = storage.NOT_LEADER if place == NOWHERE else deliveries[place]
            if error is None:
                taken = self._take(group, stored, i=i)
            else:
                taken = self._take(group, not_stored, i=i, error=error)
            self._appended.pop((group.name, place), None)
            return taken
        return False
