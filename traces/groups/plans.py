"""Ways from one record of a group to the next: hidden steps, each a transition that must be enabled.

Between two records lie joins, ends of sessions, timeouts and generations that were never stored. Their order does not
matter where they commute, so one order of each kind is tried, and few kinds; a way explains a record when its last step
appends exactly that. What is tried is bounded by MOST_UNSTORED generations and MOST_MEMBERS members.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from kafkaproof.spec.group import join, membership, sync
from kafkaproof.spec.group.coordinator import JOIN_PARKED, PENDING, SYNC_PARKED
from kafkaproof.spec.group.group_states import ABSENT, COMPLETING_REBALANCE, EMPTY, PREPARING_REBALANCE, STABLE
from kafkaproof.spec.group.network import JOIN, LEAVE, SYNC
from kafkaproof.spec.group.static import static_join
from kafkaproof.spec.kafka.offset_values import GroupValue, MemberValue
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.plain import Plain
from kafkaproof.traces.groups.machine import Coordinator, Machine
from kafkaproof.traces.groups.numbers import CHOSEN, FORMER, UNSEEN, Numbers, supports_nothing_seen

MOST_UNSTORED, MOST_MEMBERS = 50, 100
REBALANCE, REPLACED, AGAIN, UNKNOWN = "rebalance", "static member replaced", "assigned again", "history unknown"
BEHIND = "loaded without the last record"


_SEEN = ("kind", "generation", "leader", "protocol", "owner", "members", "instances")


class Way:
    """A coordinator on its way from the record `before` to `after`; a step that is not enabled ends it.

    It has loaded the log, perhaps without its last record, which it has `missed`.
    """

    def __init__(
        self,
        machine: Machine,
        before: GroupValue | None,
        after: GroupValue,
        former: Collection[str] = (),
        missed: GroupValue | None = None,
    ):
        self.before, self.after, self.former = before, after, former
        self.numbers = Numbers(before, after, missed)
        self.at = Coordinator(machine, self.numbers.count, len(self.numbers.instances))
        self._members = {m.id: m for value in (before, after) if value for m in value.members}
        for value in (before, missed):
            if value:
                self.numbers.fill(self.at.log.slots[self.at.log.length], value)
                self.at.log.length += 1
        self._loaded = self.at.log.length
        self.ready = self.at.load(unread=1 if missed else 0)

    @property
    def appended(self) -> Plain | None:
        """The last record in the log, None where nothing was appended."""
        return self.at.appended() if self.at.log.length > self._loaded else None

    def arrives(self) -> bool:
        """Whether the last record in the log is the record `after`."""
        found = self.appended
        if found is None:
            return False
        wanted = type(found)()
        self.numbers.fill(wanted, self.after)
        return all(getattr(found, name) == getattr(wanted, name) for name in _SEEN)

    def offers(self, id: str) -> tuple[int, int]:
        """The protocols that a member supports, as far as records tell: the chosen ones; a stranger what others do."""
        member = self._members.get(id)
        if member and member in self.after.members and supports_nothing_seen(self.after, member):
            return UNSEEN, UNSEEN
        former = self.before and self.before.protocol not in (None, self.after.protocol)
        if not former:
            return CHOSEN, CHOSEN
        return (FORMER, FORMER) if self.after.protocol is None else (CHOSEN, FORMER)

    def join(self, id: str, changed: int = 0) -> bool:
        """A member joins a rebalance: for the first time, in place of a former id of its instance, or again."""
        number = self.numbers.of(id) if id in self.numbers.ids else self.numbers.stranger
        member = self._members.get(id)
        m = self.numbers.client(member) if member else 0
        known = number in self.at.members() or id in self.former
        if not known:
            self.at.ask(m, JOIN, number, known=0)
            if not (
                self.at.take(join.first_join, 0, m, 0, *self.offers(id))
                or self.at.take(static_join, 0, m, 0, *self.offers(id))
            ):
                return False
            known = self.at.group.members[number].status == PENDING
        if known:
            self.at.ask(m, JOIN, number)
            self.at.take(join.join, 0, m, 0, *self.offers(id), changed)
        parked = self.at.group.members[number].parked == JOIN_PARKED
        return parked and self.at.group.state == PREPARING_REBALANCE

    def lose(self, number: int) -> bool:
        """A member's session ends; a parked one leaves in versions where that keeps it alive."""
        wanted = self.numbers.of(self.after.leader)
        heirs = sorted((n for n in self.at.members() if n != number), key=lambda n: n != wanted)
        for heir in (self.at.group.leader, *heirs, NOBODY):
            if self.at.take(membership.expire, 0, number, heir):
                return True
            self.at.ask(0, LEAVE, number)
            if self.at.take(membership.leave, 0, 0, heir) and number not in self.at.members():
                return True
        return False

    def complete(self, leader: int, protocol: int) -> bool:
        """The rebalance ends: all have joined, or its time is over."""
        return any(self.at.take(ending, 0, leader, protocol, 0) for ending in (join.complete_join, join.join_timeout))

    def assign(self, value: GroupValue) -> bool:
        """The leader brings the assignment."""
        leader, owner = self.at.group.leader, self.numbers.owner(value)
        if leader == NOBODY:
            return False
        m = self.numbers.client(self._members[value.leader]) if value.leader in self._members else 0
        self.at.ask(m, SYNC, leader, generation=self.at.group.generation, leading=0 if owner == NOBODY else 1)
        return self.at.take(sync.sync, 0, m, 0, owner) and self.at.group.members[leader].parked == SYNC_PARKED


def ways(
    machine: Machine,
    before: GroupValue | None,
    after: GroupValue,
    former: Collection[str] = (),
    missed: GroupValue | None = None,
) -> Iterator[tuple[str, Way]]:
    """Ways of every kind that may end with the record `after`, and what kind they are.

    `before` is the last record of the group, None where there is no group; `former` are member ids that are gone;
    `missed` is a later record, which a new coordinator has not read.
    """
    if not missed and before and before.generation == after.generation:
        yield REPLACED, _replacement(machine, before, after)
        yield AGAIN, _again(machine, before, after)
        return
    for early in (False, True):
        for absent in (False, True):
            way = Way(machine, before, after, former, missed)
            if way.ready and _rebalance(way, early, absent):
                yield BEHIND if missed else REBALANCE, way


def _replacement(machine, before, after):
    """A static member comes back while the group is Stable."""
    way = Way(machine, before, after)
    former = {m.instance: m.id for m in before.members if m.instance is not None}
    for member in after.members:
        if member.instance in former and former[member.instance] != member.id:
            way.join(member.id)
            break
    return way


def _again(machine, before, after):
    """The leader brings an assignment again before the first one is acknowledged."""
    way = Way(machine, replace(before, generation=before.generation - 1), after)
    if before.members and all([way.join(m.id, 1) for m in before.members]):
        if way.complete(way.at.group.leader, way.numbers.protocol(before)) and way.assign(before):
            way.assign(after)
    return way


def _rebalance(way: Way, early: bool, absent: bool) -> bool:
    """To the next generation, or a later one: who is lost goes `early` or late, a static leader may be `absent`."""
    before, after = way.before.members if way.before else (), way.after.members
    for _ in range(after_generation(way) - 1):
        if not _unstored(way, before):
            return False
    lost = [m.id for m in before if m.id not in {n.id for n in after}]
    replaced = {m.instance for m in after if m.instance is not None}
    gone = [m.id for m in before if m.id in lost and (early or m.instance not in replaced)]
    if early and not _lose(way, gone):
        return False
    if not after and not _visit(way):
        return False
    if not all([way.join(m.id, 1) for m in _in_order(way, before, after, absent)]):
        return False
    strangers = [n for n in way.at.members() if n >= way.numbers.stranger]
    if not _lose(way, [] if early else gone) or not all([way.lose(n) for n in strangers]):
        return False
    if not way.complete(max(way.numbers.of(way.after.leader), NOBODY), CHOSEN):
        return False
    return not after or way.assign(way.after)


def after_generation(way: Way) -> int:
    """By how much the generation rises."""
    return way.after.generation - (way.before.generation if way.before else 0)


def _lose(way, ids):
    present = way.at.members()
    return all([way.lose(way.numbers.of(id)) for id in ids if way.numbers.of(id) in present])


def _visit(way):
    """Somebody joins an Empty group that stays Empty."""
    return bool(way.at.members()) or way.join("")


def _in_order(way: Way, before, after, absent: bool) -> list[MemberValue]:
    """Who joins, the next leader first where nobody leads; a static leader that loses its role stays away."""
    known = {m.id for m in before}
    leads = way.before.leader if way.before else None
    order = sorted(after, key=lambda m: (m.id not in known, m.id != way.after.leader))
    if absent:
        return [m for m in order if m.instance is None or m.id != leads]
    return order


def _unstored(way: Way, before) -> bool:
    """A generation that begins, and ends before anything is stored: with who is there, or with a stranger."""
    present = [m.id for m in before] if way.at.members() else []
    state = way.at.group.state
    if state not in (ABSENT, EMPTY, STABLE, COMPLETING_REBALANCE, PREPARING_REBALANCE):
        return False
    if state == COMPLETING_REBALANCE and not before:
        present = [""]
    if not all([way.join(id, 1) for id in (present or [""])]):
        return False
    protocol = FORMER if FORMER in way.offers(present[0] if present else "") and way.before and before else CHOSEN
    return way.complete(way.at.group.leader, protocol) or way.complete(way.at.group.leader, CHOSEN)
