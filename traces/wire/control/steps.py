"""Runs single transitions of a controller about one partition, and tells what they send: those of an ISR that a leader
proposes, and of reassignments. `Events` tells what an event as a whole sends.
"""

from __future__ import annotations

from functools import cache, lru_cache

from kafkaproof.spec.kafka.state_machines import OFFLINE_REPLICA
from kafkaproof.spec.kafka.zookeeper import ANSWERED
from kafkaproof.spec.language.rebind import rebind
from kafkaproof.spec.language.sets import only
from kafkaproof.spec.partition.history.leader_zk import isr_notification
from kafkaproof.spec.partition.machines import prepare
from kafkaproof.spec.partition.reassignment import reassignment
from kafkaproof.spec.partition.reassignment.state import STOPPING_REMOVED, TELLING
from kafkaproof.spec.partition.telling import tell_partition
from kafkaproof.spec.partition.zookeeper import get_state
from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.explain.partitions.proposals import proposals_of
from kafkaproof.traces.explain.partitions.scene import Scene, stage_of
from kafkaproof.traces.explain.partitions.sent import Sent
from kafkaproof.traces.explain.partitions.strategies import Elected

Ids = frozenset[int]
_REMEMBERED = 20_000


class Steps:
    """The transitions of a log's releases, on stages that tell."""

    def __init__(self, features: Features):
        self._features = features
        for name in ("proposal", "notice", "raising", "removal", "telling"):
            setattr(self, name, lru_cache(_REMEMBERED)(getattr(self, name)))

    def _scene(self, variant: str, state: Elected | None, replicas: tuple[int, ...], live: Ids) -> Scene:
        scene = Scene(stage_of(variant, telling=True), state, replicas, live)
        scene.register(live)
        scene.know(live)
        return scene

    def _reassigned(self, state: Elected, replicas: tuple[int, ...], live: Ids, doing: int) -> Scene:
        scene = self._scene(self._features.reassigning, state, replicas, live)
        scene.controller.doing, scene.controller.moving = doing, only(0)
        return scene

    def proposal(self, state: Elected, isr: Ids, replicas: tuple[int, ...], live: Ids) -> tuple[Sent, ...]:
        """A leader's ISR is written."""
        return proposals_of(self._features).granting(state, isr, frozenset(replicas), live, telling=True).run()

    def notice(self, state: Elected, replicas: tuple[int, ...], live: Ids) -> tuple[Sent, ...]:
        """A controller hears that a leader has written an ISR (up to 2.6)."""
        scene = self._scene(self._features.writing, state, replicas, live)
        scene.state.zk.isr_changed = only(0)
        scene.take(isr_notification, scene.seat, 0)
        return tuple(scene.sent())

    def raising(self, state: Elected, replicas: tuple[int, ...], live: Ids) -> tuple[Sent, ...]:
        """A reassignment raises the leader epoch."""
        scene = self._reassigned(state, replicas, live, TELLING)
        get_state(scene.state.zk, scene.seat, 0, scene.controller.result)
        prepare(scene.controller.result, scene.controller.result.leader, scene.controller.result.isr)
        scene.take(reassignment.tell_replicas, scene.seat, 0, ANSWERED)
        return tuple(scene.sent())

    def removal(self, state: Elected, replicas: tuple[int, ...], removed: Ids, live: Ids) -> tuple[Sent, ...]:
        """A reassignment stops the replicas that it removes."""
        scene = self._reassigned(state, replicas, live, STOPPING_REMOVED)
        scene.controller.removed = scene.bits(removed)
        for replica in removed:
            scene.partition.replicas[scene.number[replica]] = OFFLINE_REPLICA
        scene.take(reassignment.stop_removed, scene.seat, 0)
        return tuple(scene.sent())

    def telling(self, state: Elected, replicas: tuple[int, ...], live: Ids) -> tuple[Sent, ...]:
        """All live brokers are told of a partition: an ISR is granted or refused, a reassignment is over."""
        scene = self._scene(self._features.handling, state, replicas, live)
        tell = rebind(tell_partition, scene.stage.noting)
        tell(scene.state, scene.seat, 0, scene.controller.live)
        return tuple(scene.sent())


@cache
def control_steps_of(features: Features) -> Steps:
    """The steps of some releases."""
    return Steps(features)
