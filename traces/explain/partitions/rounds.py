"""Whether a controller elects again what it has elected, when a write of the same batch meets another version.

A log shows that a write was refused, not which: a partition's own, if the answer to its first one was lost, or that of
another one. So the transitions of the specification are run both ways, for two partitions of one batch.
"""

from functools import cache

from kafkaproof.spec.catalogue import find
from kafkaproof.spec.kafka.state_machines import NEW_PARTITION, OFFLINE_PARTITION
from kafkaproof.spec.kafka.zookeeper import ANSWERED, LOST_APPLIED
from kafkaproof.spec.language.plain import Plain, new_state
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.language.sets import contains, everybody, only
from kafkaproof.spec.partition import context, machines
from kafkaproof.spec.partition.context import ELECTING
from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.explain.partitions.strategies import Strategy

_OWN, _OTHER = 0, 1
"""The partition that is asked about, and another one of the batch."""
_ELECTING = {
    Strategy.OFFLINE: context.OFFLINE,
    Strategy.OFFLINE_UNCLEAN: context.OFFLINE,
    Strategy.NEW_TOPIC: context.OFFLINE,
    Strategy.PREFERRED: context.PREFERRED,
    Strategy.REASSIGN: context.REASSIGN,
    Strategy.CONTROLLED_SHUTDOWN: context.CONTROLLED_SHUTDOWN,
}


@cache
def is_elected_again(features: Features, strategy: Strategy) -> bool:
    """Whether an election that was written may be held again, in the releases of a log."""
    run = BatchRun(features.electing, strategy)
    return run.after_own_lost_answer() or run.after_another()


class BatchRun:
    """Runs the transitions of a variant for a controller that has a batch of two partitions to elect."""

    def __init__(self, variant: str, strategy: Strategy):
        model = find("partition", variant)[0]
        self._steps = {t.function.__name__: t.function for t in model.transitions}
        self._blank = new_state(model.state, dict.fromkeys(model.scope, 2))
        self._strategy = strategy

    def after_own_lost_answer(self) -> bool:
        """Whether the partition is elected again that was written, and its answer lost."""
        s = self._asked()
        self._elect(s, _OWN, (LOST_APPLIED, ANSWERED))
        self._elect(s, _OTHER)
        return self._is_elected_again(s)

    def after_another(self) -> bool:
        """Whether it is elected again when the other one meets another version."""
        s = self._asked()
        self._elect(s, _OWN)
        self._take(machines.read_for_election, s, _OTHER)
        s.zk.partitions[_OTHER].readers = 0
        self._take(machines.write_leader, s, _OTHER, ANSWERED)
        return self._is_elected_again(s)

    def _asked(self) -> Plain:
        """A state in which a controller is to elect both."""
        s = self._blank.copy()
        zk, controller = s.zk, s.brokers[0].controller
        zk.epoch = controller.epoch = 1
        zk.registered = zk.clients[0].seen = controller.live = everybody(2)
        controller.doing, controller.todo, controller.strategy = ELECTING, everybody(2), _ELECTING[self._strategy]
        if self._strategy == Strategy.CONTROLLED_SHUTDOWN:
            controller.leaving = only(1)
        push(controller.target, 0)
        for partition, state in zip(controller.partitions, zk.partitions):
            push(partition.assignment, 0)
            push(partition.assignment, 1)
            if self._strategy == Strategy.NEW_TOPIC:
                partition.state = NEW_PARTITION
                continue
            partition.state, state.leader, state.isr, state.leader_epoch = OFFLINE_PARTITION, 1, everybody(2), 0
            context.remember_leadership(partition, state.leader, state.isr, state.leader_epoch)
        return s

    def _elect(self, s: Plain, p: int, deliveries: tuple[int, ...] = (ANSWERED,)) -> None:
        """Elect a partition once, or create its first state, with these answers to its writes."""
        if self._strategy == Strategy.NEW_TOPIC:
            for delivery in deliveries:
                self._take(machines.create_first_state, s, p, delivery)
        elif self._take(machines.read_for_election, s, p):
            for delivery in deliveries:
                self._take(machines.write_leader, s, p, delivery)

    def _is_elected_again(self, s: Plain) -> bool:
        written = s.zk.partitions[_OWN].leader_epoch
        controller = s.brokers[0].controller
        if controller.doing != ELECTING or not contains(controller.todo, _OWN):
            return False
        self._elect(s, _OWN)
        return s.zk.partitions[_OWN].leader_epoch > written

    def _take(self, transition, s: Plain, *choice: int) -> bool:
        return self._steps[transition.__name__](s, 0, *choice)
