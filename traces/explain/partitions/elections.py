"""Runs the transitions by which a controller elects, creates a first state, or takes a replica out of an ISR."""

from collections.abc import Collection
from functools import cache, lru_cache

from kafkaproof.spec.kafka.state_machines import NEW_PARTITION, OFFLINE_PARTITION
from kafkaproof.spec.kafka.zookeeper import ANSWERED
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.partition import context, machines
from kafkaproof.spec.partition.context import ELECTING, REMOVING, WRITING_LEADER, WRITING_REMOVAL
from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.explain.partitions.scene import Scene, stage_of
from kafkaproof.traces.explain.partitions.strategies import Elected

_REMEMBERED = 20_000
"""So many elections are remembered, of each strategy: a cluster has few assignments, ISRs and sets of live brokers."""


class Elections:
    """The steps of a controller's state machines in some releases, about one partition."""

    def __init__(self, features: Features):
        self._stage = stage_of(features.electing)
        methods = (self.new_topic, self.offline, self.reassign, self.preferred, self.controlled_shutdown, self.removal)
        for method in methods:
            setattr(self, method.__name__, lru_cache(maxsize=_REMEMBERED)(method))

    def new_topic(self, assignment: tuple[int, ...], online: frozenset[int]) -> Elected | None:
        """The first state of a partition; None when no replica is online."""
        scene = Scene(self._stage, None, assignment)
        scene.partition.state, scene.partition.leader_epoch = NEW_PARTITION, context.NO_EPOCH
        scene.controller.live, scene.controller.doing, scene.controller.todo = scene.bits(online), ELECTING, 1
        scene.take(machines.create_first_state, scene.seat, 0, ANSWERED)
        return scene.written if scene.state.zk.partitions[0].leader != NOBODY else None

    def offline(
        self, assignment: tuple[int, ...], isr: frozenset[int], online: frozenset[int], unclean: bool
    ) -> Elected | None:
        """The election of a partition without a leader; None when it fails."""
        return self._elected(context.OFFLINE, assignment, isr, online, unclean=unclean)

    def reassign(self, target: tuple[int, ...], isr: frozenset[int], online: frozenset[int]) -> Elected | None:
        """The election at the end of a reassignment; None when it fails."""
        return self._elected(context.REASSIGN, target, isr, online, target=target)

    def preferred(self, assignment: tuple[int, ...], isr: frozenset[int], online: frozenset[int]) -> Elected | None:
        """The preferred election; None when it fails."""
        return self._elected(context.PREFERRED, assignment, isr, online)

    def controlled_shutdown(
        self,
        assignment: tuple[int, ...],
        isr: frozenset[int],
        online_or_leaving: frozenset[int],
        leaving: frozenset[int],
    ) -> Elected | None:
        """The election instead of a leader that is shutting down; None when it fails."""
        return self._elected(context.CONTROLLED_SHUTDOWN, assignment, isr, online_or_leaving, leaving)

    def removal(self, leader: int, isr: frozenset[int], replica: int, unclean: bool) -> Elected | None:
        """Leader, perhaps NOBODY, and ISR after a member of the ISR went offline.

        `unclean`: whether unclean elections are enabled, which up to 1.0 lets the last member go.
        """
        scene = Scene(self._stage, Elected(leader, isr), sorted(isr), {replica})
        controller, number = scene.controller, scene.number[replica]
        scene.state.zk.unclean = int(unclean)
        controller.live = scene.bits(isr - {replica})
        controller.doing, controller.replicas, controller.removing = REMOVING, scene.bits({replica}), 1
        scene.take(machines.read_for_removal, scene.seat, 0, number)
        if controller.doing != WRITING_REMOVAL:
            return None
        scene.take(machines.write_removal, scene.seat, 0, number, ANSWERED)
        return scene.written

    def _elected(
        self,
        strategy: int,
        assignment: tuple[int, ...],
        isr: frozenset[int],
        live: Collection[int],
        leaving: Collection[int] = (),
        target: tuple[int, ...] = (),
        unclean: bool = False,
    ) -> Elected | None:
        """What an election by a strategy writes; None when it fails."""
        scene = Scene(self._stage, Elected(NOBODY, isr), assignment)
        controller = scene.controller
        scene.partition.state, scene.state.zk.unclean = OFFLINE_PARTITION, int(unclean)
        controller.live, controller.leaving = scene.bits(live), scene.bits(leaving)
        controller.doing, controller.todo, controller.strategy = ELECTING, 1, strategy
        scene.push(controller.target, target)
        scene.take(machines.read_for_election, scene.seat, 0)
        if controller.doing != WRITING_LEADER:
            return None
        scene.take(machines.write_leader, scene.seat, 0, ANSWERED)
        return scene.written


@cache
def elections_of(features: Features) -> Elections:
    """The elections of some releases, for all streams of a process."""
    return Elections(features)
