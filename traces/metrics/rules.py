"""What one partition of a log counts for, by the rules of the specification (`spec/metrics/rules.py`).

The specification numbers brokers from 0 and keeps sets as bit masks; here are the log's ids and tuples.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from spec.language.domains import NOBODY
from spec.metrics import rules
from traces.contents import PartitionState
from traces.assignments import Assignment


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
        self.counted = lru_cache(maxsize=_REMEMBERED)(self.counted)
        self.changed = lru_cache(maxsize=_REMEMBERED)(self.changed)

    def counted(self, state: PartitionState | None, assigned: Assignment, registered: frozenset[int], deleting: bool,
                listed: bool, min_isr: int | None) -> Counted:
        """What a partition counts for.

        `state` is None before the first; `listed`: in /admin/reassign_partitions; `min_isr` is None where the log does
        not say it. A topic whose deletion is requested (`deleting`) counts neither as offline nor as out of balance.
        """
        reassigning = int(bool(assigned.adding or assigned.removing or listed))
        if state is None:
            return Counted(reassigning=reassigning)
        isr, adding, leader = self._set(state.isr), self._set(assigned.adding), self._number(state.leader)
        led = rules.is_led(leader, self._set(registered))
        preferred = self._number(assigned.replicas[0])
        imbalanced = rules.is_imbalanced(preferred, leader, isr, adding)
        small = rules.is_under_replicated(isr, self._set(assigned.replicas), adding, len(self._numbers))
        return Counted(
            offline_partitions=int(not led and not deleting),
            under_replicated=int(led and small),
            under_min_isr=int(led and min_isr is not None and len(state.isr) < min_isr),
            at_min_isr=int(led and min_isr is not None and len(state.isr) == min_isr),
            preferred_imbalance=int(imbalanced and not deleting),
            reassigning=reassigning,
        )

    def changed(self, before: PartitionState | None, after: PartitionState) -> dict[str, int]:
        """What the writing of a state adds to the counters, by the names of the metrics."""
        leader = self._number(after.leader)
        if before is None:
            return {"leader_elections": int(rules.is_election(NOBODY, leader))}
        elected = rules.is_election(self._number(before.leader), leader)
        isr, new_isr = self._set(before.isr), self._set(after.isr)
        wished = before.leader_epoch == after.leader_epoch
        return {
            "leader_elections": int(elected),
            "unclean_elections": int(elected and rules.is_unclean(isr, leader)),
            "isr_shrinks": int(wished and rules.lost(isr, new_isr)),
            "isr_expands": int(wished and rules.gained(isr, new_isr)),
        }

    def _number(self, broker: int) -> int:
        return NOBODY if broker == NOBODY else self._numbers.setdefault(broker, len(self._numbers))

    def _set(self, brokers: Iterable[int]) -> int:
        return sum(1 << self._number(broker) for broker in set(brokers))
