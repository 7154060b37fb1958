"""What one partition of a log counts for, by the rules of the specification (`spec/metrics/rules.py`).

The specification numbers brokers from 0 and keeps sets as bit masks; here are the log's ids and tuples.
"""

from collections.abc import Iterable
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.metrics import rules
from kafkaproof.traces.reading.state_records import Codes, Held
from kafkaproof.traces.zookeeper.znodes.assignments import Assignment


class Counted(NamedTuple):
    """For what a partition counts, 0 or 1 each; by the names of the metrics."""

    offline_partitions: int = 0
    under_replicated: int = 0
    under_min_isr: int = 0
    at_min_isr: int = 0
    preferred_imbalance: int = 0
    reassigning: int = 0


class Changes(NamedTuple):
    """The counters that the writing of a state adds one to, 0 or 1 each; by the names of the metrics."""

    leader_elections: int = 0
    unclean_elections: int = 0
    isr_shrinks: int = 0
    isr_expands: int = 0


class Situation(NamedTuple):
    """What a partition counts for something by, beside its state and the registered brokers.

    `deleting`: the deletion of its topic is requested; `listed`: it is in /admin/reassign_partitions; `min_isr` is None
    where the log does not say it.
    """

    assigned: Assignment
    deleting: bool
    listed: bool
    min_isr: int | None


COUNTED = tuple(map(Counted._make, product((0, 1), repeat=len(Counted._fields))))
CHANGES = tuple(map(Changes._make, product((0, 1), repeat=len(Changes._fields))))
"""All that a partition can count for, and that a state can add to: a code is a place in these."""
NOTHING = COUNTED[0]
_REMEMBERED = 100_000


class Rules:
    """The rules for one cluster, for codes of `held` and of `situations`; it knows which broker has which number."""

    def __init__(self):
        self.held, self.situations = Codes[Held](), Codes[Situation]()
        self._numbers: dict[int, int] = {}
        for name in ("counted", "changed"):
            setattr(self, name, lru_cache(maxsize=_REMEMBERED)(getattr(self, name)))

    def counted(self, held: int | None, situation: int | None, registered: frozenset[int]) -> int:
        """The code of what a partition counts for.

        `held` is None without a state; `situation` is None for a partition that no topic has, which counts for nothing.
        A topic whose deletion is requested counts neither as offline nor as out of balance.
        """
        if situation is None:
            return COUNTED.index(NOTHING)
        assigned, deleting, listed, min_isr = self.situations.values[situation]
        reassigning = int(bool(assigned.adding or assigned.removing or listed))
        if held is None:
            return COUNTED.index(Counted(reassigning=reassigning))
        leader, isr = self.held.values[held]
        members, adding = self._set(isr), self._set(assigned.adding)
        led = rules.is_led(self._number(leader), self._set(registered))
        preferred = self._number(assigned.replicas[0])
        imbalanced = rules.is_imbalanced(preferred, self._number(leader), members, adding)
        small = rules.is_under_replicated(members, self._set(assigned.replicas), adding, len(self._numbers))
        return COUNTED.index(
            Counted(
                offline_partitions=int(not led and not deleting),
                under_replicated=int(led and small),
                under_min_isr=int(led and min_isr is not None and len(isr) < min_isr),
                at_min_isr=int(led and min_isr is not None and len(isr) == min_isr),
                preferred_imbalance=int(imbalanced and not deleting),
                reassigning=reassigning,
            )
        )

    def changed(self, former: int | None, held: int, proposed: bool) -> int:
        """The code of the counters that the writing of a state adds one to.

        `former` is what was held before it, None for the first state; `proposed`: the leader epoch stays.
        """
        leader, after = self.held.values[held]
        number = self._number(leader)
        if former is None:
            return CHANGES.index(Changes(leader_elections=int(rules.is_election(NOBODY, number))))
        before, isr = self.held.values[former]
        elected = rules.is_election(self._number(before), number)
        members, new = self._set(isr), self._set(after)
        return CHANGES.index(
            Changes(
                leader_elections=int(elected),
                unclean_elections=int(elected and rules.is_unclean(members, number)),
                isr_shrinks=int(proposed and rules.lost(members, new)),
                isr_expands=int(proposed and rules.gained(members, new)),
            )
        )

    def _number(self, broker: int) -> int:
        return NOBODY if broker == NOBODY else self._numbers.setdefault(broker, len(self._numbers))

    def _set(self, brokers: Iterable[int]) -> int:
        return sum(1 << self._number(broker) for broker in set(brokers))
