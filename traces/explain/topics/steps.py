"""Runs the transitions of the topics system for one controller and one partition, with the broker ids of a log.

The specification numbers brokers from 0 and keeps sets as bit masks. Where it takes the lowest of a set first, to keep
the states few, Kafka may take any: here the transitions are bound to that choice. Every other rule is theirs.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from types import SimpleNamespace
from typing import NamedTuple

from kafkaproof.spec.catalogue import find
from kafkaproof.spec.kafka.state_machines import ONLINE_PARTITION, ONLINE_REPLICA, REPLICA_DELETION_SUCCESSFUL
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import Model
from kafkaproof.spec.language.plain import Plain, new_state
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.language.sets import contains, difference, everybody, intersection, is_empty
from kafkaproof.spec.partition.context import DELETING_REQUEST, REMOVING
from kafkaproof.spec.partition.deletion.state import STOPPING
from kafkaproof.spec.partition.progress import is_next
from kafkaproof.spec.partition.reassignment.state import CHECKING, TELLING, WRITING_ASSIGNMENT, WRITING_TARGET
from kafkaproof.spec.topics import machines, progress, reassignment
from kafkaproof.spec.topics.context import MOVING, NO_EPOCH
from kafkaproof.spec.topics.history import two_phase
from kafkaproof.spec.topics.properties.safety import assignment_well_formed
from kafkaproof.spec.topics.znodes import CANCELLATION, REASSIGNMENT
from kafkaproof.spec.topics.zookeeper import write_assignment
from kafkaproof.traces.explain.partitions.strategies import Elected
from kafkaproof.traces.zookeeper.znodes.assignments import Assignment
from kafkaproof.traces.zookeeper.znodes.contents import PartitionState

EPOCH, LATER_EPOCH = 1, 2
"""The epoch of the controller, and that of every later one, in the states that are built here."""
_VISIBLE = {
    WRITING_ASSIGNMENT: (reassignment.write_assignment, two_phase.write_union),
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
    """What a controller may go by: its term's epoch, the partition's state, the ISRs that it may have read, who may
    be live to it, and which of its state machines ("elections", "removals") may do nothing, and write nothing."""

    epoch: int
    state: PartitionState | None
    isrs: list[tuple[int, ...]]
    lives: list[frozenset[int]]
    broken: frozenset[str]


class TopicSteps:
    """The transitions of the variant that reassigns as the log's controllers do."""

    def __init__(self, kip455: bool, brokers: Iterable[int]):
        self._model = _bound("kip455" if kip455 else "two-phase")
        self._bound = {t.function.__name__: t.function for t in self._model.transitions}
        self._ids = sorted(brokers)
        self._numbers = {broker: number for number, broker in enumerate(self._ids)}
        self._blanks: dict[int, Plain] = {}
        self.kip455 = kip455

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
        self, known: Assignment, state: PartitionState | None, epoch: int, target: tuple[int, ...] | None = None
    ) -> Plain:
        """A state in which a controller of an epoch is to look at a partition that is being reassigned.

        `known`: the assignment in its memory; `state`: the partition's, None without one; `target`: what
        /admin/reassign_partitions asked for, where only that tells of it.
        """
        s = copied(self._blank(1))
        zk, controller = s.zk, s.brokers[0].controller
        partition = controller.partitions[0]
        self._put(partition, known)
        write_assignment(zk, 0, partition)
        zk.topic = zk.config = controller.topic = 1
        zk.epoch = controller.epoch = EPOCH
        zk.registered = controller.live = everybody(len(self._ids))
        partition.state, partition.reassigned, controller.moving, controller.doing = ONLINE_PARTITION, 1, 1, CHECKING
        partition.replicas = [ONLINE_REPLICA for _ in partition.replicas]
        self.refresh(s, state, epoch)
        partition.leader, partition.leader_epoch = zk.partitions[0].leader, zk.partitions[0].leader_epoch
        if target is not None:
            self._ask(zk.request, REASSIGNMENT, target)
        return s

    def completing(self, partitions: int) -> Plain:
        """A state in which a controller is to delete the znodes of a topic with so many partitions.

        All its replicas have been deleted; of a topic without partitions the controller knows nothing.
        """
        s = copied(self._blank(max(partitions, 1)))
        zk, controller = s.zk, s.brokers[0].controller
        zk.registered, zk.epoch, controller.epoch, controller.deleting, zk.marker = 1, EPOCH, EPOCH, 1, 1
        zk.topic = zk.config = controller.topic = 1 if partitions else 0
        for partition in controller.partitions[:partitions]:
            push(partition.assignment, 0)
            partition.replicas[0] = REPLICA_DELETION_SUCCESSFUL
        progress.resume_deletion(controller)
        return s

    def take(self, transition: Callable, s: Plain, *arguments: int) -> None:
        """Take a step of the controller, which changes `s`."""
        self._bound[transition.__name__](s, 0, *arguments)

    def asked(self, s: Plain, target: tuple[int, ...], live: Iterable[int]) -> Plain | None:
        """The state in which a reassignment has been asked for (2.4+) and is to be written; None when it is refused.

        `live`: the brokers that the controller takes for live.
        """
        s = copied(s)
        controller = s.brokers[0].controller
        controller.doing = controller.moving = 0
        controller.live = self._set(live)
        self._ask(s.network.asked, REASSIGNMENT, target)
        self.take(reassignment.reassign, s)
        return s if controller.doing == WRITING_ASSIGNMENT else None

    def cancelled(self, s: Plain) -> Plain:
        """The state in which it is to be taken back (2.4+)."""
        s = copied(s)
        s.brokers[0].controller.doing = s.brokers[0].controller.moving = 0
        s.network.asked.wanted = CANCELLATION
        self.take(reassignment.reassign, s)
        return s

    def requested(self, s: Plain) -> tuple[int, ...]:
        """The target in /admin/reassign_partitions as a state has it, empty without one."""
        target = s.zk.request.target
        return tuple(self._ids[number] for number in target.slots[: target.length])

    def refresh(self, s: Plain, state: PartitionState | None, epoch: int) -> None:
        """Put the partition's state as ZooKeeper has it into a state of the specification."""
        znode = s.zk.partitions[0]
        znode.leader, znode.leader_epoch, znode.isr, znode.controller_epoch = NOBODY, NO_EPOCH, 0, EPOCH
        if state is not None:
            znode.leader = self._numbers.get(state.leader, NOBODY)
            znode.leader_epoch, znode.isr = state.leader_epoch, self._set(state.isr)
            znode.controller_epoch = LATER_EPOCH if state.controller_epoch > epoch else EPOCH

    def next_writes(self, s: Plain, scene: Scene) -> Iterator[Step | None]:
        """The writes that may come next, and None where the controller may be done with the partition."""
        controller = s.brokers[0].controller
        if controller.doing in _VISIBLE:
            yield from self._visible(
                s, next(each for each in _VISIBLE[controller.doing] if each.__name__ in self._bound)
            )
        elif controller.doing == CHECKING:
            for isr in scene.isrs:
                yield from self.next_writes(self._checked(s, isr), scene)
        elif controller.doing == MOVING:
            members = replicas_of(controller.partitions[0].assignment)
            nobody = {0} if "elections" in scene.broken else set()
            for live in nobody | {intersection(members, self._set(live)) for live in scene.lives}:
                moved = copied(s)
                moved.brokers[0].controller.live = live
                yield from self._followed(moved, reassignment.move_leader, scene)
        elif controller.doing == REMOVING:
            yield from self._removals(s, scene)
        elif controller.doing == STOPPING:
            stopped = copied(s)
            self.take(machines.stop_replicas, stopped)
            yield from self.next_writes(stopped, scene)
        elif controller.doing == DELETING_REQUEST:
            done = copied(s)
            self.take(two_phase.delete_listed, done, 0)
            yield Step(two_phase.delete_listed.__name__, done, None)
        else:
            yield None

    def _checked(self, s, isr):
        """The state after the controller has read this ISR, which may have changed since."""
        read = copied(s)
        read.zk.partitions[0].isr = self._set(isr)
        self.take(reassignment.check if self.kip455 else two_phase.check_target, read, 0)
        read.zk.partitions[0].isr = s.zk.partitions[0].isr
        return read

    def _removals(self, s, scene):
        """Any of the replicas that leave may be the next; those outside the ISR leave without a write."""
        leaving, isr = s.brokers[0].controller.partitions[0].leaving, s.zk.partitions[0].isr
        if "removals" in scene.broken:
            skipped = copied(s)
            skipped.brokers[0].controller.partitions[0].leaving = 0
            progress.proceed(skipped.brokers[0].controller)
            yield from self.next_writes(skipped, scene)
        silent = difference(leaving, isr)
        for replica in range(len(self._ids)):
            if contains(leaving if is_empty(silent) else silent, replica):
                yield from self._followed(copied(s), machines.remove_replica, scene, replica)
                if not is_empty(silent):
                    return

    def _followed(self, s, transition, scene, *more):
        """The write that a transition makes, or, where it makes none, those that follow."""
        before = s.zk.partitions[0].leader_epoch
        self.take(transition, s, 0, *more)
        if s.zk.partitions[0].leader_epoch != before:
            yield Step(transition.__name__, s, self._elected(s))
        else:
            yield from self.next_writes(s, scene)

    def _visible(self, s, transition):
        after = copied(s)
        before = after.zk.partitions[0].leader_epoch
        self.take(transition, after, 0)
        if transition is not reassignment.tell_replicas:
            yield Step(transition.__name__, after, self._get(after.zk))
        elif after.zk.partitions[0].leader_epoch != before:
            yield Step(transition.__name__, after, self._elected(after))
        else:
            yield None

    def _ask(self, request, wanted, target):
        request.wanted = wanted
        for broker in target:
            push(request.target, self._numbers[broker])

    def _elected(self, s):
        znode = s.zk.partitions[0]
        return Elected(NOBODY if znode.leader == NOBODY else self._ids[znode.leader], self._members(znode.isr))

    def _put(self, partition, known):
        for broker in known.replicas:
            push(partition.assignment, self._numbers[broker])
        partition.adding, partition.removing = self._set(known.adding), self._set(known.removing)

    def _get(self, zk):
        assignment = zk.assignments[0]
        replicas = [self._ids[number] for number in assignment.slots[: assignment.length]]
        parts = (self._members(zk.adding[0]), self._members(zk.removing[0]))
        return Assignment(tuple(replicas), *(tuple(broker for broker in replicas if broker in part) for part in parts))

    def _set(self, brokers):
        return sum(1 << self._numbers[broker] for broker in set(brokers))

    def _members(self, bits):
        return frozenset(broker for broker in self._ids if contains(bits, self._numbers[broker]))

    def _blank(self, partitions):
        if partitions not in self._blanks:
            n = len(self._ids)
            scope = dict.fromkeys(self._model.scope, 2) | {"brokers": n, "replicas": n, "partitions": partitions}
            self._blanks[partitions] = new_state(self._model.state, scope)
        return self._blanks[partitions]


def copied(s: Plain) -> Plain:
    """A copy of a state; brokers other than the controller share theirs with it, which no step here changes."""
    brokers, s.brokers = s.brokers, s.brokers[:1]
    twin = s.copy()
    twin.brokers += brokers[1:]
    s.brokers = brokers
    return twin


@cache
def steps_of(kip455: bool, brokers: frozenset[int]) -> TopicSteps:
    """The transitions for these brokers, for all streams of a process."""
    return TopicSteps(kip455, brokers)


@cache
def _bound(variant: str) -> Model:
    """A variant's model, with the transitions bound to any choice."""
    any_of: dict[Callable, Callable] = {is_next: contains, progress.leaves_next: _leaves}
    return find("topics", variant)[0].rebound(any_of)


def _leaves(controller, p, r):
    """Whether replica `r` of partition `p` is to go offline, in whatever order."""
    return contains(controller.partitions[p].leaving, r)
