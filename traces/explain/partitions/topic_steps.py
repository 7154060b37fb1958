"""Runs the transitions of `partition` for one controller and one partition, with the broker ids of a log.

The specification numbers brokers from 0 and keeps sets as bit masks. Where it takes the lowest of a set first, to keep
the states few, Kafka may take any: here the transitions are bound to that choice. Every other rule is theirs.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from types import SimpleNamespace
from typing import NamedTuple

from kafkaproof.spec.catalogue import find
from kafkaproof.spec.kafka.state_machines import ONLINE_PARTITION, ONLINE_REPLICA, REPLICA_DELETION_SUCCESSFUL
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.kafka.zookeeper import ANSWERED
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.language.plain import Plain, new_state
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.language.sets import contains, difference, everybody, intersection, is_empty, only
from kafkaproof.spec.partition import machines
from kafkaproof.spec.partition.context import (
    DELETING_REQUEST,
    ELECTING,
    IDLE,
    NO_EPOCH,
    REMOVING,
    STUCK,
    WRITING_LEADER,
    WRITING_REMOVAL,
    copy,
    drop_result,
    remember_leadership,
)
from kafkaproof.spec.partition.deletion import deletion
from kafkaproof.spec.partition.deletion.state import RESUMING
from kafkaproof.spec.partition.phases import lists, phases
from kafkaproof.spec.partition.phases.state import RAISING
from kafkaproof.spec.partition.progress import is_next
from kafkaproof.spec.partition.reassignment import admin_requests, reassignment
from kafkaproof.spec.partition.reassignment.network import CANCELLATION, REASSIGNMENT
from kafkaproof.spec.partition.reassignment.properties import assignment_well_formed
from kafkaproof.spec.partition.reassignment.state import (
    CHECKING,
    STOPPING_REMOVED,
    TELLING,
    WRITING_ASSIGNMENT,
    WRITING_TARGET,
)
from kafkaproof.spec.partition.zookeeper import get_state
from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.explain.partitions.scene import EPOCH, LATER_EPOCH
from kafkaproof.traces.explain.partitions.strategies import Elected
from kafkaproof.traces.zookeeper.znodes.assignments import Assignment
from kafkaproof.traces.zookeeper.znodes.contents import PartitionState

BATCHES = {"elections": "partition_batch", "removals": "replica_batch"}
"""By what a state machine writes: the field that holds what it has collected."""
_VISIBLE = {
    WRITING_ASSIGNMENT: (reassignment.write_assignment, phases.write_union),
    TELLING: (reassignment.tell_replicas,),
    WRITING_TARGET: (reassignment.write_target,),
}


class Step(NamedTuple):
    """A write that a controller may make next: the transition, the state after it, and what it writes.

    `written`: an Assignment (of the topic znode), an Elected (of the partition's state), or None (a request ends).
    """

    name: str
    after: Plain
    written: Assignment | Elected | None


class Scene(NamedTuple):
    """What a controller may go by: its term's epoch, the partition's state, the ISRs that it may have read, and who may
    be live to it."""

    epoch: int
    state: PartitionState | None
    isrs: list[tuple[int, ...]]
    lives: list[frozenset[int]]


class TopicSteps:
    """The transitions of the variant that reassigns as the log's controllers do."""

    def __init__(self, features: Features, brokers: Iterable[int]):
        self.model = _bound(features.reassigning)
        self._bound = {t.function.__name__: t for t in self.model.transitions}
        self.brokers = sorted(brokers)
        self._numbers = {broker: number for number, broker in enumerate(self.brokers)}
        self._blanks: dict[int, Plain] = {}
        self.kip455 = features.kip455

    def well_formed(self, assignment: Assignment) -> bool:
        """Whether an assignment is one that the specification's property allows, whoever asked for it (T6)."""
        ids = sorted({*assignment.replicas, *assignment.adding, *assignment.removing})
        numbers = {broker: number for number, broker in enumerate(ids)}
        slots = [numbers[broker] for broker in assignment.replicas]
        masks = [sum({1 << numbers[broker] for broker in part}) for part in (assignment.adding, assignment.removing)]
        sequence = SimpleNamespace(length=len(slots), slots=slots)
        zk = SimpleNamespace(assignments=[sequence], adding=masks[:1], removing=masks[1:])
        return assignment_well_formed(SimpleNamespace(zk=zk))

    def at_work(
        self,
        known: Assignment,
        state: PartitionState | None,
        epoch: int,
        target: tuple[int, ...] | None = None,
        stuck: Collection[str] = (),
    ) -> Plain:
        """A state in which a controller of an epoch is to look at a partition that is being reassigned.

        `known`: the assignment in its memory; `state`: the partition's, None without one; `target`: what
        /admin/reassign_partitions asked for, where only that tells of it; `stuck`: the batches that were never sent.
        """
        s = copied(self._blank(1))
        zk, controller = s.zk, s.brokers[0].controller
        partition = controller.partitions[0]
        self._put(zk, partition, known)
        zk.epoch = controller.epoch = EPOCH
        zk.registered = zk.clients[0].seen = controller.live = everybody(len(self.brokers))
        partition.state, controller.moving, controller.doing = ONLINE_PARTITION, 1, CHECKING
        for broker in known.replicas:
            partition.replicas[self._numbers[broker]] = ONLINE_REPLICA
        self.refresh(s, state, epoch)
        znode = zk.partitions[0]
        remember_leadership(partition, znode.leader, znode.isr, znode.leader_epoch)
        drop_result(controller)
        for batch in stuck:
            setattr(controller, batch, STUCK)
        if target is not None:
            self._list(partition.aim, target)
            copy(partition.aim, zk.targets[0])
        return s

    def completing(self, partitions: int) -> Plain:
        """A state in which a controller is to delete the znodes of a topic with so many partitions, all of whose replicas
        have been deleted; without partitions, what is left of a topic that it does not know.
        """
        s = copied(self._blank(max(partitions, 1)))
        zk, controller = s.zk, s.brokers[0].controller
        zk.registered, zk.epoch, controller.epoch = 1, EPOCH, EPOCH
        if not partitions:
            zk.stray = 1
            self.take(deletion.leftover_deletion, s)
            return s
        zk.deleting = controller.deleting = controller.resuming = everybody(partitions)
        controller.doing = RESUMING
        for number, partition in enumerate(controller.partitions):
            push(partition.assignment, 0)
            push(zk.assignments[number], 0)
            zk.partitions[number].leader, zk.partitions[number].isr = NOBODY, only(0)
            remember_leadership(partition, NOBODY, only(0), 0)
            partition.replicas[0] = REPLICA_DELETION_SUCCESSFUL
        self.take(deletion.resume_deletion, s, 0)
        return s

    def take(self, transition: Callable, s: Plain, *arguments: int) -> None:
        """Take a step of the controller, which changes `s`; an answer is never lost."""
        taken = self._bound[transition.__name__]
        taken.function(s, 0, *arguments, *(ANSWERED for name in taken.declared if name == "delivery"))

    def asked(self, s: Plain, target: tuple[int, ...], live: Iterable[int], queued: bool = False) -> Plain | None:
        """The state in which a reassignment has been asked for (2.4+) and is to be written; None when it is refused.

        `live`: the brokers that the controller takes for live; `queued`: it knows that the topic is to be deleted.
        """
        s = copied(s)
        controller = s.brokers[0].controller
        controller.doing, controller.moving, controller.live = IDLE, 0, self.bits(live)
        controller.deleting = only(0) if queued else 0
        s.network.alteration.wanted = REASSIGNMENT
        self._list(s.network.alteration.target, target)
        self.take(admin_requests.alter_reassignment, s)
        return s if controller.doing == WRITING_ASSIGNMENT else None

    def cancelled(self, s: Plain, queued: bool) -> Plain:
        """The state in which it is to be taken back (2.4+), or in which it is not, as that is refused."""
        s = copied(s)
        controller = s.brokers[0].controller
        controller.doing, controller.moving, controller.deleting = IDLE, 0, only(0) if queued else 0
        s.network.alteration.wanted = CANCELLATION
        self.take(admin_requests.alter_reassignment, s)
        return s

    def requested(self, s: Plain) -> tuple[int, ...]:
        """The target in /admin/reassign_partitions as a state has it, empty without one."""
        target = s.zk.targets[0]
        return tuple(self.brokers[number] for number in target.slots[: target.length])

    def refresh(self, s: Plain, state: PartitionState | None, epoch: int) -> None:
        """Put the partition's state as ZooKeeper has it into a state of the specification."""
        znode = s.zk.partitions[0]
        znode.leader, znode.leader_epoch, znode.isr, znode.controller_epoch = NOBODY, NO_EPOCH, 0, EPOCH
        if state is not None:
            znode.leader = self._numbers.get(state.leader, NOBODY)
            znode.leader_epoch, znode.isr = state.leader_epoch, self.bits(state.isr)
            znode.controller_epoch = LATER_EPOCH if state.controller_epoch > epoch else EPOCH

    def next_writes(self, s: Plain, scene: Scene) -> Iterator[Step | None]:
        """The writes that may come next, and None where the controller may be done with the partition."""
        controller = s.brokers[0].controller
        if controller.doing in _VISIBLE:
            yield from self._visible(
                s, next(each for each in _VISIBLE[controller.doing] if each.__name__ in self._bound)
            )
        elif controller.doing == CHECKING:
            for checked in self._checked(s, scene):
                yield from self.next_writes(checked, scene)
        elif controller.doing == RAISING:
            yield from self._silent(s, phases.read_leader_epoch, scene, 0)
        elif controller.doing == ELECTING:
            yield from self._written(s, machines.read_for_election, machines.write_leader, WRITING_LEADER, scene, 0)
        elif controller.doing == REMOVING:
            yield from self._removals(s, scene)
        elif controller.doing == STOPPING_REMOVED:
            yield from self._silent(s, reassignment.stop_removed, scene, 0)
        elif controller.doing == DELETING_REQUEST:
            done = copied(s)
            self.take(lists.delete_listed, done, 0)
            yield Step(lists.delete_listed.__name__, done, None)
        else:
            yield None

    def _checked(self, s, scene):
        """The states after the controller has read an ISR, which may have changed since, and whom it may take for live."""
        members = replicas_of(s.brokers[0].controller.partitions[0].assignment)
        for isr in scene.isrs:
            for live in {intersection(members, self.bits(live)) for live in scene.lives}:
                read = copied(s)
                read.zk.partitions[0].isr, read.brokers[0].controller.live = self.bits(isr), live
                self.take(reassignment.check_reassignment if self.kip455 else phases.check_target, read, 0)
                read.zk.partitions[0].isr = s.zk.partitions[0].isr
                if read.brokers[0].controller.doing == TELLING:
                    _read_again(read)
                yield read

    def _removals(self, s, scene):
        """Any of the replicas that leave may be the next; those outside the ISR leave without a write."""
        leaving, isr = s.brokers[0].controller.replicas, s.zk.partitions[0].isr
        silent = difference(leaving, isr)
        for replica in range(len(self.brokers)):
            if contains(leaving if is_empty(silent) else silent, replica):
                read, write = machines.read_for_removal, machines.write_removal
                yield from self._written(s, read, write, WRITING_REMOVAL, scene, 0, replica)
                if not is_empty(silent):
                    return

    def _silent(self, s, transition, scene, *arguments):
        """The writes that may follow a step without one."""
        after = copied(s)
        self.take(transition, after, *arguments)
        yield from self.next_writes(after, scene)

    def _written(self, s, read, write, doing, scene, *arguments):
        """The write that a transition makes of what another one has read, or, where there is none, those that follow."""
        after = copied(s)
        self.take(read, after, *arguments)
        if after.brokers[0].controller.doing == doing:
            self.take(write, after, *arguments)
            yield Step(write.__name__, after, self._elected(after))
        else:
            yield from self.next_writes(after, scene)

    def _visible(self, s, transition):
        after = copied(s)
        self.take(transition, after, 0)
        written = self._elected(after) if transition is reassignment.tell_replicas else self._get(after.zk)
        yield Step(transition.__name__, after, written)

    def _list(self, sequence, target):
        for broker in target:
            push(sequence, self._numbers[broker])

    def _elected(self, s):
        znode = s.zk.partitions[0]
        return Elected(NOBODY if znode.leader == NOBODY else self.brokers[znode.leader], self._members(znode.isr))

    def _put(self, zk, partition, known):
        self._list(partition.assignment, known.replicas)
        copy(partition.assignment, zk.assignments[0])
        if self.kip455:
            partition.adding, partition.removing = self.bits(known.adding), self.bits(known.removing)
            zk.adding[0], zk.removing[0] = partition.adding, partition.removing

    def _get(self, zk):
        assignment = zk.assignments[0]
        replicas = [self.brokers[number] for number in assignment.slots[: assignment.length]]
        masks = (zk.adding[0], zk.removing[0]) if self.kip455 else (0, 0)
        parts = [self._members(mask) for mask in masks]
        return Assignment(tuple(replicas), *(tuple(broker for broker in replicas if broker in part) for part in parts))

    def bits(self, brokers: Iterable[int]) -> int:
        """A set of brokers."""
        return sum(1 << self._numbers[broker] for broker in set(brokers))

    def _members(self, bits):
        return frozenset(broker for broker in self.brokers if contains(bits, self._numbers[broker]))

    def _blank(self, partitions):
        if partitions not in self._blanks:
            self._blanks[partitions] = new_state(self.model.state, self.scope(partitions))
        return self._blanks[partitions]

    def scope(self, partitions: int, room: int = 2) -> dict[str, int]:
        """The scope of states of so many partitions, whose bounds are all alike."""
        n = len(self.brokers)
        return dict.fromkeys(self.model.scope, room) | {"brokers": n, "replicas": n, "partitions": partitions}


def _read_again(s):
    """A controller reads the state once more before it raises the leader epoch (KafkaController.updateLeaderEpoch)."""
    result = s.brokers[0].controller.result
    get_state(s.zk, 0, 0, result)
    machines.prepare(result, result.leader, result.isr)


def copied(s: Plain) -> Plain:
    """A copy of a state; brokers other than the controller share theirs with it, which no step here changes."""
    brokers, s.brokers = s.brokers, s.brokers[:1]
    twin = s.copy()
    twin.brokers += brokers[1:]
    s.brokers = brokers
    return twin


@cache
def steps_of(features: Features, brokers: frozenset[int]) -> TopicSteps:
    """The transitions for these brokers, for all streams of a process."""
    return TopicSteps(features, brokers)


@cache
def _bound(variant: str) -> Model:
    """A variant's model, with the transitions bound to any choice."""
    any_of: dict[Callable, Callable] = {is_next: contains}
    return find("partition", variant)[0].rebound(any_of)
