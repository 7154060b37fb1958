"""Runs the transitions of a reassignment about one partition: what they write to its state, first of all."""

from collections.abc import Iterator
from functools import cache, lru_cache

from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.plain import Plain
from kafkaproof.spec.partition import machines
from kafkaproof.spec.partition.reassignment import reassignment
from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.explain.partitions.scene import EPOCH, LATER_EPOCH, Written
from kafkaproof.traces.explain.partitions.strategies import Elected, Strategy
from kafkaproof.traces.explain.partitions.topic_steps import Scene, TopicSteps, steps_of
from kafkaproof.traces.zookeeper.znodes.assignments import Assignment
from kafkaproof.traces.zookeeper.znodes.contents import PartitionState

_REMEMBERED = 20_000
_BY = {
    machines.write_leader.__name__: Strategy.REASSIGN,
    machines.write_removal.__name__: Strategy.REMOVAL,
    reassignment.tell_replicas.__name__: Strategy.EPOCH_BUMP,
}


class Reassigned:
    """The reassignments of a log's releases."""

    def __init__(self, features: Features):
        self._features = features
        self.writes = lru_cache(_REMEMBERED)(self._writes)

    def _writes(
        self,
        before: Elected,
        target: tuple[int, ...],
        others: frozenset[int],
        live: frozenset[int],
        newer: bool = False,
    ) -> frozenset[Written]:
        """What a controller may write to the state that it finds, to reassign a partition to a target.

        `others`: other replicas that it has, or had been given; `live`: the brokers that the controller takes for live;
        `newer`: a controller of a higher epoch wrote that state.
        """
        steps = steps_of(self._features, others.union(target, before.isr, {before.leader} - {NOBODY}, live))
        state = PartitionState(before.leader, 0, LATER_EPOCH if newer else EPOCH, tuple(sorted(before.isr)))
        scene = Scene(EPOCH, state, [state.isr], [live])
        found: set[Written] = set()
        for s in self._beginnings(steps, state, target, tuple(sorted(others.difference(target))), live):
            found.update(_first(steps, s, scene, before))
        return frozenset(found)

    def _beginnings(
        self,
        steps: TopicSteps,
        state: PartitionState,
        target: tuple[int, ...],
        others: tuple[int, ...],
        live: frozenset,
    ) -> Iterator[Plain]:
        """A controller looks at what is under way, or is asked for it while another reassignment is."""
        if not self._features.kip455:
            yield steps.at_work(Assignment(target + others), state, EPOCH, target)
            return
        added = tuple(broker for broker in target if broker not in state.isr)
        yield steps.at_work(Assignment(target + others, added, others), state, EPOCH)
        asked = steps.asked(steps.at_work(Assignment(target + others, others, ()), state, EPOCH), target, live)
        if asked is not None:
            yield asked


def _first(steps: TopicSteps, s: Plain, scene: Scene, before: Elected) -> Iterator[Written]:
    """What is written from there on, as long as leader and ISR stay."""
    for step in steps.next_writes(s, scene):
        if step is None:
            continue
        if isinstance(step.written, Elected):
            yield Written(_BY[step.name], before, step.written)
        if step.written is not None and (not isinstance(step.written, Elected) or step.written == before):
            yield from _first(steps, step.after, scene, before)


@cache
def reassigned_by(features: Features) -> Reassigned:
    """The reassignments of some releases, for all streams of a process."""
    return Reassigned(features)
