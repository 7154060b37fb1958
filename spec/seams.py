"""Seams: the functions by which a transition reaches what a broker does not own.

They are the functions of the specification whose first parameter is `zk` or `network`. Whoever runs or replays a
specification replaces them, or watches them.
"""

from __future__ import annotations

from types import FunctionType
from typing import Callable

from spec.language.rebind import globals_used

SEAMS = ("zk", "network")
KNOWN = {
    "session_open", "waiting", "take_event", "brokers_changed", "vacant", "moved", "election_wanted",
    "unclean_allowed", "deletion_wanted", "is_moved", "wanted_target", "copy_target", "log_dir_events", "isr_changed",
    "assigned", "known_as_they_are", "as_they_are",
}
"""Seams of ZooKeeper that tell what is known already; all others ask, and answer with a code."""


def is_seam(function: Callable) -> bool:
    """Whether a function of the specification is a seam."""
    return function.__code__.co_varnames[:1] in tuple((name,) for name in SEAMS)


def seams_of(function: FunctionType) -> set[FunctionType]:
    """The seams that a transition calls, itself or through helpers."""
    found, waiting, seen = set(), [function], set()
    while waiting:
        for callee in globals_used(waiting.pop()).values():
            if isinstance(callee, FunctionType) and callee not in seen:
                seen.add(callee)
                (found.add if is_seam(callee) else waiting.append)(callee)
    return found


def asks(seam: Callable) -> bool:
    """Whether a seam is a request to ZooKeeper."""
    return seam.__code__.co_varnames[0] == "zk" and seam.__name__ not in KNOWN
