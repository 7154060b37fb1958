"""Calls the specification's election strategies with the broker ids of a log.

The specification numbers brokers from 0 and keeps sets as bit masks; here a set is a set and an
assignment a tuple of the log's ids. Every rule is the specification's.
"""

from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from kafkaproof.spec.kafka import strategies
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.partition.history import strategies as former

_REMEMBERED = 20_000
"""So many elections are remembered, of each strategy: a cluster has few assignments, ISRs and sets of live brokers."""


class Strategy(StrEnum):
    """By what a partition's state comes to what is written: an election, a removal, or a leader's proposal of an ISR."""

    NEW_TOPIC = "new_topic"
    OFFLINE = "offline"
    OFFLINE_UNCLEAN = "offline_unclean"
    PREFERRED = "preferred"
    REASSIGN = "reassign"
    CONTROLLED_SHUTDOWN = "controlled_shutdown"
    REMOVAL = "remove_from_isr"
    EPOCH_BUMP = "epoch_bump"
    ISR_EXPAND = "isr_expand"
    ISR_SHRINK = "isr_shrink"


class Elected(NamedTuple):
    """A leader and the new ISR."""

    leader: int
    isr: frozenset[int]


class _Sequence(NamedTuple):
    length: int
    slots: list[int]


class Elections:
    """The strategies, and which broker has which number in the specification."""

    def __init__(self):
        self._ids: list[int] = []
        self._numbers: dict[int, int] = {}
        elections = (self.new_topic, self.offline, self.reassign, self.preferred, self.controlled_shutdown)
        for method in (*elections, self.removal, self.old_removal):
            setattr(self, method.__name__, lru_cache(maxsize=_REMEMBERED)(method))

    def new_topic(self, assignment: tuple[int, ...], online: frozenset[int]) -> Elected | None:
        """The first state of a partition; None when no replica is online."""
        inputs = self._sequence(assignment), self._set(online)
        return self._elected(strategies.new_topic_leader(*inputs), lambda leader: strategies.new_topic_isr(*inputs))

    def offline(
        self, assignment: tuple[int, ...], isr: frozenset[int], online: frozenset[int], unclean: bool
    ) -> Elected | None:
        """The election of a partition without a leader; None when it fails."""
        sets = self._set(isr), self._set(online)
        leader = strategies.offline_leader(self._sequence(assignment), *sets, int(unclean))
        return self._elected(leader, lambda leader: strategies.offline_isr(*sets, leader))

    def reassign(self, target: tuple[int, ...], isr: frozenset[int], online: frozenset[int]) -> Elected | None:
        """The election at the end of a reassignment; None when it fails."""
        leader = strategies.reassign_leader(self._sequence(target), self._set(isr), self._set(online))
        return self._elected(leader, lambda leader: strategies.reassign_isr(self._set(isr)))

    def preferred(self, assignment: tuple[int, ...], isr: frozenset[int], online: frozenset[int]) -> Elected | None:
        """The preferred election; None when it fails."""
        leader = strategies.preferred_leader(self._sequence(assignment), self._set(isr), self._set(online))
        return self._elected(leader, lambda leader: strategies.preferred_isr(self._set(isr)))

    def controlled_shutdown(
        self,
        assignment: tuple[int, ...],
        isr: frozenset[int],
        online_or_leaving: frozenset[int],
        leaving: frozenset[int],
    ) -> Elected | None:
        """The election instead of a leader that is shutting down; None when it fails."""
        sets = self._set(isr), self._set(online_or_leaving), self._set(leaving)
        leader = strategies.controlled_shutdown_leader(self._sequence(assignment), *sets)
        return self._elected(leader, lambda leader: strategies.controlled_shutdown_isr(sets[0], sets[2]))

    def removal(self, leader: int, isr: frozenset[int], replica: int) -> Elected:
        """Leader, perhaps NOBODY, and ISR after a member of the ISR went offline."""
        of_isr = strategies.isr_after_removal(self._set(isr), self._number(replica))
        return Elected(strategies.leader_after_removal(leader, replica), self._members(of_isr))

    def old_removal(self, leader: int, isr: frozenset[int], replica: int) -> Elected:
        """The same up to 1.0 where unclean elections are enabled: the last member goes too."""
        of_isr = former.isr_after_removal_or_empty(self._set(isr), self._number(replica), 1)
        return Elected(strategies.leader_after_removal(leader, replica), self._members(of_isr))

    def may_be_recovering(self, was_recovering: bool, isr: frozenset[int], written: Elected) -> bool:
        """Whether a state may be written as RECOVERING; `isr`: that before it."""
        leader = NOBODY if written.leader == NOBODY else self._number(written.leader)
        return strategies.may_be_recovering(was_recovering, self._set(isr), leader, self._set(written.isr))

    def _elected(self, leader: int, isr_of) -> Elected | None:
        if leader == NOBODY:
            return None
        return Elected(self._ids[leader], self._members(isr_of(leader)))

    def _number(self, broker: int) -> int:
        if broker not in self._numbers:
            self._numbers[broker] = len(self._ids)
            self._ids.append(broker)
        return self._numbers[broker]

    def _sequence(self, brokers: tuple[int, ...]) -> _Sequence:
        return _Sequence(len(brokers), [self._number(broker) for broker in brokers])

    def _set(self, brokers: Iterable[int]) -> int:
        return sum(1 << self._number(broker) for broker in brokers)

    def _members(self, bits: int) -> frozenset[int]:
        return frozenset(broker for number, broker in enumerate(self._ids) if bits >> number & 1)
