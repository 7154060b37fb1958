"""Judges what producers are answered: where their batches stand, and when they are acknowledged."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from kafkaproof.spec.language.plain import new_state
from kafkaproof.spec.protocol.batches import NO_PRODUCER, Batch
from kafkaproof.spec.replica.errors import TAKEN, names_of
from kafkaproof.spec.replica.producing.model import scope
from kafkaproof.spec.replica.producing.sequences import (
    DUPLICATE,
    ENTRY,
    RETAINED,
    UNKNOWN,
    Verdict,
    judge,
    note,
    offset_of,
)
from kafkaproof.spec.replica.zookeeper import NOT_LEADER, OK
from kafkaproof.traces.wire.history import Partition
from kafkaproof.traces.wire.replica.known import Known
from kafkaproof.traces.wire.replica.leaders import Asked, Leaders
from kafkaproof.traces.wire.replica.logs import FAR, end_of, words_of
from kafkaproof.traces.wire.replica.roles import Role, Roles
from kafkaproof.traces.wire.replica.stage import is_refused

_SENT_ALL = -1
_TOO_FEW = ("NOT_ENOUGH_REPLICAS", "NOT_ENOUGH_REPLICAS_AFTER_APPEND")
_SEQUENCES = {"DUPLICATE_SEQUENCE_NUMBER": "OUT_OF_ORDER_SEQUENCE_NUMBER"}
"""Errors that stand for others."""


class Sent(NamedTuple):
    """A batch that a producer has sent, and how it was answered; `least`: where the log ended at least when it was sent."""

    batch: Batch
    acks: int
    error: str
    base: int
    least: int


class Producers:
    """What producers have sent to each leader."""

    def __init__(self, known: Known, roles: Roles, leaders: Leaders):
        self._known, self._roles, self._leaders = known, roles, leaders
        self._needed: dict[tuple[Partition, int], frozenset[int]] = {}
        self._unsure: set[tuple[Partition, int]] = set()
        self._tried: set[tuple[Partition, object]] = set()

    def lost(self, partition: Partition, batch: Batch) -> None:
        """Nobody saw how a batch was answered."""
        self._unsure.add((partition, batch.producer.id))
        self._tried.add((partition, batch.producer))

    def why_not(self, asked: Asked, sent: Sent) -> str | None:
        """Why a broker does not answer a batch so."""
        why = self._why_not(asked, sent)
        if sent.error != TAKEN:
            self._tried.add((asked.partition, sent.batch.producer))
        return why

    def _why_not(self, asked: Asked, sent: Sent) -> str | None:
        roles = self._roles.of(asked.broker, asked.partition, asked.since, asked.until)
        leading = [each for each in roles if each.leader == asked.broker]
        if sent.error in self._refusals(asked.broker, roles):
            return None
        if sent.error in names_of(NOT_LEADER, roles[-1].epoch):
            return f"answered {sent.error}, where it leads in leader epoch {roles[-1].epoch}"
        if not leading:
            epoch = max(each.epoch for each in roles)
            return f"answered {sent.error}, where it does not lead (leader epoch {epoch})"
        role = leading[-1]
        if sent.acks == _SENT_ALL and (why := self._why_not_enough(asked, role, sent)):
            return why
        if why := self._why_not_in_order(asked, role, sent):
            return why
        return self._why_not_placed(asked, leading, sent) if sent.error == TAKEN else None

    def _refusals(self, broker: int, roles: list[Role]) -> set[str]:
        """The errors of a broker that does not lead."""
        return {name for role in roles if role.leader != broker for name in names_of(NOT_LEADER, role.epoch)}

    def _why_not_enough(self, asked: Asked, role: Role, sent: Sent) -> str | None:
        """Why the ISR is not as large, or as small, as the answer says: one number is enough, all the time."""
        if sent.error != TAKEN and sent.error not in _TOO_FEW:
            return None
        isrs = self._roles.isrs(role, asked.partition, asked.since, asked.until)
        members = self._roles.members(role, asked.partition)
        key = asked.partition, self._roles.configured_at(asked.since)
        needed = self._needed.get(key, frozenset(range(1, len(members) + 2)))
        refused = sent.error in _TOO_FEW
        still = {n for n in needed if any(is_refused(len(isr), n) == refused for isr in isrs)}
        if not still:
            told = " or ".join(sorted(str(sorted(isr)) for isr in isrs))
            return f"answered {sent.error} with the ISR {told}, where min.insync.replicas is {_least_of(needed)}"
        self._needed[key] = frozenset(still)
        return None

    # Where it stands

    def _why_not_placed(self, asked: Asked, leading: list[Role], sent: Sent) -> str | None:
        """Why a batch does not stand at the offset that its producer was told. One that was refused before may stand in the log
        all the same: its former leader had appended it, and replicas had fetched it.
        """
        replica, records = self._known.of(asked.broker, asked.partition), self._known.records[asked.partition]
        if sent.base < 0:
            return None
        epochs = {each.epoch for each in leading}
        placed = [replace(sent.batch, base_offset=sent.base, epoch=epoch) for epoch in sorted(epochs)]
        again = replica.log.at(sent.base)
        is_repeated = NO_PRODUCER != sent.batch.producer.id and (
            again.producer == sent.batch.producer if again else (asked.partition, sent.batch.producer) in self._tried
        )
        if not is_repeated and replica.log.is_known and sent.base < sent.least:
            return f"answered offset {sent.base}, where its log ended at {sent.least} or later"
        if sent.acks == _SENT_ALL and (why := self._why_not_acknowledged(asked, leading[-1], placed[-1])):
            return why
        if is_repeated:
            return None
        others = [other for each in placed if (other := records.other_than(each))]
        wrong = [each for each in others if records.keeps or not _looks_like(each, sent.batch)]
        if len(wrong) == len(placed):
            return f"answered offset {sent.base}, where the leader of that epoch wrote {words_of(wrong[-1])}"
        if len(placed) == 1 and not others:
            replica.log.add(placed[0])
        return None

    def _why_not_acknowledged(self, asked: Asked, role: Role, batch: Batch) -> str | None:
        """Why not all replicas have a batch that is acknowledged with acks=all."""
        replica = self._known.of(asked.broker, asked.partition)
        replica.hw_most = self._leaders.ceiling(
            asked.broker, asked.partition, role, asked.since, asked.until, replica.hw_most
        )
        if end_of(batch) > replica.hw_most:
            return f"acknowledged {words_of(batch)}, where its ISR has fetched up to {replica.hw_most}"
        replica.hw_least = max(replica.hw_least, end_of(batch))
        if replica.hw_most == FAR:
            replica.hw_most = self._leaders.ceiling(
                asked.broker, asked.partition, role, asked.since, asked.until, end_of(batch)
            )
        return None

    # Sequence numbers

    def _why_not_in_order(self, asked: Asked, role: Role, sent: Sent) -> str | None:
        """Why a leader does not answer so by the sequence numbers of a producer that it knows."""
        producer, replica = sent.batch.producer, self._known.of(asked.broker, asked.partition)
        if producer.id == NO_PRODUCER or (asked.partition, producer.id) in self._unsure:
            return None
        known = replica.log.of_producer(producer.id, role.epoch, RETAINED)
        if not known or not replica.log.is_known:
            return None
        entry = new_state(ENTRY, scope(in_flight=RETAINED))
        entry.epoch = UNKNOWN
        for each in known:
            note(entry, each.producer.epoch, each.producer.first, each.producer.last, each.base_offset)
        found = judge(entry, producer.epoch, producer.first, producer.last)
        error = _SEQUENCES.get(sent.error, sent.error)
        if found == DUPLICATE and error == TAKEN and sent.base not in (-1, offset_of(entry, producer.first)):
            return f"answered offset {sent.base} to a batch that stands at offset {offset_of(entry, producer.first)}"
        allowed = TAKEN if found in (OK, DUPLICATE) else Verdict.names[found]
        if error != allowed and (error == TAKEN or error in Verdict.names):
            last = known[-1].producer.last
            return (
                f"answered {sent.error} to sequence numbers {producer.first} to {producer.last} of producer "
                f"{producer.id}, whose last was {last}: a leader answers {allowed}"
            )
        return None


def _looks_like(other: Batch, batch: Batch) -> bool:
    """Whether a batch may be another that its leader has compressed or stamped."""
    return (other.count, other.producer) == (batch.count, batch.producer)


def _least_of(needed: frozenset[int]) -> str:
    return " or ".join(map(str, sorted(needed)))
