"""Whether a controller elects again what it has elected, when a write of the same batch meets another version.

A log shows that a write was refused, not which: a partition's own, if the answer to its first one was lost, or that of
another one. So the transitions of the specification are run both ways, for two partitions of one batch.
"""

from functools import cache

from kafkaproof.spec.kafka.zookeeper import ANSWERED, LOST_APPLIED
from kafkaproof.spec.language.sets import contains, everybody
from kafkaproof.spec.partition import context, machines
from kafkaproof.spec.partition.context import ELECTING
from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.explain.partitions.scene import Scene, stage_of
from kafkaproof.traces.explain.partitions.strategies import Elected, Strategy

_OWN, _OTHER = 0, 1
"""The partition that is asked about, and another one of the batch."""
_STAYS, _LEADS = 0, 1
"""Two brokers that are in both ISRs: who may be elected, and who leads both."""
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
        self._stage, self._strategy = stage_of(variant), strategy

    def after_own_lost_answer(self) -> bool:
        """Whether the partition is elected again that was written, and its answer lost."""
        scene = self._asked()
        self._elect(scene, _OWN, (LOST_APPLIED, ANSWERED))
        self._elect(scene, _OTHER)
        return self._is_elected_again(scene)

    def after_another(self) -> bool:
        """Whether it is elected again when the other one meets another version."""
        scene = self._asked()
        self._elect(scene, _OWN)
        scene.take(machines.read_for_election, scene.seat, _OTHER)
        scene.state.zk.partitions[_OTHER].readers = 0
        scene.take(machines.write_leader, scene.seat, _OTHER, ANSWERED)
        return self._is_elected_again(scene)

    def _asked(self) -> Scene:
        """A state in which a controller is to elect both."""
        replicas = _STAYS, _LEADS
        before = None if self._strategy == Strategy.NEW_TOPIC else Elected(_LEADS, frozenset(replicas))
        scene = Scene(self._stage, before, replicas, partitions=2)
        leaves = self._strategy == Strategy.CONTROLLED_SHUTDOWN
        scene.know(replicas, (_LEADS,) if leaves else ())
        controller = scene.controller
        controller.doing, controller.todo, controller.strategy = ELECTING, everybody(2), _ELECTING[self._strategy]
        scene.push(controller.target, (_STAYS,))
        return scene

    def _elect(self, scene: Scene, p: int, deliveries: tuple[int, ...] = (ANSWERED,)) -> None:
        """Elect a partition once, or create its first state, with these answers to its writes."""
        if self._strategy == Strategy.NEW_TOPIC:
            for delivery in deliveries:
                scene.take(machines.create_first_state, scene.seat, p, delivery)
        elif scene.take(machines.read_for_election, scene.seat, p):
            for delivery in deliveries:
                scene.take(machines.write_leader, scene.seat, p, delivery)

    def _is_elected_again(self, scene: Scene) -> bool:
        znode = scene.state.zk.partitions[_OWN]
        written, controller = znode.leader_epoch, scene.controller
        if controller.doing != ELECTING or not contains(controller.todo, _OWN):
            return False
        self._elect(scene, _OWN)
        return znode.leader_epoch > written
