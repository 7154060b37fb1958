"""Judges what followers ask for: each fetches where its log ends, by the answers that it has had."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import NamedTuple

from kafkaproof.spec.protocol.batches import Batch
from kafkaproof.spec.protocol.fetch_sessions import Given, Wanted
from kafkaproof.spec.replica.broker import FETCHING, TRUNCATING
from kafkaproof.spec.replica.network import DIVERGING, END, NO_RECORD, RECORD
from kafkaproof.spec.replica.storage import NO_EPOCH, last_epoch
from kafkaproof.traces.wire.history import Partition
from kafkaproof.traces.wire.replica.known import Known, Next, Replica
from kafkaproof.traces.wire.replica.logs import end_of
from kafkaproof.traces.wire.replica.roles import Role, Roles
from kafkaproof.traces.wire.replica.stage import EARLY, LATE, Filling, Ruler, Scene, Variant, epochs_of

_SKEW = 1_000
"""By so many ms clocks may differ."""
OK, OUT_OF_RANGE = "NONE", "OFFSET_OUT_OF_RANGE"


class Ends(NamedTuple):
    """The end of an epoch, as an answer tells it."""

    epoch: int
    end: int


class Followers:
    """The followers of all partitions, by what they were told."""

    def __init__(self, known: Known, roles: Roles, variants: Iterable[Variant]):
        self._known, self._roles, self._variants = known, roles, tuple(variants)

    def why_not_asked(self, follower: int, leader: int, partition: Partition, wanted: Wanted, time: int) -> str | None:
        """Why a follower does not fetch so; what it fetches tells where its log ends."""
        replica = self._known.of(follower, partition)
        why = self._why_not_from(replica, wanted) or self._why_not_of(follower, leader, partition, wanted, time)
        has_led = any(
            (each.leader, each.epoch) == (follower, wanted.last)
            for each in self._roles.of(follower, partition, -inf, time)
        )
        self._learn(replica, wanted, has_led)
        return why

    def _why_not_from(self, replica: Replica, wanted: Wanted) -> str | None:
        if replica.nexts is None:
            return None
        ends = {each.end for each in replica.nexts}
        if wanted.offset not in ends:
            told = " or ".join(map(str, sorted(ends)))
            return f"fetches from offset {wanted.offset}, where its log ends at {told}"
        lasts = {each.last for each in replica.nexts if each.end == wanted.offset}
        if wanted.last is not None and None not in lasts and wanted.last not in lasts:
            told = " or ".join(map(str, sorted(each for each in lasts if each is not None)))
            return f"says that its last record is of leader epoch {wanted.last}, where that is of {told}"
        return None

    def _why_not_of(self, follower: int, leader: int, partition: Partition, wanted: Wanted, time: int) -> str | None:
        if wanted.epoch is None:
            return None
        roles = self._roles.of(follower, partition, -inf, time + _SKEW)
        if any((each.leader, each.epoch) == (leader, wanted.epoch) for each in roles):
            return None
        told = " or ".join(dict.fromkeys(_role_words(each) for each in roles))
        return f"fetches from broker {leader} in leader epoch {wanted.epoch}, where it {told}"

    def _learn(self, replica: Replica, wanted: Wanted, has_led: bool) -> None:
        """Where its log ends; `has_led`: it led in the epoch that it tells, which it may know without any record of it."""
        log, offset = replica.log, wanted.offset
        for each in next((each.batches for each in replica.nexts or () if each.end == offset), ()):
            log.add(each)
        log.cut(offset)
        log.is_known = True
        last = wanted.last if offset or has_led else NO_EPOCH
        replica.nexts = [Next(offset, last)]

    def told(self, follower: int, partition: Partition, wanted: Wanted, given: Given) -> None:
        """A follower gets the answer to a fetch: where it may go on."""
        replica = self._known.of(follower, partition)
        if replica.nexts is None or given.error not in (OK, OUT_OF_RANGE):
            return
        before = [each for each in replica.nexts if each.end == wanted.offset]
        if given.error == OUT_OF_RANGE or given.batches is None or not before:
            replica.nexts = None
        elif given.diverging:
            self._truncates(replica, before[0], DIVERGING, Ends(*given.diverging))
        elif given.batches and given.batches[0].base_offset < wanted.offset:
            replica.nexts = None
        elif given.batches:
            found = [self._appended(each, before[0], given.batches) for each in self._variants]
            replica.nexts = [*before[:1], *dict.fromkeys(found)]

    def told_end(self, follower: int, partition: Partition, ends: Ends) -> None:
        """A follower is told where an epoch ends: it may truncate its log."""
        replica = self._known.of(follower, partition)
        if replica.nexts is not None:
            self._truncates(replica, replica.nexts[-1], END, ends)

    def _appended(self, variant: Variant, before: Next, batches: tuple[Batch, ...]) -> Next:
        """Where a follower goes on when it has appended some batches."""
        ruler = Ruler([before.end, *(end_of(each) for each in batches)])
        last = before.last if before.last is not None else NO_EPOCH
        scene = self._scene(variant, ruler, [last] * ruler.place(before.end), FETCHING)
        own, message = scene.state.brokers[0], scene.state.network.messages[0]
        for each in batches:
            message.kind, message.last, message.hw, message.id = RECORD, each.epoch, 0, own.log.length
            variant.receive_answer(scene.state, 0)
        return Next(ruler.offset(own.log.length), last_epoch(own.log), batches)

    def _truncates(self, replica: Replica, before: Next, kind: int, ends: Ends) -> None:
        """A follower truncates its log, by what is known of it."""
        runs = [each for each in replica.log.runs() if each.start < before.end]
        covered = sum(min(each.end, before.end) - each.start for each in runs)
        if covered < before.end or ends.epoch == NO_EPOCH and before.end:
            replica.nexts = None
            return
        found = [before]
        for variant in self._variants:
            ruler = Ruler([before.end, ends.end, *(each.start for each in runs), *(each.end for each in runs)])
            for filling in (EARLY, LATE, Filling(ends.epoch, ends.end)):
                epochs = epochs_of(ruler, runs, before.end, before.last or 0, filling)
                scene = self._scene(variant, ruler, epochs, FETCHING if kind == DIVERGING else TRUNCATING)
                own, message = scene.state.brokers[0], scene.state.network.messages[0]
                message.kind, message.last, message.end = kind, ends.epoch, ruler.place(ends.end)
                if variant.receive_answer(scene.state, 0):
                    found.append(Next(ruler.offset(own.log.length), last_epoch(own.log)))
        replica.nexts = list(dict.fromkeys(found))

    def _scene(self, variant: Variant, ruler: Ruler, epochs: list[int], state: int) -> Scene:
        """A follower, the first broker, that waits for an answer of its leader, the second."""
        scene = Scene(variant, (0, 1), ruler)
        scene.take_role(0, Role(1, 0, frozenset(), 0, 0))
        scene.has_log(0, epochs)
        own, message = scene.state.brokers[0], scene.state.network.messages[0]
        own.state, message.kind = state, NO_RECORD
        message.peer, message.epoch, message.offset = 1, own.leader_epoch, own.log.length
        return scene


def _role_words(role: Role) -> str:
    return "follows nobody" if role.epoch < 0 else f"was told that {role.leader} leads in leader epoch {role.epoch}"
