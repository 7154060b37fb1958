"""Runs the transitions by which a leader changes its ISR: it writes that itself (up to 2.6), or the controller grants it."""

from functools import cache, lru_cache

from kafkaproof.spec.kafka.state_machines import ONLINE_PARTITION
from kafkaproof.spec.kafka.zookeeper import ANSWERED
from kafkaproof.spec.partition.history.leader_zk import change_isr
from kafkaproof.spec.partition.isr import alter_partition
from kafkaproof.spec.partition.zookeeper import get_state, isr_changed
from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.explain.partitions.scene import LEADER_EPOCH, Begun, Scene, stage_of
from kafkaproof.traces.explain.partitions.strategies import Elected

_REMEMBERED = 20_000


class Proposals:
    """The transitions of the variants that are a log's, for one leader and one partition."""

    def __init__(self, features: Features):
        self._features = features
        self.why_not_granted = lru_cache(_REMEMBERED)(self._why_not_granted)
        self.why_not_written = lru_cache(_REMEMBERED)(self._why_not_written)
        self.is_told = lru_cache(_REMEMBERED)(self._is_told)

    def granting(
        self,
        before: Elected,
        isr: frozenset[int],
        replicas: frozenset[int],
        live: frozenset[int],
        room: int = 2,
        telling: bool = False,
    ) -> Begun:
        """A controller before it answers a leader that asks for an ISR. `live`: whom it may take for live."""
        stage = stage_of(self._features.granting, room=room, telling=telling)
        scene = Scene(stage, before, sorted(replicas), isr | live if telling else isr)
        sender = scene.number[before.leader]
        scene.register(live)
        scene.know(live)
        scene.partition.state = ONLINE_PARTITION
        get_state(scene.state.zk, scene.seat, 0, scene.controller.result)
        scene.state.network.proposals[0][sender] = LEADER_EPOCH
        return Begun(scene, alter_partition, (0, sender, scene.bits(isr), ANSWERED))

    def writing(self, before: Elected, isr: frozenset[int], replicas: frozenset[int], room: int = 2) -> Begun:
        """A leader before it writes an ISR."""
        scene = Scene(stage_of(self._features.writing, room=room), before, sorted(replicas), isr)
        leader = scene.number[before.leader]
        broker = scene.state.brokers[leader]
        broker.up, broker.replicas[0].leader, broker.replicas[0].leader_epoch = 1, leader, LEADER_EPOCH
        return Begun(scene, change_isr, (0, scene.bits(isr)), leader)

    def _why_not_granted(
        self, before: Elected, isr: frozenset[int], replicas: frozenset[int], live: frozenset[int]
    ) -> str | None:
        """Why a controller does not write the ISR that a leader asks for, None where it does."""
        return self.granting(before, isr, replicas, live).why_not()

    def _why_not_written(self, before: Elected, isr: frozenset[int], replicas: frozenset[int]) -> str | None:
        """Why a leader does not write an ISR, None where it does."""
        return self.writing(before, isr, replicas).why_not()

    def _is_told(self, before: Elected, isr: frozenset[int]) -> bool:
        """Whether a leader that writes an ISR notifies the controller of it."""
        begun = self.writing(before, isr, before.isr | isr)
        return begun.why_not() is None and isr_changed(begun.scene.state.zk, 0)


@cache
def proposals_of(features: Features) -> Proposals:
    """The proposals of some releases, for all streams of a process."""
    return Proposals(features)
