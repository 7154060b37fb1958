"""Runs the handlers of the partition system for one partition: what each first writes to its state.

The transitions decide. Here is only what they are run from: a controller that rules and is called to handle something,
and a partition as ZooKeeper has it. The controller is a broker of its own, which has no replica.
"""

from collections.abc import Callable
from functools import cache, lru_cache
from itertools import product
from typing import NamedTuple

from kafkaproof.spec.kafka.state_machines import (
    NEW_PARTITION,
    OFFLINE_PARTITION,
    OFFLINE_REPLICA,
    ONLINE_PARTITION,
    ONLINE_REPLICA,
)
from kafkaproof.spec.kafka.zookeeper import ANSWERED
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.plain import Plain, new_state
from kafkaproof.spec.language.sequences import push
from kafkaproof.spec.partition.brokers import broker_change, controlled_shutdown
from kafkaproof.spec.partition.context import (
    ELECTING,
    IDLE,
    NO_EPOCH,
    READING_BROKERS,
    drop_result,
    remember_leadership,
)
from kafkaproof.spec.partition.model import EVENTS
from kafkaproof.spec.partition.network import put_shutdown
from kafkaproof.spec.partition.znodes import FIRED
from kafkaproof.traces.evidence.features import Features
from kafkaproof.traces.explain.partitions.strategies import Elected

Ids = frozenset[int]
_REMEMBERED = 20_000
EPOCH = 1
"""The epoch of the controller in the states that are built here."""


class Partition(NamedTuple):
    """A partition: its replicas, and leader and ISR of its state; `isr` is None where there is no state."""

    replicas: tuple[int, ...]
    leader: int = NOBODY
    isr: Ids | None = None


class Seen(NamedTuple):
    """What a controller goes by: the registered brokers, those of them whose replicas may count as offline, and
    whether the topic allows unclean elections."""

    live: Ids
    offline: Ids
    unclean: bool


class Handlers:
    """The handlers of a version's controller."""

    def __init__(self, features: Features):
        self._model = features.handlers
        names = {transition.function.__name__ for transition in EVENTS}
        self._events = [(t.function, t.arguments) for t in self._model.transitions if t.function.__name__ in names]
        self._blanks: dict[int, Plain] = {}
        for name in ("begins", "misses", "releases", "makes"):
            setattr(self, name, lru_cache(_REMEMBERED)(getattr(self, name)))

    def begins(self, partition: Partition, seen: Seen, gone: int = NOBODY) -> Elected | None:
        """What a controller whose term begins writes first; of those that are gone it takes this broker first."""
        s, number = self._state(partition, seen, gone)
        _controller(s).doing = READING_BROKERS
        return self._writes(s, number)

    def misses(self, partition: Partition, seen: Seen, gone: int) -> Elected | None:
        """What a controller writes first that sees that a broker is gone."""
        s, number = self._state(partition, seen, gone)
        before = s.zk.registered | 1 << number[gone]
        client = s.zk.clients[len(number)]
        client.watch, client.seen = FIRED, before
        self._know(s, partition, number, before)
        self._take(s, broker_change)
        return self._writes(s, number)

    def releases(self, partition: Partition, seen: Seen, leaver: int) -> Elected | None:
        """What a controller writes first that a broker asks to be shut down."""
        s, number = self._state(partition, seen, leaver)
        self._know(s, partition, number, s.zk.registered)
        put_shutdown(s.network, number[leaver])
        self._take(s, controlled_shutdown, number[leaver])
        return self._writes(s, number)

    def makes(self, partition: Partition, seen: Seen) -> Elected | None:
        """What a controller writes first that has read of a new partition."""
        s, number = self._state(partition, seen, NOBODY)
        controller = _controller(s)
        controller.live, controller.doing, controller.todo = s.zk.registered, ELECTING, 1
        for broker in partition.replicas:
            push(controller.partitions[0].assignment, number[broker])
        controller.partitions[0].state = NEW_PARTITION
        return self._writes(s, number)

    @staticmethod
    def _know(s: Plain, partition: Partition, number: dict[int, int], live: int) -> None:
        """Let the controller know the partition as it is, and these live brokers (a bit mask)."""
        controller, state = _controller(s), s.zk.partitions[0]
        controller.live, known = live, controller.partitions[0]
        for broker in partition.replicas:
            push(known.assignment, number[broker])
            known.replicas[number[broker]] = ONLINE_REPLICA if live >> number[broker] & 1 else OFFLINE_REPLICA
        remember_leadership(known, state.leader, state.isr, state.leader_epoch)
        led = state.leader != NOBODY and live >> state.leader & 1
        known.state = ONLINE_PARTITION if led else OFFLINE_PARTITION

    def _state(self, partition: Partition, seen: Seen, gone: int) -> tuple[Plain, dict[int, int]]:
        """A state with the partition in ZooKeeper, and the numbers of the brokers in it, the lowest of who is gone."""
        ids = sorted(
            {*partition.replicas, *(partition.isr or ())} | ({partition.leader} - {NOBODY}),
            key=lambda broker: (broker != gone, broker),
        )
        number = {broker: place for place, broker in enumerate(ids)}
        s = self._blank(len(ids) + 1)
        zk, controller = s.zk, _controller(s)
        zk.registered = 1 << len(ids) | _set(seen.live, number)
        zk.controller, zk.epoch, zk.unclean = len(ids), EPOCH, int(seen.unclean)
        for broker in partition.replicas:
            push(zk.assignments[0], number[broker])
        state = zk.partitions[0]
        state.leader, state.leader_epoch, state.controller_epoch = NOBODY, NO_EPOCH, EPOCH
        if partition.isr is not None:
            state.leader, state.leader_epoch = number.get(partition.leader, NOBODY), 0
            state.isr = _set(partition.isr, number)
        controller.epoch, controller.leaving = EPOCH, _set(seen.offline & seen.live, number)
        drop_result(controller)
        remember_leadership(controller.partitions[0], NOBODY, 0, NO_EPOCH)
        return s, number

    def _writes(self, s: Plain, number: dict[int, int]) -> Elected | None:
        """Run the handler to its first write, and return that, or None at its end."""
        state, before = s.zk.partitions[0], s.zk.partitions[0].leader_epoch
        while _controller(s).doing != IDLE and state.leader_epoch == before:
            if not any(self._step(s, function, names, len(number)) for function, names in self._events):
                raise AssertionError("a handler of the specification does not go on")
        if state.leader_epoch == before:
            return None
        ids = {place: broker for broker, place in number.items()}
        return Elected(ids.get(state.leader, NOBODY), frozenset(ids[place] for place in ids if state.isr >> place & 1))

    def _step(self, s: Plain, function, names, brokers: int) -> bool:
        """Take a step of the controller by a transition, whatever replica it concerns; return whether there is one."""
        choices = {"b": (brokers,), "p": (0,), "r": range(brokers), "delivery": (ANSWERED,)}
        if not names.keys() <= choices.keys():
            return False
        return any(function(s, *arguments) for arguments in product(*(choices[name] for name in names)))

    def _take(self, s: Plain, transition: Callable, *arguments: int) -> None:
        bound = next(function for function, _ in self._events if function.__name__ == transition.__name__)
        bound(s, len(s.brokers) - 1, *arguments)

    def _blank(self, brokers: int) -> Plain:
        if brokers not in self._blanks:
            scope = dict.fromkeys(self._model.scope, 2) | {"brokers": brokers, "replicas": brokers, "partitions": 1}
            self._blanks[brokers] = new_state(self._model.state, scope)
        return self._blanks[brokers].copy()


def _controller(s: Plain) -> Plain:
    """The controller, which is the last broker."""
    return s.brokers[len(s.brokers) - 1].controller


def _set(brokers: Ids, number: dict[int, int]) -> int:
    return sum(1 << number[broker] for broker in brokers if broker in number)


@cache
def handlers_of(features: Features) -> Handlers:
    """The handlers of a version, for all partitions of a process."""
    return Handlers(features)
