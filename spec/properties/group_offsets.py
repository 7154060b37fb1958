"""Properties of groups: commits, and what a new coordinator loads (G7 to G10)."""

from spec.group.coordinator import MEMBER, NOWHERE, OFFSET_RECORD, OFFSET_TOMBSTONE, TOMBSTONES
from spec.group.states import ABSENT, DEAD, EMPTY, PREPARING_REBALANCE, STABLE
from spec.language.domains import NOBODY
from spec.language.model import always, always_step
from spec.properties.group import goes_on, is_as_stored, is_coordinator, last_record


def accepted(before, after, b):
    """Whether a commit was accepted."""
    return after.brokers[b].appends.length > before.brokers[b].appends.length


def commit_fence(before, after, b, m, late):
    """Only a member's commit in the present generation is accepted, Stable or while members are collected (G7)."""
    group = before.brokers[b].group
    request = before.network.late[m] if late else before.network.requests[m]
    if not accepted(before, after, b):
        return True
    if request.id == NOBODY or group.members[request.id].status != MEMBER or group.generation != request.generation:
        return False
    return group.state == STABLE or group.state == PREPARING_REBALANCE


def groupless_commit(before, after, b):
    """The commit of nobody in particular is accepted only while the group is Empty, or unknown (G7)."""
    state = before.brokers[b].group.state
    return not accepted(before, after, b) or state == EMPTY or state == ABSENT


def no_stale_commit(s):
    """No commit is stored behind the record of a newer generation (G7)."""
    return s.storage.ghosts.stale == 0


def last_answered(s):
    """The last commit that was answered with NONE, -1 when there is none or it is deleted."""
    found = NOWHERE
    for position in range(len(s.storage.log.slots) - 1):
        record = s.storage.log.slots[position]
        if record.kind == OFFSET_RECORD and record.ghosts.answered:
            found = position
        elif record.kind == OFFSET_TOMBSTONE or record.kind == TOMBSTONES:
            found = NOWHERE
    return found


def durable(s):
    """The coordinator by right has every commit that was answered with NONE, or a later one (G8)."""
    for b in range(len(s.brokers)):
        if is_coordinator(s, b) and s.brokers[b].group.offset < last_answered(s):
            return False
    return True


def answered_is_kept(before, after, to, committed, kept):
    """No commit that was answered with NONE is missing in the log of a new leader (G8)."""
    for position in range(len(before.storage.log.slots) - 1):
        if before.storage.log.slots[position].ghosts.answered and position >= kept:
            return False
    return True


def offset_never_regresses(before, after):
    """An offset in the cache is replaced only by one that is later in the log (G9)."""
    for b in range(len(after.brokers)):
        old = before.brokers[b]
        new = after.brokers[b]
        if goes_on(old, new) and new.group.state != DEAD and new.group.offset < old.group.offset:
            return False
    return True


def folded_offset(s):
    """The last offset in the log that is not followed by a tombstone."""
    found = NOWHERE
    for position in range(len(s.storage.log.slots) - 1):
        kind = s.storage.log.slots[position].kind
        if kind == OFFSET_RECORD:
            found = position
        elif kind == OFFSET_TOMBSTONE or kind == TOMBSTONES:
            found = NOWHERE
    return found


def loaded_is_log(before, after, b, upto):
    """What was loaded is what the last record of each key says (G10)."""
    group = after.brokers[b].group
    last = last_record(after)
    if group.offset != folded_offset(after):
        return False
    if last == NOWHERE:
        return group.state == (ABSENT if group.offset == NOWHERE else EMPTY) and group.generation == 0
    return (group.state == EMPTY or group.state == STABLE) and is_as_stored(group, after.storage.log.slots[last])


SAFETY = (
    always_step(commit_fence, of=("commit",)),
    always_step(groupless_commit, of=("reset_offset",)),
    always(no_stale_commit),
    always(durable),
    always_step(answered_is_kept, of=("fail_over",)),
    always_step(offset_never_regresses),
    always_step(loaded_is_log, of=("load",)),
)
