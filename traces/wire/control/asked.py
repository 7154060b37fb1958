"""What brokers ask of controllers on the wire: a controlled shutdown, another ISR."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from kafkaproof.traces.explain.partitions.sent import LEADER_AND_ISR
from kafkaproof.traces.wire.control.answers import errors_in
from kafkaproof.traces.wire.control.entries import id_text
from kafkaproof.traces.wire.exchanges import Exchange
from kafkaproof.traces.wire.history import History, Reign

ALTER_PARTITION, CONTROLLED_SHUTDOWN = "AlterPartition", "ControlledShutdown"
_STORAGE = "KAFKA_STORAGE_ERROR"


class Proposal(NamedTuple):
    """What an AlterPartition asks for one partition."""

    topic: str | None
    number: int
    isr: frozenset[int]
    leader_epoch: int
    version: int

    @property
    def partition(self) -> tuple[str, int]:
        """The partition, of a topic that is known."""
        return self.topic or "", self.number


class Asked:
    """The requests that reached brokers, by whoever ruled then."""

    def __init__(self, exchanges: Sequence[Exchange], history: History):
        self._all = [
            each for each in exchanges if each.api in (ALTER_PARTITION, CONTROLLED_SHUTDOWN) and not each.is_lost
        ]
        self._failed: dict[tuple[int, tuple[str, int]], list[Exchange]] = defaultdict(list)
        for each in exchanges:
            for partition, error in errors_in(each).items() if each.api == LEADER_AND_ISR else ():
                if error == _STORAGE:
                    self._failed[each.asked["controller_epoch"], partition].append(each)
        self._history = history
        self._names = {id: topic for topic in history.topics for id in history.topic_ids(topic)}

    def _to(self, reign: Reign, api: str) -> Iterator[Exchange]:
        return (each for each in self._all if each.api == api and each.broker == reign.broker)

    def shutdowns(self, reign: Reign) -> Iterator[Exchange]:
        """The requests of brokers that want to be shut down, to the controller of a term."""
        return (each for each in self._to(reign, CONTROLLED_SHUTDOWN) if each.time >= reign.time - 1)

    def leaving(self, reign: Reign, time: int) -> frozenset[int]:
        """Who had asked it for that until a time, and has not registered again since."""
        found = set()
        for each in self.shutdowns(reign):
            broker = each.asked["broker_id"]
            again = any(each.time < life.time <= time for life in self._history.lives_of(broker))
            if each.time <= time + 1000 and not again:
                found.add(broker)
        return frozenset(found)

    def proposals(self, reign: Reign, partition: tuple[str, int]) -> Iterator[Exchange]:
        """The requests for another ISR of a partition that reached the controller of a term."""
        for each in self._to(reign, ALTER_PARTITION):
            if each.time >= reign.time - 1 and each.time <= reign.end_time:
                if any((p.topic, p.number) == partition for p in self.in_request(each)):
                    yield each

    def failures(self, reign: Reign, partition: tuple[str, int]) -> list[Exchange]:
        """The LeaderAndIsr of a term to brokers that answered that the log directory of a partition has failed."""
        return self._failed.get((reign.epoch, partition), [])

    def in_request(self, exchange: Exchange) -> Iterator[Proposal]:
        """What an AlterPartition asks for."""
        for topic in exchange.asked["topics"]:
            for each in topic["partitions"]:
                yield Proposal(
                    self.topic_of(topic),
                    each["partition_index"],
                    isr_in(each),
                    each["leader_epoch"],
                    each["partition_epoch"],
                )

    def topic_of(self, named: dict[str, Any]) -> str | None:
        """The topic that a request or an answer names, or whose id it has."""
        return named.get("topic_name") or self._names.get(id_text(named.get("topic_id")) or "")


def isr_in(said: dict[str, Any]) -> frozenset[int]:
    """The ISR that a leader asks for."""
    members = said.get("new_isr")
    return frozenset(members if members is not None else (each["broker_id"] for each in said["new_isr_with_epochs"]))
