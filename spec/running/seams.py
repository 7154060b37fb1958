"""Seams: the functions by which a transition reaches what a broker does not own.

They are the functions of the specification whose first parameter is `zk` or `network`, those that read and write a
partition's log, and those that answer clients. A program that runs or replays the specification replaces or observes
them. A module whose seams have another first parameter names it in `SEAMS_OF`; in `KNOWN` it names its ZooKeeper
functions that return what is known already. All others make a request and answer with a code.

Messages between a follower and its leader, and a leader's proposals to the controller, are no seams: a message is a
small record that the functions of `kafkaproof.spec.replica.network` read and write, in a running broker as in a model.
It is sent as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType

from kafkaproof.spec.language.rebind import globals_used, original
from kafkaproof.spec.replica.clients.network import take_record
from kafkaproof.spec.replica.network import check

SEAMS = ("zk", "network")
ANSWERS = (check, take_record)
"""Functions that make no request to ZooKeeper, and whose answer is that of the step."""


def _declared(function: Callable, name: str, otherwise: tuple[str, ...]) -> tuple[str, ...]:
    """What the module of a function declares under a name, else `otherwise`."""
    return getattr(sys.modules.get(function.__module__), name, otherwise)


def is_seam(function: Callable) -> bool:
    """Whether a function of the specification is a seam."""
    names = _declared(function, "SEAMS_OF", SEAMS)
    return function.__code__.co_argcount > 0 and function.__code__.co_varnames[0] in names


def seams_of(function: Callable) -> set[Callable]:
    """The seams that a transition calls, itself or through helpers."""
    return {callee for callee in _reached(function) if is_seam(callee)}


def answers_of(function: Callable) -> set[Callable]:
    """The functions that a transition calls, itself or through helpers, whose answer is that of the step."""
    return {callee for callee in _reached(function) if original(callee) in ANSWERS or is_seam(callee) and asks(callee)}


def _reached(function):
    found, waiting = set(), [function]
    while waiting:
        for callee in globals_used(waiting.pop()).values():
            if isinstance(callee, FunctionType) and callee not in found:
                found.add(callee)
                if not is_seam(callee):
                    waiting.append(callee)
    return found


def asks(seam: Callable) -> bool:
    """Whether a seam is a request to ZooKeeper."""
    return seam.__code__.co_varnames[0] == "zk" and seam.__name__ not in _declared(seam, "KNOWN", ())
