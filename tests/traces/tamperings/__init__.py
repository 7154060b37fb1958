"""Kinds of tampering with the ZooKeeper log of a real cluster: each must be reported at the right record."""

from tests.traces.tamperings import (
    contents,
    deletions,
    elections,
    messages,
    neglected,
    reassignments,
    removals,
    states,
    topics,
    znodes,
)
from tests.traces.tamperings.scene import KINDS, Kind, Scene

__all__ = [
    "KINDS",
    "Kind",
    "Scene",
    "contents",
    "deletions",
    "elections",
    "messages",
    "neglected",
    "reassignments",
    "removals",
    "states",
    "topics",
    "znodes",
]
