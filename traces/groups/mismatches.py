"""Says of a group's record what does not fit, for a person who reads of a divergence."""

from __future__ import annotations

from collections.abc import Collection

from kafkaproof.spec.kafka.offset_values import GroupValue
from kafkaproof.traces.groups.numbers import supports_nothing_seen


def describe(value: GroupValue | None) -> str:
    """A group's record in a few words."""
    if value is None:
        return "no group"
    if not value.members:
        return f"Empty in generation {value.generation}"
    members = ", ".join(m.id for m in value.members[:3]) + (" ..." if len(value.members) > 3 else "")
    return (
        f"generation {value.generation}, protocol {value.protocol}, leader {value.leader}, "
        f"{len(value.members)} members ({members})"
    )


def difference(before: GroupValue | None, after: GroupValue, former: Collection[str], stored: int) -> str:
    """Why a record does not follow from the one before, which stands at `stored` (-1: nowhere)."""
    place = f", stored at {stored}" if stored >= 0 else ""
    return f"{_flaw(before, after, former)}. The record: {describe(after)}. Before it: {describe(before)}{place}"


def _flaw(before, after, former):
    ids = {m.id for m in after.members}
    known = {m.id for m in before.members} if before else set()
    back = sorted((ids - known) & set(former))
    silent = [m.id for m in after.members if supports_nothing_seen(after, m)]
    if after.members and after.leader not in ids:
        return f"its leader, {after.leader}, is no member"
    if not after.members and (after.leader is not None or after.protocol is not None):
        return "it has no members, and a leader or a protocol"
    if after.members and after.protocol is None:
        return "it has members, and no protocol"
    if silent:
        return f"protocol {after.protocol} is not supported by {silent[0]}, which has said nothing under it"
    if back:
        return f"{back[0]} is a member again: an id that is gone is never given again"
    if before and after.generation < before.generation:
        return f"the generation falls from {before.generation} to {after.generation}: a former one is not stored again"
    if before and after.generation == before.generation:
        return f"generation {after.generation} is stored already, and no static member has come back"
    if before and before.leader in ids and before.leader != after.leader:
        return f"the leader changes from {before.leader} to {after.leader}, and the former one is still a member"
    if after.generation < 1:
        return f"generation {after.generation}: the first one is 1"
    return "no transition of the specification stores it"
