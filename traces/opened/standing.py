"""A state that is known only in part, made whole: what a log shows, what replay has chosen, and what is assumed besides."""

from collections.abc import Iterator
from typing import NamedTuple

from kafkaproof.checker.model.execution import Execution
from kafkaproof.spec.kafka.state_machines import (
    NEW_PARTITION,
    NON_EXISTENT_PARTITION,
    NON_EXISTENT_REPLICA,
    REPLICA_DELETION_SUCCESSFUL,
)
from kafkaproof.spec.kafka.strategies import replicas_of
from kafkaproof.spec.kafka.zookeeper import ANSWERED
from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.model import CONTINUATION, Model
from kafkaproof.spec.language.plain import Plain, from_json, to_json
from kafkaproof.spec.language.sets import contains
from kafkaproof.spec.partition.context import IDLE, NO_EPOCH, READING_BROKERS, drop_result
from kafkaproof.spec.partition.znodes import ARMED, FIRED, NONE
from kafkaproof.traces.explain.partitions.scene import Begun

ROOM = 4
"""The bounds of the scopes in which such states are explored."""
_ASKED = ("shutdowns", "asked", "alteration")
"""What the network has that replay puts there: what is asked of a controller."""
_MOST_STEPS = 60


class Choice(NamedTuple):
    """One of the states that may stand before a record: what it takes for granted, and the path to the next write."""

    text: str
    state: Plain
    path: tuple[str, ...] = ()


class Standing(NamedTuple):
    """The states of a model that may stand before a record, the likeliest first. `told`: what they are, a paragraph each."""

    model: Model
    scope: Scope
    choices: list[Choice]
    told: tuple[str, ...]


def whole(model: Model, judged: Plain, judged_at: Scope, scope: Scope, seat: int) -> Plain:
    """A state that replay has judged by, at a scope of its own, with brokers that may take steps.

    Replay sets what a controller goes by, and leaves all else at zero. Here brokers that are registered run, and know
    of the partitions what ZooKeeper holds; the others are down. `seat`: the number of the controller.
    """
    s = Execution(model, scope).initial_states()[0]
    judged = from_json(model.state, to_json(model.state, judged, judged_at), scope)
    s.zk = judged.zk
    for name in set(_ASKED).intersection(s.network.__slots__):
        setattr(s.network, name, getattr(judged.network, name))
    s.brokers[seat].controller, s.brokers[seat].errors = judged.brokers[seat].controller, judged.brokers[seat].errors
    _settle(s, seat)
    for number, broker in enumerate(s.brokers):
        broker.up = int(contains(s.zk.registered, number))
        for p, state in enumerate(s.zk.partitions):
            told = broker.up and contains(replicas_of(s.zk.assignments[p]), number)
            told = told and not _is_deleted(s, seat, p, number)
            if told:
                broker.replicas[p].leader, broker.replicas[p].leader_epoch = state.leader, state.leader_epoch
            leads = told and state.leader == number
            s.network.proposals[p][number] = state.leader_epoch if leads else NO_EPOCH
    return s


def _is_deleted(s: Plain, seat: int, p: int, number: int) -> bool:
    """Whether a replica was deleted, as a controller knows."""
    controller = s.brokers[seat].controller
    state = controller.partitions[p].replicas[number]
    return contains(controller.deleting, p) and state in (REPLICA_DELETION_SUCCESSFUL, NON_EXISTENT_REPLICA)


def _settle(s: Plain, seat: int) -> None:
    """Let a controller hear of brokers that it does not know, and remember no more than belongs to what it is doing."""
    controller, client = s.brokers[seat].controller, s.zk.clients[seat]
    if client.watch == NONE and controller.doing != READING_BROKERS:
        client.watch, client.seen = (ARMED if controller.live == s.zk.registered else FIRED), controller.live
    if controller.doing == IDLE:
        drop_result(controller)
        for partition in controller.partitions:
            if partition.state == NON_EXISTENT_PARTITION:
                partition.state = NEW_PARTITION


def before_the_write(model: Model, scope: Scope, state: Plain, begun: Begun) -> tuple[str, ...]:
    """The steps by which a controller handles an event up to where it writes the partition; none where it writes nothing."""
    execution, path = Execution(model, scope), list[str]()
    for _ in range(_MOST_STEPS):
        found = next(_goes_on(execution, state, begun, first=not path), None)
        if found is None:
            return ()
        text, after = found
        if after.zk.partitions[0].leader_epoch != state.zk.partitions[0].leader_epoch:
            return tuple(path)
        path.append(text)
        state = after
    return ()


def _goes_on(execution: Execution, s: Plain, begun: Begun, first: bool) -> Iterator[tuple[str, Plain]]:
    """The steps that the controller may take next, each with the state that it leads to."""
    for transition, arguments, after, bound in execution.steps(s):
        given = dict(zip(transition.arguments, arguments))
        if first and begun.transition is not None:
            taken = transition.function.__name__ == begun.transition.__name__
            taken = taken and arguments == (begun.taker, *begun.arguments)
        else:
            taken = transition.kind == CONTINUATION and given.get("b") == begun.taker
        if taken and not bound and given.get("delivery", ANSWERED) == ANSWERED:
            yield str(execution.step(transition, arguments)), after


def numbered(brokers: list[int]) -> str:
    """Which brokers of a log the numbers of a state stand for, in words."""
    of = (f"broker {broker}" if broker >= 0 else "another broker" for broker in brokers)
    return ", ".join(f"{number} is {broker}" for number, broker in enumerate(of))
