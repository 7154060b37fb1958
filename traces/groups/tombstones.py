"""Tombstones: what the specification would have written for one offset, in each way that it knows of.

Kafka deletes all offsets that it deletes at once, and the group with the last of them, in one batch. The specification
has one offset; what holds the group beside that one, another offset or a transaction, stands there as an offset that a
transaction has pending.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import lru_cache
from typing import NamedTuple

from kafkaproof.spec.group import deletion, offsets
from kafkaproof.spec.group.group_states import DEAD
from kafkaproof.spec.group.network import WORK
from kafkaproof.spec.group.records import (
    GROUP_RECORD,
    GROUP_TOMBSTONE,
    NO_RECORD,
    OFFSET_RECORD,
    OFFSET_TOMBSTONE,
    TOMBSTONES,
    TRANSACTION_RECORD,
)
from kafkaproof.spec.group.transactions import commit_in_transaction
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.sets import only
from kafkaproof.traces.groups.machine import Coordinator, Machine

WAYS: dict[Callable, str] = {
    deletion.clean_up: "expired",
    deletion.topic_deleted: "topic deleted",
    deletion.delete_offset: "offsets deleted by request",
    deletion.delete_group: "group deleted by request",
}
LEAST_RETENTION = 60_000
"""Milliseconds: offsets.retention.minutes is at least one."""


class Circumstances(NamedTuple):
    """What of a group decides on tombstones for one of its offsets.

    `generation` is 0 where it has no record; `running`: it has members; `committed`: it has the offset; `others`:
    something else holds it; `aged`: the offset is old enough; `idle`: the group was Empty long enough.
    """

    generation: int
    running: bool
    committed: bool
    others: bool
    subscribed: bool
    aged: bool
    idle: bool


def wanted(offset: bool, group: bool) -> int:
    """The kind of record that stands for these tombstones."""
    if group:
        return TOMBSTONES if offset else GROUP_TOMBSTONE
    return OFFSET_TOMBSTONE if offset else NO_RECORD


@lru_cache(maxsize=10_000)
def written(machine: Machine, way: Callable, at: Circumstances) -> int:
    """The kind of tombstones that a transition leads to, NO_RECORD for none."""
    coordinator = _coordinator(machine, at)
    length = coordinator.log.length
    if not coordinator.take(way, 0):
        return NO_RECORD
    if coordinator.group.state == DEAD:
        coordinator.take(deletion.remove_dead, 0)
    coordinator.take(deletion.bury, 0)
    return coordinator.appended().kind if coordinator.log.length > length else NO_RECORD


def ways_of(machine: Machine, offset: bool, group: bool, choices: Collection[Circumstances]) -> frozenset[Callable]:
    """The ways that lead to just these tombstones, in at least one of the circumstances that may be."""
    kind = wanted(offset, group)
    return frozenset(way for way in WAYS if any(written(machine, way, at) == kind for at in choices))


def _coordinator(machine, at):
    """A broker that has loaded a group in these circumstances."""
    coordinator = Coordinator(machine, ids=1)
    slots, length = coordinator.log.slots, 0
    if at.generation:
        group = slots[length]
        group.kind, group.generation, group.aged = GROUP_RECORD, at.generation, int(at.idle)
        group.leader = group.protocol = group.owner = 0 if at.running else NOBODY
        group.topic = NOBODY if not at.running else 0 if at.subscribed else 1
        group.members = only(0) if at.running else 0
        length += 1
    if at.committed:
        slots[length].kind, slots[length].aged = OFFSET_RECORD, int(at.aged)
        length += 1
    if at.others:
        slots[length].kind = TRANSACTION_RECORD
        length += 1
    coordinator.log.length = length
    coordinator.load()
    coordinator.state.storage.periods = 1
    return coordinator


@lru_cache(maxsize=100)
def may_commit(machine: Machine, running: bool, known: bool, transactional: bool) -> bool:
    """Whether an offset may be appended: by a member of a running group, by anybody else of one without members.

    `known`: the group has a record.
    """
    coordinator = _coordinator(machine, Circumstances(int(known), running, False, False, True, False, False))
    length = coordinator.log.length
    if transactional:
        coordinator.take(commit_in_transaction, 0)
    elif running:
        coordinator.ask(0, WORK, 0, generation=1)
        coordinator.take(offsets.commit, 0, 0, 0)
    else:
        coordinator.take(offsets.reset_offset, 0)
    return coordinator.log.length > length
