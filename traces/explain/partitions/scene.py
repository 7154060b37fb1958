"""A state of the specification about one partition of a log, in which transitions of a variant are run.

The specification numbers brokers from 0, the controller last, and keeps sets as bit masks; a log has ids, and only those
that matter for the partition have numbers here.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import product
from typing import Any, NamedTuple

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
from kafkaproof.spec.language.rebind import callees
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
from kafkaproof.spec.partition.network import put_alive, put_request, put_update
from kafkaproof.traces.explain.partitions.sent import SENDING, Sent
from kafkaproof.traces.explain.partitions.strategies import Elected, Strategy

EPOCH, LATER_EPOCH, LEADER_EPOCH = 1, 2, 0
"""The epochs of the controller and of every later one, and that of the leader, in the states that are built here."""
PARTITION, TOPICS = "partition", "topics"
"""The systems whose transitions are run."""
_ELECTING = {CONTROLLED_SHUTDOWN: Strategy.CONTROLLED_SHUTDOWN, REASSIGN: Strategy.REASSIGN}
_MOST_STEPS = 200
"""So many steps no handler takes for a partition or two."""


class Written(NamedTuple):
    """What a handler writes to a partition's state: by what, and the state before (None: it is the first) and after."""

    strategy: Strategy
    before: Elected | None
    after: Elected


class Stage:
    """The transitions of a model, and the states in which they are run. `room`: the bounds of the scope, all alike.

    `telling`: what is put into the network is noted in `put`: the name of the seam, its arguments behind the network.
    """

    def __init__(self, model: Model, room: int = 2, telling: bool = False):
        self.put: list[tuple] = []
        self.noting = {seam: self._note_in(seam) for seam in _sending_in(model)} if telling else {}
        model = model.rebound(self.noting) if telling else model
        self.model, self.record = model, model.state
        self.functions = {t.function.__name__: t.function for t in model.transitions}
        self.continuations = [
            (t.function.__name__, t.function, tuple(t.arguments))
            for t in model.transitions
            if t.kind == CONTINUATION and t.arguments.keys() <= {"b", "p", "r", "delivery"}
        ]
        """Those by which a controller goes on with an event: name, function, and the names of its arguments."""
        self.usual: dict[int, int] = {}
        """The place of the one that was last taken, by what the controller was doing."""
        self._room, self._blanks = room, dict[tuple[int, int], Plain]()

    def scope(self, brokers: int, partitions: int) -> dict[str, int]:
        """The scope of states of so many brokers and partitions."""
        sizes = {"brokers": brokers, "replicas": brokers, "partitions": partitions}
        return dict.fromkeys(self.model.scope, self._room) | sizes

    @property
    def tells(self) -> bool:
        """Whether what is sent is noted."""
        return bool(self.noting)

    def _note_in(self, seam: Callable) -> Callable:
        """The seam, which notes what it is given."""

        def note(network, *arguments):
            self.put.append((seam.__name__, *arguments))
            return seam(network, *arguments)

        return note

    def blank(self, brokers: int, partitions: int) -> Plain:
        """A state in which nothing has happened."""
        if (brokers, partitions) not in self._blanks:
            self._blanks[brokers, partitions] = new_state(self.record, self.scope(brokers, partitions))
        return self._blanks[brokers, partitions].copy()


def _sending_in(model: Model) -> list[Callable]:
    """The functions of a model that put requests of a controller into the network; of two that one calls, the outer."""
    found = {f.__name__: f for t in model.transitions for f in callees(t.function) if f.__name__ in SENDING}
    called = {each for f in found.values() for each in callees(f) if each is not f}
    return [f for f in found.values() if f not in called]


class Scene:
    """A state of a variant in which all brokers are registered and the last one is the controller.

    `before`: the state of the partition, None for a new one; `assignment`: its replicas, which the controller knows, too;
    `others`: brokers that matter besides; `first`: the one that has the lowest number; `partitions`: how many there are,
    all alike; `newer`: a controller of a higher epoch wrote the state. On a stage that tells, the controller reaches all.
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
        stage.put.clear()
        self.stage, self.brokers = stage, sorted(ids, key=lambda broker: (broker != first, broker))
        self.number, self.seat = {broker: number for number, broker in enumerate(self.brokers)}, len(ids)
        self.state = s = stage.blank(self.seat + 1, partitions)
        self.controller, self.partition = s.brokers[self.seat].controller, s.brokers[self.seat].controller.partitions[0]
        s.zk.registered, s.zk.controller = everybody(self.seat + 1), self.seat
        s.zk.epoch = self.controller.epoch = EPOCH
        if stage.tells:
            s.zk.clients[self.seat].seen = s.zk.registered
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
        leader = NOBODY if znode.leader == NOBODY else self.brokers[znode.leader]
        return Elected(leader, self._members(znode.isr))

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
        function = self.stage.functions.get(transition.__name__)
        return function is not None and bool(function(self.state, *arguments))

    def why_not(self, transition: Callable, *arguments: int) -> str | None:
        """Why a step is not possible, None where it is, and is taken."""
        before = self.state.copy()
        if self.take(transition, *arguments):
            return None
        function = self.stage.functions[transition.__name__]
        return str(refusal_of(function, self.stage.record, before, *arguments))

    def sent(self) -> Iterator[Sent]:
        """What was sent about the partition since this was last asked, where the stage notes it."""
        while self.stage.put:
            name, _, *about, to = self.stage.put.pop(0)
            if (said := self._about(name, about)) is not None:
                yield Sent(SENDING[name], *said, self._members(to))

    def _about(self, name: str, about: list) -> tuple[int, frozenset[int], str] | None:
        """Leader, ISR and how much the leader epoch is raised; None where it is about another partition."""
        none = NOBODY, frozenset[int](), str(NO_EPOCH)
        if name == put_alive.__name__:
            return none
        if about[0] != 0:
            return None
        if name in (put_request.__name__, put_update.__name__):
            leader, epoch, isr = about[1:4]
            return NOBODY if leader == NOBODY else self.brokers[leader], self._members(isr), str(epoch - LEADER_EPOCH)
        return (*none[:2], str(about[1] - LEADER_EPOCH)) if len(about) > 1 else none

    def _members(self, bits: int) -> frozenset[int]:
        return frozenset(b for b in self.brokers if contains(bits, self.number[b]))

    def go_on(self) -> Iterator[Written | Sent]:
        """Go on with the event in progress to its end, and give what is written to the partition's state, and sent."""
        znode = self.state.zk.partitions[0]
        yield from self.sent()
        for _ in range(_MOST_STEPS):
            if self.controller.doing == IDLE:
                return
            before = None if znode.leader_epoch == NO_EPOCH else self.written
            epoch, electing = znode.leader_epoch, self.controller.strategy
            name = self._step(self.stage.usual.setdefault(self.controller.doing, 0))
            assert name, f"a handler of the specification does not go on: {self.controller.doing}"
            if znode.leader_epoch != epoch:
                yield Written(_strategy(name, electing, before, self.written), before, self.written)
            yield from self.sent()
        raise AssertionError("a handler of the specification does not end")

    def _step(self, usual: int) -> str | None:
        """Take the next step of the event, and return its name; `usual`: the transition that is likely to be possible.

        What a controller is doing leaves it no choice.
        """
        doing, known = self.controller.doing, self.stage.continuations
        for place in (usual, *range(len(known))):
            name, function, names = known[place]
            if self._goes_on(function, names):
                self.stage.usual[doing] = place
                return name
        return None

    def _goes_on(self, function: Callable, names: tuple[str, ...]) -> bool:
        """Take a step of the controller by a transition, whatever replica it concerns; return whether there is one."""
        partitions = range(len(self.controller.partitions))
        choices = {"b": (self.seat,), "p": partitions, "r": range(self.seat + 1), "delivery": (ANSWERED,)}
        return any(function(self.state, *arguments) for arguments in product(*(choices[name] for name in names)))


Run = tuple[Any, ...]
"""What an event writes (`Written`), and sends (`Sent`) on a stage that tells, in order; nothing where it is not possible, or
the variant has no such event."""


class Begun(NamedTuple):
    """A state before a step, or before a controller handles an event: the transition that begins it, and its arguments
    behind the broker that takes it (None: the controller).

    `transition` is None where nothing begins it: the controller goes on by itself, if it is in the middle of something.
    """

    scene: Scene
    transition: Callable | None
    arguments: tuple[int, ...] = ()
    broker: int | None = None

    @property
    def taker(self) -> int:
        """The number of the broker that takes the step."""
        return self.scene.seat if self.broker is None else self.broker

    def run(self) -> Run:
        """Handle the event to its end."""
        begins = self.transition is None or self.scene.take(self.transition, self.taker, *self.arguments)
        return tuple(self.scene.go_on()) if begins else ()

    def why_not(self) -> str | None:
        """Why the step is not possible, None where it is, and is taken."""
        return self.transition and self.scene.why_not(self.transition, self.taker, *self.arguments)


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
def stage_of(variant: str, system: str = PARTITION, room: int = 2, telling: bool = False) -> Stage:
    """The stage of a variant of *partition*, or of *topics*, for all partitions of a process."""
    return Stage(find(system, variant)[0], room, telling)
