"""Compares what a request says of a partition with what steps send, and tells of both in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kafkaproof.traces.explain.partitions.sent import HALT, STOP_REPLICA
from kafkaproof.traces.wire.control.entries import DURING_DELETE, Entry
from kafkaproof.traces.wire.control.sendings import Sending
from kafkaproof.traces.zookeeper.znodes.assignments import Assignment


def numbered(sendings: list[Sending]) -> Iterator[tuple[int, Sending]]:
    """Each with its number among those that one step sends, from 0."""
    counts: Counter[tuple] = Counter()
    for each in sendings:
        key = each.trigger, each.zxid, each.cause
        yield counts[key], each
        counts[key] += 1


def goes_on(sendings: list[Sending]) -> bool:
    """Whether a deletion sends it, which sends it again whenever it goes on."""
    return any(each.leader_epoch is None for each in sendings)


def says(sending: Sending, entry: Entry) -> bool:
    """Whether a step sends what an entry says."""
    if sending.kind != entry.kind:
        return False
    if entry.kind in (HALT, STOP_REPLICA):
        if entry.leader_epoch is None:
            return True
        wanted = None if entry.leader_epoch == DURING_DELETE else entry.leader_epoch
        return sending.leader_epoch == wanted
    if entry.elected and entry.elected.leader == DURING_DELETE:
        return sending.leader_epoch is None
    return sending.elected == entry.elected and sending.leader_epoch == entry.leader_epoch


def words_of(entry: Entry) -> str:
    """What an entry says, in words."""
    epoch = "" if entry.leader_epoch is None else f" in leader epoch {entry.leader_epoch}"
    if entry.elected is None:
        return f"{entry.kind}{epoch}"
    number = "" if entry.version is None else f", version {entry.version}"
    return f"leader {entry.elected.leader}, ISR {sorted(entry.elected.isr)}{epoch}{number}"


def assignment_words(each: Assignment) -> str:
    """An assignment, in words."""
    return f"{list(each.replicas)}, adding {list(each.adding)}, removing {list(each.removing)}"


def trigger_words(sendings: list[Sending]) -> str:
    """The occasions of some sendings, in words."""
    return ", ".join(dict.fromkeys(f"{each.trigger} ({each.zxid:#x})" for each in sendings))
