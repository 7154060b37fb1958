"""Judges what leaders answer to fetches, and keeps between which offsets their high watermarks are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kafkaproof.spec.protocol.batches import Batch
from kafkaproof.spec.protocol.fetch_sessions import Given, Wanted
from kafkaproof.spec.replica.broker import UNKNOWN_END
from kafkaproof.spec.replica.errors import TAKEN, names_of
from kafkaproof.spec.replica.network import DIVERGING, END, EPOCHS, FETCH, RECORD
from kafkaproof.spec.replica.storage import NO_EPOCH
from kafkaproof.spec.replica.zookeeper import OK
from kafkaproof.traces.wire.history import Partition
from kafkaproof.traces.wire.replica.known import Known, Replica
from kafkaproof.traces.wire.replica.logs import FAR, end_of, words_of
from kafkaproof.traces.wire.replica.roles import Role, Roles
from kafkaproof.traces.wire.replica.stage import EARLY, LATE, Filling, Ruler, Scene, Variant, epochs_of

OUT_OF_RANGE = "OFFSET_OUT_OF_RANGE"
CLIENT = -1
"""Stands for a client among brokers."""
Ends = tuple[int, int]


class Asked(NamedTuple):
    """A request of a follower, or of a client, for one partition: what it wants, from when (ms) to when it was answered;
    where the leader's high watermark (`floor`) and its log's end (`least`) were at least when it was asked.
    """

    broker: int
    sender: int
    partition: Partition
    wanted: Wanted
    since: int
    until: int
    floor: int
    least: int


class Outcome(NamedTuple):
    """How a leader answers: by which error, where it says that logs diverge or an epoch ends, and whether with records."""

    answer: int
    errors: tuple[str, ...]
    ends: Ends | None
    has_records: bool


class Leaders:
    """The leaders of all partitions. `alive`: the variants that explain all answers of a broker so far."""

    def __init__(self, known: Known, roles: Roles, variants: Iterable[Variant]):
        self._known, self._roles, self._variants = known, roles, tuple(variants)
        self._alive: dict[int, tuple[Variant, ...]] = {}

    # High watermarks

    def floor(self, broker: int, partition: Partition, time: int) -> int:
        """Where the high watermark of a leader is at least, by what its followers have been answered; 0 where it may not
        lead.
        """
        roles = self._roles.of(broker, partition, time, time)
        replica = self._known.of(broker, partition)
        if {each.leader for each in roles} != {broker}:
            return 0
        members = self._roles.members(roles[-1], partition) | {broker}
        ends = {each: replica.ends_least.get(each, UNKNOWN_END) for each in members - {broker}}
        if replica.log.is_known:
            found = self._advanced(broker, roles[-1], members, ends, replica.log.least, replica.hw_least)
            replica.hw_least = max(replica.hw_least, found)
        return replica.hw_least

    def ceiling(self, broker: int, partition: Partition, role: Role, since: int, until: int, start: int) -> int:
        """Where the high watermark of a leader is at most, where it was at most at `start`."""
        replica = self._known.of(broker, partition)
        if start == FAR:
            return FAR
        found = start
        for isr in self._roles.isrs(role, partition, since, until):
            ends = {each: replica.most_of(each) for each in isr - {broker}}
            found = max(found, self._advanced(broker, role, isr | {broker}, ends, FAR, start))
        return found

    def _advanced(self, broker: int, role: Role, isr: Iterable[int], ends: dict[int, int], length: int, hw: int) -> int:
        ruler = Ruler([hw, length, *ends.values()])
        scene = Scene(self._variants[0], [broker, *ends], ruler)
        scene.take_role(broker, role._replace(leader=broker, isr=frozenset(isr)))
        own, b = scene.state.brokers[scene.number(broker)], scene.number(broker)
        own.log.length = ruler.place(length)
        scene.knows_ends(broker, ends, hw)
        self._variants[0].advance(own, b)
        return ruler.offset(own.hw)

    def reach(self, broker: int, partition: Partition, role: Role, asked: Asked, hw: int | None) -> str | None:
        """A leader tells its high watermark: why it cannot be there."""
        replica = self._known.of(broker, partition)
        ceiling = self.ceiling(broker, partition, role, asked.since, asked.until, replica.hw_most)
        replica.hw_most = ceiling
        if hw is None:
            return None
        if hw < asked.floor:
            return f"tells a high watermark of {hw}, which had reached {asked.floor} before"
        if hw > ceiling:
            return f"tells a high watermark of {hw}, where its ISR has fetched up to {ceiling}"
        replica.hw_least = max(replica.hw_least, hw)
        if ceiling == FAR:
            replica.hw_most = self.ceiling(broker, partition, role, asked.since, asked.until, hw)
        return None

    # Answers

    def role_of(self, asked: Asked, given: Given, is_empty: bool) -> Role | str:
        """What the receiver took itself for when it answered so, or why it does not answer so; `is_empty`: there are no
        records in the whole answer, so that those of other partitions have not taken their place.
        """
        alive = self._alive.get(asked.broker, self._variants)
        roles = self._roles.of(asked.broker, asked.partition, asked.since, asked.until)
        seen: dict[str, None] = {}
        for role in reversed(roles):
            fitting = tuple(each for each in alive if self._gives(each, role, asked, given, is_empty, seen))
            if fitting:
                self._alive[asked.broker] = fitting
                return role
        told = given.error if given.diverging is None else f"{given.error}, diverging in {given.diverging}"
        return f"answered {told}, where {', or '.join(seen)}"

    def _gives(
        self, variant: Variant, role: Role, asked: Asked, given: Given, is_empty: bool, seen: dict[str, None]
    ) -> bool:
        for end, filling in self._guesses(asked, given):
            found = self.outcome(variant, role, asked, FETCH, end, filling)
            seen[_words(asked.broker, role, found)] = None
            if given.error not in found.errors:
                if given.error == OUT_OF_RANGE and found.answer == OK and found.ends:
                    return True
                continue
            if found.answer != OK or found.ends == given.diverging and not (is_empty and found.has_records):
                return True
        return False

    def _guesses(self, asked: Asked, given: Given) -> Iterator[tuple[int, Filling]]:
        """Where the leader's log may end, and what may stand in it where nothing was seen."""
        least = self._known.of(asked.broker, asked.partition).log.least
        seen = max([asked.wanted.offset, *(end_of(each) for each in given.batches or ())])
        if given.error == OUT_OF_RANGE:
            yield least, LATE
        elif given.diverging:
            for end in (max(least, given.diverging[1]), FAR):
                yield from ((end, each) for each in (Filling(*given.diverging), LATE, EARLY))
        else:
            end = asked.least if asked.sender != CLIENT else asked.floor
            own = Filling(asked.wanted.last if asked.wanted.last is not None else NO_EPOCH, asked.wanted.offset)
            yield from ((max(end, seen), each) for each in (own, LATE, EARLY))

    def outcome(self, variant: Variant, role: Role, asked: Asked, kind: int, end: int, filling: Filling) -> Outcome:
        """What a broker in a role answers, whose log ends there and has this where nothing was seen of it."""
        log = self._known.of(asked.broker, asked.partition).log
        runs = log.runs() if log.is_known else []
        cuts = (each for run in runs for each in (run.start, run.end))
        ruler = Ruler([asked.wanted.offset, end, min(filling.until, FAR), *cuts])
        scene = Scene(variant, {asked.broker, asked.sender}, ruler)
        scene.take_role(asked.broker, role)
        scene.has_log(asked.broker, epochs_of(ruler, runs, end, role.epoch, filling))
        epoch = role.epoch if asked.wanted.epoch is None else asked.wanted.epoch
        last = NO_EPOCH if asked.wanted.last is None else asked.wanted.last
        message = scene.is_asked(asked.broker, asked.sender, kind, epoch, asked.wanted.offset, last)
        b, f = scene.number(asked.broker), scene.number(asked.sender)
        own = scene.state.brokers[b]
        answer = variant.check(scene.state.network, f, own)
        (variant.serve_fetch if kind == FETCH else variant.serve_epochs)(scene.state, b, f)
        ends = (message.last, ruler.offset(message.end)) if message.kind in (DIVERGING, END) else None
        return Outcome(answer, names_of(answer, own.leader_epoch), ends, message.kind == RECORD)

    def of_epoch(self, asked: Asked, error: str, told: tuple[int | None, int]) -> str | None:
        """Why a broker does not answer so where an epoch ends: `told` is the epoch, if it was told, and the offset."""
        seen: dict[str, None] = {}
        least = self._known.of(asked.broker, asked.partition).log.least
        wanted = asked.wanted.last if asked.wanted.last is not None else NO_EPOCH
        claim = Filling(wanted if told[0] is None else told[0], told[1])
        for role in reversed(self._roles.of(asked.broker, asked.partition, asked.since, asked.until)):
            for variant in self._alive.get(asked.broker, self._variants):
                for end in (max(least, told[1]), FAR):
                    for filling in (claim, LATE, EARLY):
                        found = self.outcome(variant, role, asked, EPOCHS, end, filling)
                        seen[_words(asked.broker, role, found)] = None
                        if error in found.errors and (error != TAKEN or _tells(found.ends, told)):
                            return None
        return f"answered {error}, epoch {told[0]} ends at {told[1]}, where {', or '.join(seen)}"

    def why_not_records(self, replica: Replica, asked: Asked, role: Role, batches: tuple[Batch, ...]) -> str | None:
        """Why a leader does not give these records."""
        epochs = [each.epoch for each in batches]
        if epochs != sorted(epochs) or epochs and epochs[-1] > role.epoch:
            return f"gives records of leader epochs {epochs}, where broker {role.leader} leads in {role.epoch}"
        at = asked.wanted.offset
        records = self._known.records[asked.partition]
        if batches and end_of(batches[0]) <= at:
            return f"gives {words_of(batches[0])}, where records from offset {at} on were asked for"
        if batches and batches[0].base_offset > at and replica.log.is_known and (own := replica.log.at(at)):
            return f"gives {words_of(batches[0])}, where it has {words_of(own)}"
        for each in batches:
            if other := records.other_than(each):
                return f"gives {words_of(each)}, where the leader of that epoch wrote {words_of(other)}"
        return None


def _tells(ends: Ends | None, told: tuple[int | None, int]) -> bool:
    if ends is None:
        return False
    unknown = ends[0] == NO_EPOCH and told[1] < 0
    return unknown or told[1] == ends[1] and told[0] in (None, ends[0])


def _words(broker: int, role: Role, found: Outcome) -> str:
    leads = f"leads in leader epoch {role.epoch}" if role.leader == broker else f"follows in leader epoch {role.epoch}"
    has = leads if role.epoch >= 0 else "has no replica yet"
    more = ", with records" if found.has_records else ""
    where = f", epoch {found.ends[0]} ends at {found.ends[1]}" if found.ends and found.ends[1] < FAR else ""
    return f"it {has} and answers {' or '.join(found.errors)}{where}{more}"
