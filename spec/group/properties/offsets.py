"""Properties of groups: commits, what a new coordinator loads, and what is deleted (G7 to G10, G16)."""

from kafkaproof.spec.group.coordinator import MEMBER
from kafkaproof.spec.group.group_states import ABSENT, DEAD, EMPTY, PREPARING_REBALANCE, STABLE
from kafkaproof.spec.group.properties.safety import accepted, goes_on, is_as_stored, is_coordinator, last_record
from kafkaproof.spec.group.records import (
    ABORT_MARKER,
    ABORT_SCHEDULED,
    COMMIT_MARKER,
    COMMIT_SCHEDULED,
    GROUP_RECORD,
    GROUP_TOMBSTONE,
    OFFSET_RECORD,
    OFFSET_TOMBSTONE,
    TOMBSTONES,
    TRANSACTION_RECORD,
)
from kafkaproof.spec.group.sorts import NOWHERE
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step


def commit_fence(before, after, b, m, late):
    """Only a member's commit in the present generation is accepted, while Stable or PreparingRebalance (G7)."""
    group = before.brokers[b].group
    request = before.network.late[m] if late else before.network.requests[m]
    if not accepted(before, after, b):
        return True
    if request.id == NOBODY or group.members[request.id].status != MEMBER or group.generation != request.generation:
        return False
    return group.state == STABLE or group.state == PREPARING_REBALANCE


def groupless_commit(before, after, b):
    """A commit without a member id is accepted only while the group is Empty or unknown (G7)."""
    state = before.brokers[b].group.state
    return not accepted(before, after, b) or state == EMPTY or state == ABSENT


def no_stale_commit(s):
    """No commit is stored after the record of a newer generation (G7)."""
    return s.storage.ghosts.stale == 0


def last_answered(s):
    """The last commit that was answered with NONE, and not deleted by the leader since; -1 if there is none."""
    found = NOWHERE
    for position in range(len(s.storage.log.slots) - 1):
        ghosts = s.storage.log.slots[position].ghosts
        if ghosts.answered and not ghosts.deleted:
            found = position
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


def offset_never_regresses(before, after, b, i):
    """An offset in the cache is replaced only by one that is later in the log (G9)."""
    old = before.brokers[b]
    new = after.brokers[b]
    return not goes_on(old, new) or new.group.state == DEAD or new.group.offset >= old.group.offset


def is_tombstone_of_offset(record):
    """Whether a record deletes the offset."""
    return record.kind == OFFSET_TOMBSTONE or record.kind == TOMBSTONES


def last_before(s, end):
    """The position of the last group record before a position, -1 when there is none or its tombstone follows."""
    found = NOWHERE
    for p in range(len(s.storage.log.slots) - 1):
        kind = s.storage.log.slots[p].kind
        if p < end and kind == GROUP_RECORD:
            found = p
        elif p < end and (kind == GROUP_TOMBSTONE or kind == TOMBSTONES):
            found = NOWHERE
    return found


def offset_before(s, end):
    """The position of the last offset before a position, -1 when there is none or its tombstone follows."""
    found = NOWHERE
    for p in range(len(s.storage.log.slots) - 1):
        if p < end and s.storage.log.slots[p].kind == OFFSET_RECORD:
            found = p
        elif p < end and is_tombstone_of_offset(s.storage.log.slots[p]):
            found = NOWHERE
    return found


def takes_effect(s, p):
    """The position from which the offset at `p` counts: its own, or that of its transaction's commit; -1 for never."""
    record = s.storage.log.slots[p]
    if record.kind == OFFSET_RECORD:
        return p
    found = NOWHERE
    decided = False
    for position in range(len(s.storage.log.slots) - 1):
        kind = s.storage.log.slots[position].kind
        if position > p and not decided and (kind == COMMIT_MARKER or kind == ABORT_MARKER):
            decided = True
            found = position if kind == COMMIT_MARKER else NOWHERE
    return found if record.kind == TRANSACTION_RECORD else NOWHERE


def folded_offset(s):
    """The last offset in the log that counts, and that no later tombstone deletes."""
    found = NOWHERE
    for p in range(len(s.storage.log.slots) - 1):
        since = takes_effect(s, p)
        lives = since != NOWHERE
        for position in range(len(s.storage.log.slots) - 1):
            if position > since and is_tombstone_of_offset(s.storage.log.slots[position]):
                lives = False
        if lives:
            found = p
    return found


def loaded_is_log(before, after, b):
    """The coordinator by right has loaded what the last record of each key says, unless it already had the group (G10)."""
    group = after.brokers[b].group
    last = last_record(after)
    if not is_coordinator(after, b) or before.brokers[b].group.state != ABSENT:
        return True
    if group.offset != folded_offset(after):
        return False
    if last == NOWHERE:
        nothing = group.offset == NOWHERE and group.pending == NOWHERE
        return group.state == (ABSENT if nothing else EMPTY) and group.generation == 0
    return (group.state == EMPTY or group.state == STABLE) and is_as_stored(group, after.storage.log.slots[last])


def is_pending(broker):
    """Whether a commit waits for its callback, or to be appended."""
    for append in broker.appends.slots:
        if append.kind == OFFSET_RECORD and not append.orphan:
            return True
    for prepared in broker.prepared.slots:
        if prepared.record.kind == OFFSET_RECORD and not prepared.orphan:
            return True
    return False


def loses_offset(before, after, b):
    """Whether a committed offset leaves a broker's cache."""
    return before.brokers[b].group.offset != NOWHERE and after.brokers[b].group.offset == NOWHERE


def expires_by_group(before, after, b):
    """An offset expires only if it is too old, and its group is Empty (for just as long, if it had members) or does not
    subscribe to its topic; never while a commit is pending (G16, KIP-211).
    """
    group = before.brokers[b].group
    if not loses_offset(before, after, b):
        return True
    if is_pending(before.brokers[b]):
        return False
    if group.state == EMPTY and group.generation > 0:
        return group.idle == 1
    return group.aged == 1 and (group.state == EMPTY or group.state == STABLE and group.topic != 0)


def expires_by_age(before, after, b):
    """An offset expires only if it is too old, and never while a commit is pending (G16, up to 2.0)."""
    if not loses_offset(before, after, b):
        return True
    return before.brokers[b].group.aged == 1 and not is_pending(before.brokers[b])


def running_group_keeps_offset(before, after, b):
    """The offset of a running group that subscribes to its topic does not expire (KIP-211)."""
    group = before.brokers[b].group
    runs = group.state != EMPTY and group.generation > 0 and group.topic == 0
    return not runs or not loses_offset(before, after, b)


def young_offset_stays(before, after, b):
    """No offset expires before a retention period has passed since it was committed."""
    return before.brokers[b].group.aged == 1 or not loses_offset(before, after, b)


def dies_with_nothing(before, after, b):
    """A group dies by itself only if it is Empty and no commit is pending (G16)."""
    group = before.brokers[b].group
    if after.brokers[b].group.state != DEAD:
        return True
    return group.state == EMPTY and group.pending == NOWHERE and not is_pending(before.brokers[b])


def counts_when_committed(s):
    """The coordinator by right has no offset of a transaction that is open, or was aborted."""
    for b in range(len(s.brokers)):
        offset = s.brokers[b].group.offset
        if is_coordinator(s, b) and offset != NOWHERE and takes_effect(s, offset) == NOWHERE:
            return False
    return True


def is_scheduled(broker):
    """Whether a marker is stored, and the cache is still to be updated."""
    for append in broker.appends.slots:
        if append.kind == COMMIT_SCHEDULED or append.kind == ABORT_SCHEDULED:
            return True
    return False


def durable_when_updated(s):
    """The coordinator by right has every commit that was answered with NONE, or a later one, once no update of its cache
    is due.
    """
    for b in range(len(s.brokers)):
        if is_coordinator(s, b) and not is_scheduled(s.brokers[b]) and s.brokers[b].group.offset < last_answered(s):
            return False
    return True


def marker_leaves_cache(before, after, b, i):
    """A marker that is stored changes nothing in the cache by itself."""
    old = before.brokers[b].group
    new = after.brokers[b].group
    return new.offset == old.offset and new.pending == old.pending


SAFETY = (
    always_step(commit_fence, of=("commit",)),
    always_step(groupless_commit, of=("reset_offset",)),
    always(no_stale_commit),
    always(durable),
    always_step(answered_is_kept, of=("fail_over",)),
    always_step(offset_never_regresses, of=("offset_stored", "marker_stored", "complete_later")),
    always_step(loaded_is_log, of=("load",)),
    always_step(running_group_keeps_offset, of=("clean_up",)),
    always_step(dies_with_nothing, of=("clean_up",)),
)
BY_GROUP = (always_step(expires_by_group, of=("clean_up",)), always_step(young_offset_stays, of=("clean_up",)))
BY_AGE = (always_step(expires_by_age, of=("clean_up",)),)
TRANSACTIONAL = (always(counts_when_committed),)
SCHEDULED = (*TRANSACTIONAL, always(durable_when_updated), always_step(marker_leaves_cache, of=("marker_stored",)))
"""Where the cache is updated after a marker; in place of `durable`, which does not hold meanwhile."""
