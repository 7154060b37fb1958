"""A state of the specification about one partition of a log, in which transitions of a variant are run.

The specification numbers brokers from 0, the controller last, and keeps sets as bit masks; a log has ids, and only those
that matter for the partition have numbers here.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import product
from typing import NamedTuple

from kafkaproof.checker.model.refusals import refusal_of
from kafkaproof.spec.catalogue import find
from kafkaproof.spec.kafka.state_machines import (
    NEW_PARTITION,
    OFFLINE_PARTITION,
    OFFLINE_REPLICA,
    ONLINE_PARTITION,
    ONLINE_REPLICA,
)
from kafkaproof.spec.kafka.zookeeper import ANSWERED
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import CONTINUATION, Model
from kafkaproof.spec.language.plain import Plain, new_state
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.language.sets import contains, everybody
from kafkaproof.spec.partition import machines
from kafkaproof.spec.partition.context import (
    CONTROLLED_SHUTDOWN,
    FORCED,
    IDLE,
    NO_EPOCH,
    OFFLINE,
    REASSIGN,
    copy,
    forget_partition,
    has_leader,
    is_known,
    remember_leadership,
)
from kafkaproof.traces.explain.partitions.strategies import Elected, Strategy

EPOCH, LATER_EPOCH, LEADER_EPOCH = 1, 2, 0
"""The epochs of the controller and of every later one, and that of the leader, in the states that are built here."""
_ELECTING = {CONTROLLED_SHUTDOWN: Strategy.CONTROLLED_SHUTDOWN, REASSIGN: Strategy.REASSIGN}
_MOST_STEPS = 200
"""So many steps no handler takes for a partition or two."""


class Written(NamedTuple):
    """What a handler writes to a partition's state: by what, and the state before (None: it is the first) and after."""

    strategy: Strategy
    before: Elected | None
    after: Elected


class Stage:
    """The transitions of a model, and the states in which they are run."""

    def __init__(self, model: Model):
        self.record = model.state
        self.functions = {t.function.__name__: t.function for t in model.transitions}
        self.continuations = [
            (t.function.__name__, t.function, tuple(t.arguments))
            for t in model.transitions
            if t.kind == CONTINUATION and t.arguments.keys() <= {"b", "p", "r", "delivery"}
        ]
        """Those by which a controller goes on with an event: name, function, and the names of its arguments."""
        self.usual: dict[int, int] = {}
        """The place of the one that was last taken, by what the controller was doing."""
        self._scope, self._blanks = model.scope, dict[tuple[int, int], Plain]()

    def blank(self, brokers: int, partitions: int) -> Plain:
        """A state in which nothing has happened."""
        if (brokers, partitions) not in self._blanks:
            sizes = {"brokers": brokers, "replicas": brokers, "partitions": partitions}
            self._blanks[brokers, partitions] = new_state(self.record, dict.fromkeys(self._scope, 2) | sizes)
        return self._blanks[brokers, partitions].copy()


class Scene:
    """A state of a variant in which all brokers are registered and the last one is the controller.

    `before`: the state of the partition, None for a new one; `assignment`: its replicas, which the controller knows, too;
    `others`: brokers that matter besides; `first`: the one that has the lowest number; `partitions`: how many there are,
    all alike; `newer`: a controller of a higher epoch wrote the state.
    """

    def __init__(
        self,
        stage: Stage,
        before: Elected | None,
        assignment: Iterable[int],
        others: Iterable[int] = (),
        first: int = NOBODY,
        partitions: int = 1,
        newer: bool = False,
    ):
        assignment = tuple(assignment)
        ids = {*assignment, *others, *(before.isr if before else ()), *((before.leader,) if before else ())} - {NOBODY}
        self._stage, self._ids = stage, sorted(ids, key=lambda broker: (broker != first, broker))
        self.number, self.seat = {broker: number for number, broker in enumerate(self._ids)}, len(ids)
        self.state = s = stage.blank(self.seat + 1, partitions)
        self.controller, self.partition = s.brokers[self.seat].controller, s.brokers[self.seat].controller.partitions[0]
        s.zk.registered, s.zk.controller = everybody(self.seat + 1), self.seat
        s.zk.epoch = self.controller.epoch = EPOCH
        self.controller.result.leader, self.controller.result.leader_epoch = NOBODY, NO_EPOCH
        for number, known in enumerate(self.controller.partitions):
            self.push(s.zk.assignments[number], assignment)
            copy(s.zk.assignments[number], known.assignment)
            self._put(s.zk.partitions[number], known, before, LATER_EPOCH if newer else EPOCH)

    def _put(self, znode, known, before, epoch):
        if before is None:
            znode.leader, znode.leader_epoch = NOBODY, NO_EPOCH
        else:
            znode.leader, znode.isr = self.number.get(before.leader, NOBODY), self.bits(before.isr)
            znode.leader_epoch, znode.controller_epoch = LEADER_EPOCH, epoch
        remember_leadership(known, znode.leader, znode.isr, znode.leader_epoch)

    @property
    def written(self) -> Elected:
        """The state of the partition as it is now."""
        znode = self.state.zk.partitions[0]
        leader = NOBODY if znode.leader == NOBODY else self._ids[znode.leader]
        return Elected(leader, frozenset(b for b in self._ids if contains(znode.isr, self.number[b])))

    def bits(self, brokers: Iterable[int]) -> int:
        """A set of brokers, those that matter here."""
        return sum(1 << self.number[broker] for broker in set(brokers) if broker in self.number)

    def push(self, sequence: Plain, brokers: Iterable[int]) -> None:
        """Put brokers into a sequence."""
        for broker in brokers:
            push(sequence, self.number[broker])

    def register(self, live: Iterable[int]) -> None:
        """Let only these brokers be registered, and the controller."""
        self.state.zk.registered = self.bits(live) | 1 << self.seat

    def know(self, live: Iterable[int], leaving: Iterable[int] = (), failed: Iterable[int] = ()) -> None:
        """Let the controller take these brokers for live, of which some are shutting down, or have lost the log
        directory of the partition.
        """
        controller = self.controller
        controller.live, controller.leaving = self.bits(live) | 1 << self.seat, self.bits(leaving)
        for known in controller.partitions:
            known.failed = self.bits(failed)
            for broker in self.number.values():
                known.replicas[broker] = ONLINE_REPLICA if contains(controller.live, broker) else OFFLINE_REPLICA
            known.state = ONLINE_PARTITION if has_leader(controller, known) else OFFLINE_PARTITION
            if not is_known(known):
                known.state = NEW_PARTITION

    def forget(self) -> None:
        """Let the controller know nothing of the partition."""
        forget_partition(self.partition)

    def take(self, transition: Callable, *arguments: int) -> bool:
        """Take a step of the variant, if it has that transition and it is possible."""
        function = self._stage.functions.get(transition.__name__)
        return function is not None and bool(function(self.state, *arguments))

    def why_not(self, transition: Callable, *arguments: int) -> str | None:
        """Why a step is not possible, None where it is, and is taken."""
        before = self.state.copy()
        if self.take(transition, *arguments):
            return None
        function = self._stage.functions[transition.__name__]
        return str(refusal_of(function, self._stage.record, before, *arguments))

    def go_on(self) -> Iterator[Written]:
        """Go on with the event in progress to its end, and give what is written to the partition's state."""
        znode = self.state.zk.partitions[0]
        for _ in range(_MOST_STEPS):
            if self.controller.doing == IDLE:
                return
            before = None if znode.leader_epoch == NO_EPOCH else self.written
            epoch, electing = znode.leader_epoch, self.controller.strategy
            name = self._step(self._stage.usual.setdefault(self.controller.doing, 0))
            assert name, f"a handler of the specification does not go on: {self.controller.doing}"
            if znode.leader_epoch != epoch:
                yield Written(_strategy(name, electing, before, self.written), before, self.written)
        raise AssertionError("a handler of the specification does not end")

    def _step(self, usual: int) -> str | None:
        """Take the next step of the event, and return its name; `usual`: the transition that is likely to be possible.

        What a controller is doing leaves it no choice.
        """
        doing, known = self.controller.doing, self._stage.continuations
        for place in (usual, *range(len(known))):
            name, function, names = known[place]
            if self._goes_on(function, names):
                self._stage.usual[doing] = place
                return name
        return None

    def _goes_on(self, function: Callable, names: tuple[str, ...]) -> bool:
        """Take a step of the controller by a transition, whatever replica it concerns; return whether there is one."""
        partitions = range(len(self.controller.partitions))
        choices = {"b": (self.seat,), "p": partitions, "r": range(self.seat + 1), "delivery": (ANSWERED,)}
        return any(function(self.state, *arguments) for arguments in product(*(choices[name] for name in names)))


def _strategy(name: str, electing: int, before: Elected | None, after: Elected) -> Strategy:
    """By what a transition writes: by the strategy of the event, if it is an election."""
    if name == machines.create_first_state.__name__:
        return Strategy.NEW_TOPIC
    if name == machines.write_removal.__name__:
        return Strategy.REMOVAL
    if electing in _ELECTING:
        return _ELECTING[electing]
    if electing in (OFFLINE, FORCED):
        clean = before is not None and after.leader in before.isr
        return Strategy.OFFLINE if clean else Strategy.OFFLINE_UNCLEAN
    return Strategy.PREFERRED


@cache
def stage_of(variant: str) -> Stage:
    """The stage of a variant of *partition*, for all partitions of a process."""
    return Stage(find("partition", variant)[0])
