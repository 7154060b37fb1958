"""How brokers answer LeaderAndIsr, UpdateMetadata and StopReplica: as the specification's receiver does, by what it may
remember. A process that begins anew remembers nothing; one that registers again, all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

from kafkaproof.spec.election.requests import is_stale
from kafkaproof.spec.kafka.control_requests import Error
from kafkaproof.spec.language.rebind import rebind
from kafkaproof.spec.partition.context import NO_EPOCH
from kafkaproof.spec.partition.metadata import cache, halting
from kafkaproof.spec.partition.replica import become_error, knows_as_alive, may_become
from kafkaproof.spec.requests.broker import is_former
from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.explain.partitions.sent import LEADER_AND_ISR, STOP_REPLICA, UPDATE_METADATA
from kafkaproof.traces.wire.control.entries import DURING_DELETE, Entry, alive_in, entries_of, id_text, name_of
from kafkaproof.traces.wire.exchanges import Exchange
from kafkaproof.traces.wire.history import History

_MAY_BECOME = rebind(may_become, {knows_as_alive: cache.knows_as_alive})
_NONE, _STORAGE = "NONE", "KAFKA_STORAGE_ERROR"
_SOON = 1_000
"""By so many ms the moment of a registration may differ from when its broker knows of it."""
_MOST = 64
"""So many memories of a broker are followed."""
Errors = dict[tuple[str, int], str]


@dataclass(frozen=True)
class Memory:
    """What a broker may remember: the highest controller epoch, who is live (bits), and the leader epoch of each replica."""

    seen_epoch: int = 0
    alive: int = 0
    leader_epochs: dict[tuple[str, int], int] = field(default_factory=dict)

    @property
    def broker(self) -> SimpleNamespace:
        """It, as a record that the specification's functions read."""
        return SimpleNamespace(seen_epoch=self.seen_epoch, metadata=SimpleNamespace(alive=self.alive))

    def replica(self, partition: tuple[str, int]) -> SimpleNamespace:
        """A replica, as such a record; its log directory works."""
        return SimpleNamespace(failed=0, leader_epoch=self.leader_epochs.get(partition, NO_EPOCH))


class Answers:
    """The brokers that answer, and what each may remember."""

    def __init__(self, history: History, features: Features, exchanges: Iterable[Exchange]):
        self._history = history
        self._stop_errors = [rebind(halting.stop_error, {halting.is_in_time: each}) for each in features.stopping]
        self._to: dict[int | None, list[Exchange]] = {}
        for each in exchanges:
            self._to.setdefault(each.broker, []).append(each)
        self._memories: dict[int, list[Memory]] = {}
        self._lives: dict[int, int] = {}

    def why_not(self, exchange: Exchange) -> str | None:
        """Why no broker answers in this way; None where one does, or nothing was answered."""
        if exchange.broker is None or exchange.is_lost:
            return None
        known = self._known(exchange.broker, exchange)
        if exchange.told is None:
            self._memories[exchange.broker] = _distinct([*known, *self._if_heard(exchange, known)])
            return None
        whole, errors = exchange.told["error_code"].name.upper(), errors_in(exchange)
        expected = []
        fitting: list[Memory] = []
        for memory in [*(known or [Memory()]), *self._beside(exchange, known)]:
            for refusal in self._refusals(exchange, memory):
                for own, after in self._outcomes(exchange, memory) if refusal == _NONE else [({}, memory)]:
                    if _fits((whole, errors), (refusal, own)):
                        fitting.append(after)
                    expected.append((refusal, own))
        self._memories[exchange.broker] = _distinct(fitting) or [Memory(exchange.asked["controller_epoch"])]
        if fitting or not known or not _all_known(whole, errors):
            return None
        refusals = {refusal for refusal, _ in expected}
        told = " or ".join(sorted(dict.fromkeys(f"{refusal} {_words(own)}".strip() for refusal, own in expected)))
        if whole not in refusals:
            return f"answered {whole}, where broker {exchange.broker} answers {told}"
        return f"answered {whole} {_words(errors)}, where broker {exchange.broker} answers {told}"

    def _beside(self, exchange: Exchange, known: list[Memory]) -> Iterator[Memory]:
        """What is remembered if requests on other connections that waited at the same time were handled first."""
        for each in self._to[exchange.broker]:
            epoch = each.asked["controller_epoch"]
            waits = (
                each.answered is not None and each.time <= (exchange.answered or 0) and each.answered >= exchange.time
            )
            if waits and each.connection != exchange.connection:
                yield from (replace(memory, seen_epoch=epoch) for memory in known if memory.seen_epoch < epoch)

    def _if_heard(self, exchange: Exchange, known: list[Memory]) -> Iterator[Memory]:
        """What is remembered if a request was handled whose answer nobody has seen."""
        for memory in known:
            if _NONE in self._refusals(exchange, memory):
                yield from (after for _, after in self._outcomes(exchange, memory))

    def _known(self, broker: int, exchange: Exchange) -> list[Memory]:
        """What a broker may remember now: when it has registered again, it may have begun anew."""
        life = max((each.zxid for each in self._history.lives_of(broker) if each.time <= exchange.time), default=0)
        found = self._memories.setdefault(broker, [])
        if life != self._lives.get(broker):
            self._lives[broker] = life
            if found or exchange.time > self._first_time(broker):
                found = self._memories[broker] = [*found, Memory()]
        return found

    def _first_time(self, broker: int) -> int:
        return min((each.time for each in self._history.lives_of(broker)), default=0)

    def _refusals(self, exchange: Exchange, memory: Memory) -> Iterator[str]:
        """The errors with which a request may be refused as a whole, NONE where it may be accepted."""
        epoch, asked = exchange.asked.get("broker_epoch", -1), exchange.asked["controller_epoch"]
        times = exchange.time - _SOON, (exchange.answered or exchange.time) + _SOON
        own = [each for each in self._history.lives_of(exchange.broker or 0) if each.time <= times[1]]
        current = {epoch < 0 or epoch >= each.zxid for each in own if each is own[-1] or each.time >= times[0]}
        if len(own) > 1 and own[-1].time >= times[0]:
            current.add(epoch < 0 or epoch >= own[-2].zxid)
        for each in current or {True}:
            if is_former(each):
                yield "STALE_BROKER_EPOCH"
            else:
                yield "STALE_CONTROLLER_EPOCH" if is_stale(memory.broker, asked) else _NONE

    def _outcomes(self, exchange: Exchange, memory: Memory) -> Iterator[tuple[Errors, Memory]]:
        """What a request that is accepted is answered for each partition, and what is remembered then."""
        epoch = exchange.asked["controller_epoch"]
        accepted = replace(memory, seen_epoch=epoch)
        entries = list(entries_of(exchange))
        if exchange.api == UPDATE_METADATA:
            yield {}, replace(accepted, alive=sum(1 << broker for broker in alive_in(exchange)))
        elif exchange.api == LEADER_AND_ISR:
            yield self._led(exchange, accepted, entries)
        elif exchange.api == STOP_REPLICA:
            for stop_error in self._stop_errors:
                errors = {
                    e.partition: Error.names[stop_error(memory.replica(e.partition), _stop_epoch(e))] for e in entries
                }
                gone = {e.partition for e in entries if e.kind == STOP_REPLICA and errors[e.partition] == _NONE}
                left = {p: epoch for p, epoch in memory.leader_epochs.items() if p not in gone}
                yield errors, replace(accepted, leader_epochs=left)

    def _led(self, exchange: Exchange, memory: Memory, entries: list[Entry]) -> tuple[Errors, Memory]:
        errors, epochs = {}, dict(memory.leader_epochs)
        for entry in entries:
            leader_epoch = entry.leader_epoch or 0
            errors[entry.partition] = Error.names[become_error(memory.replica(entry.partition), leader_epoch)]
            leader = entry.elected.leader if entry.elected else NO_EPOCH
            if errors[entry.partition] == _NONE and _MAY_BECOME(memory.broker, exchange.broker, leader):
                epochs[entry.partition] = leader_epoch
        return errors, replace(memory, leader_epochs=epochs)


def _stop_epoch(entry: Entry) -> int:
    """The leader epoch of a StopReplica as the specification has it."""
    return NO_EPOCH if entry.leader_epoch in (None, DURING_DELETE) else entry.leader_epoch or 0


def errors_in(exchange: Exchange) -> Errors:
    """The error of each partition that an answer names."""
    told = exchange.told or {}
    names = {id_text(t.get("topic_id")): t["topic_name"] for t in exchange.asked.get("topic_states", ())}
    found = {
        (each["topic_name"], each["partition_index"]): each["error_code"].name.upper()
        for each in told.get("partition_errors", ())
    }
    for topic in told.get("topics", ()):
        name = names.get(id_text(topic["topic_id"]), "")
        found |= {
            (name, each["partition_index"]): each["error_code"].name.upper() for each in topic["partition_errors"]
        }
    return found


def _fits(told: tuple[str, Errors], expected: tuple[str, Errors]) -> bool:
    """Whether an answer is the one that is expected; a log directory may have failed, and partitions may be left out where
    all is refused.
    """
    if told[0] != expected[0]:
        return False
    if told[0] != _NONE:
        return True
    same = told[1].keys() == expected[1].keys()
    return same and all(error in (expected[1][partition], _STORAGE) for partition, error in told[1].items())


def _all_known(whole: str, errors: Errors) -> bool:
    """Whether the specification has all errors of an answer."""
    return {whole, *errors.values()} <= set(Error.names)


def _words(errors: Errors) -> str:
    return ", ".join(f"{name_of(partition)}: {error}" for partition, error in sorted(errors.items()) if error != _NONE)


def _distinct(memories: list[Memory]) -> list[Memory]:
    """Memories, each once."""
    found: list[Memory] = []
    for each in memories:
        if each not in found:
            found.append(each)
    return found[:_MOST]
