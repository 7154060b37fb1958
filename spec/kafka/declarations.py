"""How the transitions of brokers are declared: who takes them, what they request, and what kind they are."""

from collections.abc import Callable

from kafkaproof.spec.language.domains import Scope
from kafkaproof.spec.language.model import FAULT, Arrow, Transition

BROKER, ZOOKEEPER = "broker {b}", "zookeeper"
ASK = Arrow(BROKER, ZOOKEEPER, "{answer}", "request")


def lanes(scope: Scope) -> list[str]:
    """One lane for ZooKeeper, one for each broker."""
    return [ZOOKEEPER] + [f"broker {i}" for i in range(scope["brokers"])]


def asking(*functions: Callable, **declared) -> tuple[Transition, ...]:
    """Transitions of a broker that make a request to ZooKeeper."""
    return tuple(Transition(function, BROKER, (ASK,), **declared) for function in functions)


def acting(*functions: Callable, **declared) -> tuple[Transition, ...]:
    """Transitions of a broker that make no request to ZooKeeper."""
    return tuple(Transition(function, BROKER, **declared) for function in functions)


def faults(*functions: Callable, lane: str = ZOOKEEPER) -> tuple[Transition, ...]:
    """Events from outside: crashes, sessions that expire, acts of operators."""
    return tuple(Transition(function, lane, kind=FAULT) for function in functions)
