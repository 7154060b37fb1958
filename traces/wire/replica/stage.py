"""States of *replica* in which its transitions are run for one message. The transitions only compare offsets: those that
matter are numbered by their order.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import NamedTuple

from kafkaproof.spec.catalogue import find
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.language.plain import Plain, new_state
from kafkaproof.spec.language.rebind import rebind
from kafkaproof.spec.language.sets import everybody, with_member
from kafkaproof.spec.replica import follower, leader
from kafkaproof.spec.replica.broker import UNKNOWN_END, enough_in_sync, follow, lead, rest
from kafkaproof.spec.replica.clients.network import lacks_replicas
from kafkaproof.spec.replica.history import follower_truncation as asking
from kafkaproof.spec.replica.model import CURRENT, scope
from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.wire.replica.logs import FAR, Run
from kafkaproof.traces.wire.replica.roles import Role

SYSTEM = "replica"


class Variant:
    """The transitions of a variant of *replica*."""

    def __init__(self, model: Model):
        self._model, replaced = model, dict(model.replaced)
        self.blank = cache(self._blank)
        self.check: Callable = rebind(leader.check, replaced)
        self.serve_fetch: Callable = rebind(leader.serve_fetch, replaced)
        self.serve_epochs: Callable = rebind(asking.serve_epochs, replaced)
        self.produce: Callable = rebind(leader.produce, replaced)
        self.advance: Callable = rebind(leader.advance, replaced)
        self.receive_answer: Callable = rebind(follower.receive_answer, replaced)

    def _blank(self, brokers: int, places: int) -> Plain:
        return new_state(self._model.state, scope(brokers=brokers, log=places, records=places, epochs=1))


@cache
def variants_of(features: Features) -> tuple[Variant, ...]:
    """The variants that brokers of these releases may have followed."""
    return tuple(Variant(find(SYSTEM, name)[0]) for name in features.replicating)


@cache
def is_refused(in_sync: int, needed: int) -> bool:
    """Whether a leader refuses records with acks=all: with so many replicas in sync, and min.insync.replicas `needed`."""
    state = new_state(CURRENT.state, scope(brokers=in_sync, min_isr=needed))
    state.brokers[0].isr = everybody(in_sync)
    return lacks_replicas(leader.ALL, enough_in_sync(state.brokers[0]))


class Ruler:
    """Offsets that matter, numbered by their order."""

    def __init__(self, offsets: Iterable[int]):
        self._points = sorted({0, FAR, *(each for each in offsets if each >= 0)})

    def __len__(self) -> int:
        return len(self._points)

    def place(self, offset: int) -> int:
        """The number of an offset that matters; UNKNOWN_END stays what it is."""
        return UNKNOWN_END if offset == UNKNOWN_END else bisect_left(self._points, offset)

    def offset(self, place: int) -> int:
        """The offset that has a number."""
        return self._points[place]

    def between(self, end: int) -> list[int]:
        """The offsets that matter before another."""
        return self._points[: bisect_left(self._points, end)]


class Filling(NamedTuple):
    """What stands where nothing was seen of a log: before `until` records of `epoch`, behind it those of what comes next.

    An epoch is never below that of what was seen before, nor above that of what was seen behind.
    """

    epoch: int
    until: int


EARLY, LATE = Filling(-1, FAR), Filling(-1, 0)


def epochs_of(ruler: Ruler, runs: list[Run], end: int, last: int, filling: Filling) -> list[int]:
    """The epochs of the records at the numbers of a ruler, up to the end of a log; `last`: none is higher."""
    found, place, before = [], 0, 0
    for offset in ruler.between(end):
        while place < len(runs) and runs[place].end <= offset:
            before, place = runs[place].epoch, place + 1
        if place < len(runs) and runs[place].start <= offset:
            found.append(runs[place].epoch)
            continue
        behind = runs[place].epoch if place < len(runs) else max(last, before)
        found.append(min(max(before, filling.epoch), behind) if offset < filling.until else behind)
    return found


class Scene:
    """A state with some brokers, numbered in their order."""

    def __init__(self, variant: Variant, brokers: Iterable[int], ruler: Ruler):
        self._brokers = {broker: number for number, broker in enumerate(sorted(set(brokers)))}
        self.ruler, self.variant = ruler, variant
        self.state = variant.blank(len(self._brokers), len(ruler)).copy()
        self.state.zk.leader = NOBODY

    def number(self, broker: int) -> int:
        """The number of a broker."""
        return self._brokers[broker]

    def bits(self, brokers: Iterable[int]) -> int:
        """A set of brokers as the specification has it."""
        found = 0
        for each in brokers:
            found = with_member(found, self._brokers[each])
        return found

    def take_role(self, broker: int, role: Role) -> None:
        """A broker takes a role."""
        own, b = self.state.brokers[self.number(broker)], self.number(broker)
        if role.leader == broker:
            lead(own, b, role.epoch, self.bits(role.isr & self._brokers.keys()))
        elif role.leader == NOBODY:
            rest(own, role.epoch)
        else:
            follow(own, self._brokers.get(role.leader, NOBODY), role.epoch)

    def has_log(self, broker: int, epochs: list[int]) -> None:
        """A broker has records of these epochs, one at each place."""
        log = self.state.brokers[self.number(broker)].log
        log.length = len(epochs)
        for place, epoch in enumerate(epochs):
            log.slots[place].epoch, log.slots[place].id = epoch, place

    def knows_ends(self, broker: int, ends: Mapping[int, int], hw: int) -> None:
        """A leader knows ends of followers, and has a high watermark."""
        own = self.state.brokers[self.number(broker)]
        for follower_id, end in ends.items():
            own.ends[self.number(follower_id)] = self.ruler.place(end)
        own.hw = self.ruler.place(hw)

    def is_asked(self, broker: int, sender: int, kind: int, epoch: int, offset: int, last: int) -> Plain:
        """A request is in flight to a broker: what becomes of its message."""
        message = self.state.network.messages[self.number(sender)]
        message.kind, message.peer, message.epoch = kind, self.number(broker), epoch
        message.offset, message.last = self.ruler.place(offset), last
        return message
