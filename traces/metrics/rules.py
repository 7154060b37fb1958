"""What one partition of a log counts for, by the rules of the specification (`spec/metrics/rules.py`).

The specification numbers brokers from 0 and keeps sets as bit masks; here are the log's ids and tuples.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from spec.language.domains import NOBODY
from spec.metrics import rules
from traces.znodes.assignments import Assignment


class Counted(NamedTuple):
    """For what a partition counts, 0 or 1 each; by the names of the metrics."""

    offline_partitions: int = 0
    under_replicated: int = 0
    under_min_isr: int = 0
    at_min_isr: int = 0
    preferred_imbalance: int = 0
    reassigning: int = 0


NOTHING = Counted()
_REMEMBERED = 100_000


class Rules:
    """The rules for one cluster: it remembers which broker has which number."""

    def __init__(self):
        self._numbers: dict[int, int] = {}
        for name in ("is_led", "counted", "changed"):
            setattr(self, name, lru_cache(maxsize=_REMEMBERED)(getattr(self, name)))

    def is_led(self, leader: int, registered: frozenset[int]) -> bool:
        """Whether a leader is registered."""
        return rules.is_led(self._number(leader), self._set(registered))

    def counted(self, leader: int | None, isr: tuple[int, ...], assigned: Assignment, led: bool, deleting: bool,
                listed: bool, min_isr: int | None) -> Counted:
        """What a partition counts for by its state.

        `leader` is None before the first state; `led`: the leader is registered; `listed`: in
        /admin/reassign_partitions; `min_isr` is None where the log does not say it. A topic whose deletion is requested
        (`deleting`) counts neither as offline nor as out of balance.
        """
        reassigning = int(bool(assigned.adding or assigned.removing or listed))
        if leader is None:
            return Counted(reassigning=reassigning)
        members, adding = self._set(isr), self._set(assigned.adding)
        preferred = self._number(assigned.replicas[0])
        imbalanced = rules.is_imbalanced(preferred, self._number(leader), members, adding)
        small = rules.is_under_replicated(members, self._set(assigned.replicas), adding, len(self._numbers))
        return Counted(
            offline_partitions=int(not led and not deleting),
            under_replicated=int(led and small),
            under_min_isr=int(led and min_isr is not None and len(isr) < min_isr),
            at_min_isr=int(led and min_isr is not None and len(isr) == min_isr),
            preferred_imbalance=int(imbalanced and not deleting),
            reassigning=reassigning,
        )

    def changed(self, former: int | None, isr: tuple[int, ...], leader: int, after: tuple[int, ...],
                wished: bool) -> tuple[str, ...]:
        """The counters that the writing of a state adds one to.

        `former` is the leader before it, None for the first state; `isr` and `after`: the ISR before and after it;
        `wished`: the leader epoch stays.
        """
        number = self._number(leader)
        if former is None:
            return _those(leader_elections=rules.is_election(NOBODY, number))
        elected = rules.is_election(self._number(former), number)
        members, new = self._set(isr), self._set(after)
        return _those(
            leader_elections=elected,
            unclean_elections=elected and rules.is_unclean(members, number),
            isr_shrinks=wished and rules.lost(members, new),
            isr_expands=wished and rules.gained(members, new),
        )

    def _number(self, broker: int) -> int:
        return NOBODY if broker == NOBODY else self._numbers.setdefault(broker, len(self._numbers))

    def _set(self, brokers: Iterable[int]) -> int:
        return sum(1 << self._number(broker) for broker in set(brokers))


def _those(**counters: bool) -> tuple[str, ...]:
    return tuple(name for name, counts in counters.items() if counts)
