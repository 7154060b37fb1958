"""Runs the transitions by which a leader changes its ISR: it writes that itself (up to 2.6), or the controller grants it.

The specification numbers brokers from 0, the controller last, and keeps sets as bit masks; here they have the log's ids.
"""

from collections.abc import Callable
from functools import cache, lru_cache

from kafkaproof.checker.model.refusals import refusal_of
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.kafka.state_machines import ONLINE_PARTITION
from kafkaproof.spec.kafka.zookeeper import ANSWERED
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.language.plain import Plain, new_state
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.language.sets import everybody
from kafkaproof.spec.partition.context import copy, remember_leadership
from kafkaproof.spec.partition.history.leader_zk import change_isr
from kafkaproof.spec.partition.isr import alter_partition
from kafkaproof.spec.partition.zookeeper import get_state
from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.explain.partitions.strategies import Elected

_EPOCH, _LEADER_EPOCH = 1, 0
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
        """Why a controller does not write the ISR that a leader asks for, None where it does. `live`: whom it may take for
        live.
        """
        scene = _Scene(self._features.granting, before, replicas, isr)
        s, sender = scene.state, scene.number[before.leader]
        controller, seat = s.brokers[scene.seat].controller, scene.seat
        s.zk.epoch = controller.epoch = _EPOCH
        controller.live = scene.bits(live)
        controller.partitions[0].state = ONLINE_PARTITION
        copy(s.zk.assignments[0], controller.partitions[0].assignment)
        remember_leadership(controller.partitions[0], sender, s.zk.partitions[0].isr, _LEADER_EPOCH)
        get_state(s.zk, seat, 0, controller.result)
        s.network.proposals[0][sender] = _LEADER_EPOCH
        return scene.why_not(alter_partition, seat, 0, sender, scene.bits(isr), ANSWERED)

    def _why_not_written(self, before: Elected, isr: frozenset[int], replicas: frozenset[int]) -> str | None:
        """Why a leader does not write an ISR, None where it does."""
        scene = _Scene(self._features.writing, before, replicas, isr)
        leader = scene.number[before.leader]
        broker = scene.state.brokers[leader]
        broker.up, broker.replicas[0].leader, broker.replicas[0].leader_epoch = 1, leader, _LEADER_EPOCH
        return scene.why_not(change_isr, leader, 0, scene.bits(isr))


class _Scene:
    """A state of a variant in which a leader leads, of brokers that are all registered; the controller is the last."""

    def __init__(self, model: Model, before: Elected, replicas: frozenset[int], isr: frozenset[int]):
        self._model, ids = model, sorted({*replicas, *isr, *before.isr, before.leader})
        self.number, self.seat = {broker: number for number, broker in enumerate(ids)}, len(ids)
        self.state = s = _blank(model.variant, self.seat + 1).copy()
        s.zk.registered = everybody(self.seat + 1)
        for broker in sorted(replicas):
            push(s.zk.assignments[0], self.number[broker])
        znode = s.zk.partitions[0]
        znode.leader, znode.isr, znode.leader_epoch = self.number[before.leader], self.bits(before.isr), _LEADER_EPOCH
        znode.controller_epoch = _EPOCH

    def bits(self, brokers: frozenset[int]) -> int:
        """A set of brokers, those that matter here."""
        return sum(1 << self.number[broker] for broker in brokers if broker in self.number)

    def why_not(self, transition: Callable, *arguments: int) -> str | None:
        """Why a step is not possible, None where it is, and is taken."""
        function = next(t.function for t in self._model.transitions if t.function.__name__ == transition.__name__)
        before = self.state.copy()
        if function(self.state, *arguments):
            return None
        return str(refusal_of(function, self._model.state, before, *arguments))


@cache
def _blank(variant: str, brokers: int) -> Plain:
    model = find("partition", variant)[0]
    scope = dict.fromkeys(model.scope, 2) | {"brokers": brokers, "replicas": brokers, "partitions": 1}
    return new_state(model.state, scope)


@cache
def proposals_of(features: Features) -> Proposals:
    """The proposals of some releases, for all streams of a process."""
    return Proposals(features)
