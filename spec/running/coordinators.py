"""Group coordinators: what a running one and its replay have in common.

Each broker has one record of *group* for a group. In it members, protocols and waiting clients are numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from types import FunctionType

from kafkaproof.spec.catalogue import find
from kafkaproof.spec.group import deletion, join, loading, membership, network, offsets, static, storage, sync
from kafkaproof.spec.group.coordinator import forget_group
from kafkaproof.spec.group.transitions import REPLACEMENT
from kafkaproof.spec.language.model import Model, Transition
from kafkaproof.spec.language.plain import Plain, values_of
from kafkaproof.spec.language.rebind import rebind

IDS, PROTOCOLS, APPENDS = 33, 16, 16
"""How many members, and one more number for "no member"; how many protocols; how many appends in flight.

There are as many places for a group.instance.id as for members; in what runs a set of them has any number.
"""
UNKNOWN = IDS - 1
_MANY = 1 << 30
SCOPE = {
    "brokers": 1,
    "clients": UNKNOWN,
    "ids": IDS,
    "generations": _MANY,
    "epochs": _MANY,
    "log": _MANY,
    "appends": APPENDS,
    "protocols": PROTOCOLS,
    "faults": _MANY,
    "topics": 1,
    "periods": 0,
    "prepared": 1,
}
_CURRENT = find("group", "current")[0]
MODEL = replace(_CURRENT, transitions=_CURRENT.transitions + REPLACEMENT)
"""What runs: *current*, and any client may be static."""
STEPS = (
    join.first_join,
    join.join,
    join.complete_join,
    join.join_timeout,
    sync.sync,
    sync.sync_refused,
    sync.group_stored,
    sync.group_not_stored,
    membership.heartbeat,
    membership.leave,
    membership.expire,
    membership.expire_pending,
    membership.sync_timeout,
    offsets.commit,
    offsets.commit_refused,
    offsets.offset_stored,
    offsets.offset_not_stored,
    offsets.fetch,
    offsets.reset_offset,
    loading.take_over,
    loading.read,
    loading.load,
    loading.unload,
    deletion.remove_dead,
    deletion.delete_group,
    deletion.delete_offset,
    deletion.bury,
    static.static_join,
    static.static_stored,
    static.static_not_stored,
)
"""The steps that a running coordinator takes."""
PROTOTYPE = ""
"""The name of a group that does not exist: an unknown group begins as a copy of its record."""
COPIED = ("epoch", "owned", "loading", "read")
"""The fields that a copy takes from it."""


def bound(model: Model, networks: type | None, storages: type) -> dict[Callable, FunctionType]:
    """`STEPS` as a model has them, where a method of a class replaces the seam of the same name.

    `networks` replaces the seams to clients, None leaves them as they are; `storages` those to the offsets log.
    """
    live = {
        function: _method(function.__name__)
        for module, seams in ((network, networks), (storage, storages))
        for function in vars(module).values()
        if isinstance(function, FunctionType)
        and function.__module__ == module.__name__
        and hasattr(seams, function.__name__)
    }
    taken = {each.name: each.function for each in model.transitions}
    return {function: rebind(taken[Transition(function).name], live) for function in STEPS}


def _method(name):
    return lambda target, *arguments: getattr(target, name)(*arguments)


def begin(record: Plain, known: Plain | None = None) -> None:
    """Make a record that of no group; what is known of the offsets partition is copied from `known`."""
    forget_group(record.group)
    for field in COPIED if known else ():
        setattr(record, field, getattr(known, field))


def digest_of(record: Plain) -> str:
    """16 hexadecimal digits of SHA-256 over the values of a group's record.

    Without `prepared`, and without what only appends of static members have: both are empty in what runs.
    """
    values = (
        record.epoch,
        record.owned,
        record.loading,
        record.read,
        record.tombstone,
        *values_of(record.group),
        record.appends.length,
        *(value for append in record.appends.slots for value in _recorded(append)),
    )
    return hashlib.sha256(",".join(map(str, values)).encode()).hexdigest()[:16]


def _recorded(append: Plain) -> list[int]:
    return [value for name in append.__slots__ if name != "now" for value in values_of(getattr(append, name))]
