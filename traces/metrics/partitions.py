"""The partitions of a log: what each counts for, and how often what was written to their states has been counted."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from kafkaproof.traces.evidence.state_changes import Partition
from kafkaproof.traces.metrics.rules import CHANGES, COUNTED, Changes, Counted, Rules, Situation
from kafkaproof.traces.reading.state_records import Held, Names, StateWrites
from kafkaproof.traces.zookeeper.znodes.contents import PartitionState

OF_STATES = (*Counted._fields, *Changes._fields)
"""The metrics that writing a state can change."""
_COUNTED, _CHANGES = np.array(COUNTED), np.array(CHANGES)
_UNCLEAN = Changes._fields.index("unclean_elections")


class Written(NamedTuple):
    """What writes of states made of metrics, by columns with a row for each write.

    `before`, `after`: places in COUNTED, what the partition counted for before the write, and since; `values`: the
    metrics OF_STATES after it.
    """

    before: np.ndarray
    after: np.ndarray
    values: np.ndarray


class _Kept:
    """What is kept of a partition: codes of what its state holds and of its situation, what it counts for by both."""

    __slots__ = ("held", "leader_epoch", "situation", "counted")

    def __init__(self):
        self.held = self.leader_epoch = self.situation = None
        self.counted = 0


class Partitions:
    """All partitions that there were; `assigned`: those that a topic has, which alone count for anything.

    `registered`: the brokers that are; `totals`, `changes`: sums of what partitions count for, and of what states have
    added to counters; `unclean_by_epoch`: unclean elections by the controller epoch in the state written; `named`: the
    partition by each code of a sweep's states.
    """

    def __init__(self):
        self._rules, self._kept, self.assigned = Rules(), dict[Partition, _Kept](), dict[Partition, _Kept]()
        self.registered: frozenset[int] = frozenset()
        self.totals = [0] * len(Counted._fields)
        self.named: list[Partition] = []
        self._kept_by_name: list[_Kept] = []
        self._held_by_name: list[int] = []
        self.forget()

    def forget(self) -> None:
        """What has been written so far does not count."""
        self.changes, self.unclean_by_epoch = [0] * len(Changes._fields), Counter()

    def counted(self, partition: Partition) -> Counted:
        """What a partition counts for since it was last counted."""
        return COUNTED[self._of(partition).counted]

    def led_by(self, brokers: frozenset[int]) -> set[Partition]:
        """The assigned partitions whose leader is one of some brokers."""
        held = self._rules.held.values
        return {
            partition
            for partition, kept in self.assigned.items()
            if kept.held is not None and held[kept.held].leader in brokers
        }

    def set_state(self, partition: Partition, state: PartitionState | None) -> None:
        """The state of a partition is this now, or gone (None); what it counts for waits for `count`."""
        kept = self._of(partition)
        if state is None:
            kept.held = kept.leader_epoch = None
            return
        held = self._rules.held.of(Held(state.leader, state.isr))
        changes = CHANGES[self._rules.changed(kept.held, held, kept.leader_epoch == state.leader_epoch)]
        kept.held, kept.leader_epoch = held, state.leader_epoch
        self.changes = [count + more for count, more in zip(self.changes, changes)]
        if changes.unclean_elections:
            self.unclean_by_epoch[state.controller_epoch] += 1

    def situate(self, partition: Partition, situation: Situation | None) -> None:
        """A partition is in this situation now, None where no topic has it; what it counts for waits for `count`."""
        kept = self._of(partition)
        if situation is None:
            kept.situation = None
            self.assigned.pop(partition, None)
        else:
            kept.situation = self._rules.situations.of(situation)
            self.assigned[partition] = kept

    def count(self, partitions: Iterable[Partition]) -> dict[Partition, Counted]:
        """Count partitions anew; returns those that count for something else than before."""
        found = {}
        for partition in partitions:
            kept = self._of(partition)
            before, kept.counted = kept.counted, self._rules.counted(kept.held, kept.situation, self.registered)
            if kept.counted != before:
                old, new = COUNTED[before], COUNTED[kept.counted]
                self.totals = [total - less + more for total, less, more in zip(self.totals, old, new)]
                found[partition] = new
        return found

    def set_states(self, writes: StateWrites) -> Written:
        """Set states one after the other, and count each partition anew; nothing else changes meanwhile."""
        self._name(writes.names)
        changed, count, registered = self._rules.changed, self._rules.counted, self.registered
        states = writes.states
        kept = map(self._kept_by_name.__getitem__, writes.partitions.tolist())
        held = map(self._held_by_name.__getitem__, states.held.tolist())
        changes, before, after = [], [], []
        for each, code, epoch in zip(kept, held, states.leader_epochs.tolist()):
            changes.append(changed(each.held, code, each.leader_epoch == epoch))
            each.held, each.leader_epoch = code, epoch
            before.append(each.counted)
            each.counted = count(code, each.situation, registered)
            after.append(each.counted)
        changed_by, former, present = (np.frombuffer(bytes(codes), np.uint8) for codes in (changes, before, after))
        added = np.concatenate([_COUNTED[present] - _COUNTED[former], _CHANGES[changed_by]], axis=1)
        values = np.cumsum(added, axis=0) + (*self.totals, *self.changes)
        last = values[-1].tolist()
        self.totals, self.changes = last[: len(self.totals)], last[len(self.totals) :]
        self.unclean_by_epoch.update(states.controller_epochs[_CHANGES[changed_by, _UNCLEAN] == 1].tolist())
        return Written(former, present, values)

    def _of(self, partition: Partition) -> _Kept:
        if (kept := self._kept.get(partition)) is None:
            kept = self._kept[partition] = _Kept()
        return kept

    def _name(self, names: Names) -> None:
        """Know what the codes of a sweep stand for here."""
        self.named += [each.place.partition for each in names.states.values[len(self.named) :]]
        self._kept_by_name += map(self._of, self.named[len(self._kept_by_name) :])
        self._held_by_name += map(self._rules.held.of, names.held.values[len(self._held_by_name) :])
