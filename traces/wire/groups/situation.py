"""What brokers may know of a group at one moment, as states of the specification, and what these leave out.

The specification knows members, protocols and offsets by numbers; what they stand for is beside it. Everything here is
copied when a step is taken: a situation never changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import NamedTuple

from kafkaproof.spec.group.coordinator import BROKER, MEMBER, forget_group
from kafkaproof.spec.group.records import RECORD
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.plain import Plain, new_state, plain_type, values_of
from kafkaproof.traces.wire.groups.calls import Offset, Place

MANY = 1 << 30
APPENDS = 12
"""So many appends of one group may be under way."""


class Member(NamedTuple):
    """Who has a number: its id, what it said in its last join, and what it was assigned. Times are in ms."""

    name: str
    instance: str | None = None
    protocols: tuple[tuple[str, bytes], ...] = ()
    session: int = 0
    rebalance: int = 0
    assignment: bytes = b""

    def metadata(self, protocol: str | None) -> bytes:
        """What it said under a protocol."""
        return dict(self.protocols).get(protocol or "", b"")


class Content(NamedTuple):
    """What a record of the offsets log says: members by their numbers, or offsets by partition."""

    members: tuple[tuple[int, Member], ...] = ()
    offsets: tuple[tuple[Place, Offset], ...] = ()


@dataclass
class Side:
    """What one broker knows: `record` is the specification's; `members` by their numbers; `offsets` with the position of
    their record in the log; `since`: when each member was last heard of (ms); `began`: when the rebalance did, or its
    syncs were awaited; `former`: in whose place a static member came.
    """

    record: Plain
    members: dict[int, Member] = field(default_factory=dict)
    offsets: dict[Place, tuple[int, Offset]] = field(default_factory=dict)
    since: dict[int, int] = field(default_factory=dict)
    former: dict[int, int] = field(default_factory=dict)
    began: int = 0
    _key: tuple | None = None

    def copy(self) -> Side:
        """One that may be changed."""
        return Side(
            self.record.copy(), dict(self.members), dict(self.offsets), dict(self.since), dict(self.former), self.began
        )

    @property
    def key(self) -> tuple:
        """All that is in it but times, to be compared."""
        if self._key is None:
            parts = (self.members, self.offsets, self.former)
            self._key = (*values_of(self.record), *(tuple(sorted(part.items())) for part in parts))
        return self._key

    def or_earlier(self, other: Side) -> Side:
        """The same with the earlier times of two that are alike but for times."""
        if self is other or (self.since, self.began) == (other.since, other.began):
            return self
        since = {n: min(time, other.since.get(n, time)) for n, time in self.since.items()}
        return replace(self, since=since, began=min(self.began, other.began))

    def present(self) -> list[int]:
        """The numbers of the members."""
        return [n for n, member in enumerate(self.record.group.members) if member.status == MEMBER]


class Storage:
    """The offsets partition, with the fields of the specification's; `contents`: what its records say, by position.

    `chain` is a number for all that was ever done to the log.
    """

    def __init__(self, leaders: list[int], scope: Scope):
        self._make = plain_type(RECORD, scope)
        self.epoch, self.leaders, self.committed, self.faults, self.periods = 0, leaders, 0, 0, 0
        self.log = SimpleNamespace(slots=[self._make()], length=0)
        self.ghosts = SimpleNamespace(deleted=0, gone=0, stale=0, former=0)
        self.contents: tuple[Content, ...] = ()
        self.chain = 0

    def copy(self) -> Storage:
        """One that may be changed: records are shared, and the free slots are new."""
        twin = object.__new__(Storage)
        vars(twin).update(vars(self))
        twin.log = SimpleNamespace(slots=self.log.slots[: self.log.length], length=self.log.length)
        twin.log.slots += [self._make(), self._make()]
        return twin

    def loosen(self, kept: int) -> None:
        """The records behind the first `kept` may be cut: they are this one's own."""
        for place in range(kept, self.log.length):
            self.log.slots[place] = self.log.slots[place].copy()

    def cut(self) -> None:
        """Records at the end are gone."""
        self.contents = self.contents[: self.log.length]
        self.chain = hash((self.chain, self.log.length))

    def note(self, content: Content, position: int) -> None:
        """Note what the record at a position says."""
        self.contents = (*self.contents[:position], content)
        self.chain = hash((self.chain, position, *values_of(self.log.slots[position]), content))

    @property
    def key(self) -> tuple:
        """All that is in it, to be compared."""
        return self.epoch, self.committed, self.log.length, self.chain


@dataclass(frozen=True)
class Told:
    """That a request has been answered: by which step, and what is wrong with it, None where the wire says the same."""

    step: str
    why_not: str | None = None


@dataclass(eq=False)
class Situation:
    """What each broker knows, the offsets log, the requests that `waiting` brokers have not taken up (by number), those
    that were answered and whose answers have not passed yet, the earliest time (ms) at which it may be so, and how many
    times each broker has begun anew.
    """

    sides: tuple[Side, ...]
    storage: Storage
    waiting: frozenset[int] = frozenset()
    told: dict[int, Told] = field(default_factory=dict)
    clock: int = 0
    lives: tuple[int, ...] = ()

    @property
    def key(self) -> tuple:
        """All that is in it but times, to be compared."""
        told = tuple(sorted((m, each.why_not or "") for m, each in self.told.items()))
        return tuple(each.key for each in self.sides), self.storage.key, self.waiting, told, self.lives

    def or_earlier(self, other: Situation) -> Situation:
        """The same with the earlier times of two that are alike but for times: more may happen from there."""
        sides = tuple(own.or_earlier(others) for own, others in zip(self.sides, other.sides))
        return replace(self, sides=sides, clock=min(self.clock, other.clock))

    def but(self, **changes) -> Situation:
        """The same with some parts exchanged."""
        return replace(self, **changes)


def scope_of(ids: int, instances: int, protocols: int, epochs: int) -> Scope:
    """The scope of a group with so many member ids, group.instance.ids, protocols and elections of its partition."""
    return {
        "brokers": 1,
        "clients": max(instances, 1),
        "ids": ids + 1,
        "generations": MANY,
        "epochs": epochs,
        "log": MANY,
        "appends": APPENDS,
        "protocols": max(protocols, 1),
        "faults": MANY,
        "topics": 1,
        "periods": MANY,
        "prepared": 1,
    }


def nothing_known(brokers: int, leaders: list[int], scope: Scope) -> Situation:
    """Before the first election: no broker knows anything, and the log is empty."""
    sides = []
    for _ in range(brokers):
        record = new_state(BROKER, scope)
        forget_group(record.group)
        sides.append(Side(record))
    return Situation(tuple(sides), Storage(leaders, scope), lives=(0,) * brokers)
