"""Runs the transitions by which a leader changes its ISR: it writes that itself (up to 2.6), or the controller grants it."""

from functools import cache, lru_cache

from kafkaproof.spec.kafka.state_machines import ONLINE_PARTITION
from kafkaproof.spec.kafka.zookeeper import ANSWERED
from kafkaproof.spec.partition.history.leader_zk import change_isr
from kafkaproof.spec.partition.isr import alter_partition
from kafkaproof.spec.partition.zookeeper import get_state
from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.explain.partitions.scene import LEADER_EPOCH, Scene, stage_of
from kafkaproof.traces.explain.partitions.strategies import Elected

_REMEMBERED = 20_000


class Proposals:
    """The transitions of the variants that are a log's, for one leader and one partition."""

    def __init__(self, features: Features):
        self._features = features
        self.why_not_granted = lru_cache(_REMEMBERED)(self._why_not_granted)
        self.why_not_written = lru_cache(_REMEMBERED)(self._why_not_written)

    def _why_not_granted(
        self, before: Elected, isr: frozenset[int], replicas: frozenset[int], live: frozenset[int]
    ) -> str | None:
        """Why a controller does not write the ISR that a leader asks for, None where it does. `live`: whom it may take
        for live.
        """
        scene = Scene(stage_of(self._features.granting), before, sorted(replicas), isr)
        sender = scene.number[before.leader]
        scene.controller.live, scene.partition.state = scene.bits(live), ONLINE_PARTITION
        get_state(scene.state.zk, scene.seat, 0, scene.controller.result)
        scene.state.network.proposals[0][sender] = LEADER_EPOCH
        return scene.why_not(alter_partition, scene.seat, 0, sender, scene.bits(isr), ANSWERED)

    def _why_not_written(self, before: Elected, isr: frozenset[int], replicas: frozenset[int]) -> str | None:
        """Why a leader does not write an ISR, None where it does."""
        scene = Scene(stage_of(self._features.writing), before, sorted(replicas), isr)
        leader = scene.number[before.leader]
        broker = scene.state.brokers[leader]
        broker.up, broker.replicas[0].leader, broker.replicas[0].leader_epoch = 1, leader, LEADER_EPOCH
        return scene.why_not(change_isr, leader, 0, scene.bits(isr))


@cache
def proposals_of(features: Features) -> Proposals:
    """The proposals of some releases, for all streams of a process."""
    return Proposals(features)
