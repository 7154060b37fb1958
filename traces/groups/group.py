"""One group, followed through the records of its partition: what is stored of it, and what explains each record."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import chain

from kafkaproof.spec.group.deletion import topic_deleted
from kafkaproof.spec.kafka.offset_values import GroupValue, OffsetValue
from kafkaproof.traces.groups.machine import Machine
from kafkaproof.traces.groups.mismatches import difference
from kafkaproof.traces.groups.numbers import subscribes
from kafkaproof.traces.groups.offsets_topic import Known
from kafkaproof.traces.groups.plans import MOST_MEMBERS, MOST_UNSTORED, REBALANCE, REPLACED, UNKNOWN, ways
from kafkaproof.traces.groups.tombstones import LEAST_RETENTION, WAYS, Circumstances, may_commit, ways_of

Place = tuple[str, int]


class Unexplained(Exception):
    """A record that no behaviour explains; the text says why."""


class Undecided(Exception):
    """A record for which more is possible than is tried."""


@dataclass
class Group:
    """What the log says of a group so far.

    `value` is its record, None where it has none, stored at `stored`, and `previous` the one before; `offsets` are
    committed, with the time of the record; `pending` are offsets of open transactions by producer; `former` are member
    ids that are gone; `unknown`: records may be missing since its record.
    """

    name: str
    unknown: bool = False
    value: GroupValue | None = None
    previous: GroupValue | None = None
    stored: int = -1
    epoch: int | None = None
    since: int = -1
    offsets: dict[Place, OffsetValue] = field(default_factory=dict)
    pending: dict[int, dict[Place, OffsetValue]] = field(default_factory=dict)
    former: set[str] = field(default_factory=set)
    counts: Counter = field(default_factory=Counter)
    members: set[str] = field(default_factory=set)

    def take_group(self, machine: Machine, value: GroupValue, offset: int, time: int, epoch: int | None) -> None:
        """A record of the group; raises Unexplained or Undecided."""
        self._expect_members(value)
        kind = self._explain(machine, value, epoch)
        rise = value.generation - (self.value.generation if self.value else 0)
        self.counts["records"] += 1
        self.counts[kind] += 1
        if kind == REBALANCE:
            self.counts["unstored"] += rise - 1
        if self.counts["records"] > 1 and epoch != self.epoch:
            self.counts["failovers"] += 1
        self.keep(value, offset, time, epoch)

    def keep(self, value: GroupValue, offset: int, time: int, epoch: int | None) -> None:
        """The group is as this record says, explained or not."""
        if self.value:
            self.former |= {m.id for m in self.value.members} - {m.id for m in value.members}
        self.members |= {m.id for m in value.members}
        self.previous, self.value, self.unknown = self.value, value, False
        self.stored, self.since, self.epoch = offset, time, epoch

    def _expect_members(self, value):
        ids = [m.id for m in value.members]
        if len(set(ids)) < len(ids):
            raise Unexplained("a member id stands in it twice: " + next(id for id in ids if ids.count(id) > 1))

    def _explain(self, machine, value, epoch):
        rise = value.generation - (self.value.generation if self.value else 0)
        if max(len(value.members), len(self.value.members) if self.value else 0) > MOST_MEMBERS:
            raise Undecided(f"more than {MOST_MEMBERS} members")
        if self.unknown:
            before = GroupValue(value.version, value.protocol_type, value.generation - 1, None, None)
            if any(way.arrives() for _, way in ways(machine, before, value, self.former)):
                return UNKNOWN
            raise Unexplained(difference(before, value, self.former, -1))
        if rise > MOST_UNSTORED:
            raise Undecided(f"{rise - 1} generations left no record, and {MOST_UNSTORED} are tried")
        tried = ways(machine, self.value, value, self.former)
        if self.value and (epoch is None or epoch != self.epoch):
            tried = chain(tried, ways(machine, self.previous, value, self.former, missed=self.value))
        kind = next((kind for kind, way in tried if way.arrives()), None)
        if kind is None or kind == REPLACED and not self._same_assignments(value):
            raise Unexplained(difference(self.value, value, self.former, self.stored))
        return kind

    def _same_assignments(self, value):
        """Of a generation that is stored again for a static member, every assignment stays where it is."""
        before, after = ({m.instance or m.id: m.assignment for m in v.members} for v in (self.value, value))
        return before == after

    def take_offset(self, machine: Machine, place: Place, value: OffsetValue, producer: int) -> None:
        """A committed offset, or one that a transaction of a producer commits or not (-1: none); raises Unexplained."""
        running = bool(self.value and self.value.members)
        if not may_commit(machine, running, self.value is not None, producer >= 0):
            raise Unexplained(f"an offset of {_name(place)} is committed, and the group takes none")
        self.counts["commits"] += 1
        if not running:
            self.counts["commits without members"] += 1
        if producer >= 0:
            self.pending.setdefault(producer, {})[place] = value
        else:
            self._put(place, value)

    def _put(self, place, value):
        self.offsets.pop(place, None)
        self.offsets[place] = value

    def end_transaction(self, producer: int, commits: bool) -> None:
        """The marker of a transaction: what it has pending is committed, or gone."""
        for place, value in self.pending.pop(producer, {}).items():
            if commits:
                self._put(place, value)

    def take_tombstones(
        self, machine: Machine, places: list[Place], dies: bool, time: int, known: Known | None, whole: bool
    ) -> str:
        """Tombstones in one batch, of offsets, and of the group if it `dies`; what explains them; raises Unexplained.

        `whole`: the batch is as it was written, and nothing before it is missing.
        """
        gone = set(places)
        if not whole:
            found = frozenset(WAYS)
        else:
            asked = gone | set(self.offsets) if dies else gone
            found = frozenset.intersection(*(self._ways(machine, place, gone, dies, time) for place in asked or [None]))
            found -= {topic_deleted} if not self._topics_go(gone, time, known) else set()
        early = dies and self.value and self.value.version == 0 and bool(self.value.members)
        if not found and not early:
            raise Unexplained(self._why_not(gone, dies, known))
        self._bury(gone, dies)
        if not found:
            raise Undecided("a running group dies, as in 0.9 and 0.10.0, which had no Empty groups")
        way = next(way for way in WAYS if way in found)
        self.counts[WAYS[way]] += 1
        return WAYS[way]

    def _bury(self, gone, dies):
        for place in gone:
            self.offsets.pop(place, None)
        self.counts["tombstones"] += len(gone) + dies
        if dies:
            self.former |= {m.id for m in self.value.members} if self.value else set()
            self.value, self.previous, self.stored = None, None, -1
            self.counts["deaths"] += 1

    def _ways(self, machine, place, gone, dies, time):
        others = bool(set(self.offsets) - gone - {place}) or any(self.pending.values())
        running = bool(self.value and self.value.members)
        at = Circumstances(
            generation=min(self.value.generation, 1) if self.value else 0,
            running=running,
            committed=place in self.offsets,
            others=others,
            subscribed=place is None or subscribes(self.value, place[0]),
            aged=False,
            idle=False,
        )
        choices = [at._replace(aged=aged, idle=idle) for aged in self._ages(place, time) for idle in self._idle(time)]
        return ways_of(machine, place in gone, dies, choices)

    def _ages(self, place, time):
        value = self.offsets.get(place)
        if value is None:
            return (False,)
        if value.expires is not None:
            return (time < 0 or time >= value.expires,)
        return (time < 0 or time >= value.time + LEAST_RETENTION,)

    def _idle(self, time):
        if self.value is None:
            return (False,)
        since = self.value.time if self.value.time >= 0 else self.since
        return (time < 0 or since < 0 or time >= since + LEAST_RETENTION,)

    def _topics_go(self, gone, time, known):
        """Whether the tombstones are of whole topics, which were deleted as far as is known."""
        topics = {topic for topic, _ in gone}
        if any(place[0] in topics and place not in gone for place in self.offsets):
            return False
        return known is None or all(known.deleted(topic, time) for topic in topics)

    def _why_not(self, gone, dies, known):
        stranger = next((place for place in sorted(gone) if place not in self.offsets), None)
        running = self.value and self.value.members
        if dies and running:
            return f"a tombstone of the group, which has {len(running)} members in generation {self.value.generation}"
        if stranger:
            return f"a tombstone of the offset of {_name(stranger)}, and none is committed"
        if dies and self.value is None:
            return "a tombstone of the group, which has no record"
        left = sorted(set(self.offsets) - gone)
        if dies and left:
            return f"a tombstone of the group, and {len(left)} of its offsets have none: the first is {_name(left[0])}"
        if running:
            deleted = ", and the log of ZooKeeper has no deletion of the topic" if known else ""
            return (
                f"a tombstone of the offset of {_name(min(gone))}, to whose topic the members of generation "
                f"{self.value.generation} subscribe{deleted}: only its deletion takes it, and with all others"
            )
        if not dies and not left and self.value:
            return "tombstones of all offsets of an Empty group, and none of the group, which has nothing left"
        return f"tombstones of {len(gone)} offsets that nothing has deleted"


def _name(place: Place) -> str:
    return f"{place[0]}-{place[1]}"
