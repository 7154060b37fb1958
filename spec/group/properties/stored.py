"""Properties of groups: what is appended, and what its callback does."""

from kafkaproof.spec.group.coordinator import JOIN_PARKED, SYNC_PARKED
from kafkaproof.spec.group.group_states import COMPLETING_REBALANCE, DEAD, EMPTY, PREPARING_REBALANCE, STABLE
from kafkaproof.spec.group.member import SYNCING
from kafkaproof.spec.group.network import (
    COORDINATOR_NOT_AVAILABLE,
    INVALID_COMMIT_OFFSET_SIZE,
    LEAVE,
    NOT_COORDINATOR,
    REBALANCE_IN_PROGRESS,
    REQUEST_TIMED_OUT,
    UNANSWERED,
    UNKNOWN_SERVER_ERROR,
    WORK,
)
from kafkaproof.spec.group.properties.invariants import append_is_written, committed_is_written, record_is_whole
from kafkaproof.spec.group.properties.offsets import is_pending
from kafkaproof.spec.group.properties.safety import has_members_of
from kafkaproof.spec.group.records import GROUP_RECORD, NO_RECORD, OFFSET_RECORD, STATIC_RECORD
from kafkaproof.spec.group.sorts import NOWHERE
from kafkaproof.spec.group.storage import NOT_LEADER, TIMED_OUT, TOO_LARGE
from kafkaproof.spec.language.domains import NOBODY
from kafkaproof.spec.language.model import always, always_step, sometimes
from kafkaproof.spec.language.sets import contains, is_empty


def log_is_whole(s):
    """A group's record in the log has its leader among its members, and the protocol and assignment that were chosen,
    or none of these without members. No other record has any of that. Beyond the log's end nothing is committed,
    nothing waits to be acknowledged, and all is empty.
    """
    for p in range(len(s.storage.log.slots) - 1):
        record = s.storage.log.slots[p]
        if p < s.storage.log.length and record.kind != GROUP_RECORD and not is_bare(record):
            return False
        if not record_is_whole(s, p) or (record.kind == NO_RECORD) != (p >= s.storage.log.length):
            return False
    for b in range(len(s.brokers)):
        if not append_is_written(s, b):
            return False
        appends = s.brokers[b].appends
        for i in range(len(appends.slots) - 1):
            if (appends.slots[i].kind == NO_RECORD) != (i >= appends.length):
                return False
    return committed_is_written(s)


def is_bare(record):
    """Whether a record says nothing about a group except its generation."""
    chosen = record.leader != NOBODY or record.protocol != NOBODY or record.topic != NOBODY or record.owner != NOBODY
    return not chosen and is_empty(record.members)


def is_written_by(broker, record):
    """Whether a group's record matches the group in a broker's cache: its generation, leader, protocol and members. The
    assignment is to one of the members, or to nobody.
    """
    group = broker.group
    if group.generation != record.generation or group.leader != record.leader or group.protocol != record.protocol:
        return False
    if record.topic != group.topic or group.state == STABLE and record.owner != group.owner:
        return False
    if group.state == EMPTY and record.owner != NOBODY:
        return False
    return has_members_of(group, record) and (record.owner == NOBODY or contains(record.members, record.owner))


def group_is_stored_as_it_is(before, after):
    """The leader of the partition appends the group as it has it in its cache."""
    length = before.storage.log.length
    if after.storage.epoch > before.storage.epoch or after.storage.log.length == length:
        return True
    record = after.storage.log.slots[length]
    for b in range(len(after.brokers)):
        leads = after.storage.leaders[after.storage.epoch - 1] == b
        if leads and record.kind == GROUP_RECORD and not is_written_by(after.brokers[b], record):
            return False
    return True


def callbacks_are_kept(before, after):
    """A callback knows the position of its record in the log, if its broker leads, and the generation of a group's
    record. Callbacks keep their content and their order until they have run.
    """
    if after.storage.epoch > before.storage.epoch:
        return True
    for b in range(len(after.brokers)):
        old = before.brokers[b].appends
        new = after.brokers[b].appends
        if new.length > old.length:
            append = new.slots[old.length]
            leads = after.storage.leaders[after.storage.epoch - 1] == b
            if new.length > old.length + 1 or append.position != (before.storage.log.length if leads else NOWHERE):
                return False
            if leads and not is_of_record(append, after.storage.log.slots[append.position]):
                return False
        if new.length >= old.length:
            for i in range(len(old.slots) - 1):
                if i < old.length and not same_callback(old.slots[i], new.slots[i]):
                    return False
    return True


def is_of_record(append, record):
    """Whether a callback belongs to a record."""
    if append.kind == GROUP_RECORD or append.kind == STATIC_RECORD:
        return record.kind == GROUP_RECORD and append.generation == record.generation
    return record.kind == append.kind


def same_callback(old, new):
    """Whether a callback is the same, except for its waiter and the death of its group."""
    same = old.kind == new.kind and old.position == new.position and old.generation == new.generation
    return same and old.orphan <= new.orphan


def has_run(old, new, i):
    """Whether a callback has run, and the others remain in order."""
    if new.length != old.length - 1:
        return False
    for k in range(len(old.slots) - 2):
        if k < i and k < new.length and not same_callback(old.slots[k], new.slots[k]):
            return False
        if k >= i and k < new.length and not same_callback(old.slots[k + 1], new.slots[k]):
            return False
    return True


def acknowledged_once(before, after, b, i):
    """An append is acknowledged once. It is committed, and so is everything before it in the log."""
    position = before.brokers[b].appends.slots[i].position
    if not has_run(before.brokers[b].appends, after.brokers[b].appends, i):
        return False
    return after.storage.committed == max(before.storage.committed, position + 1)


def failed_once(before, after, b, i, error):
    """An append fails once, and only if it was not committed. This commits nothing, and the offset stays."""
    position = before.brokers[b].appends.slots[i].position
    if (
        not has_run(before.brokers[b].appends, after.brokers[b].appends, i)
        or position != NOWHERE
        and (position < before.storage.committed)
    ):
        return False
    rises = 0 if position == NOWHERE else 1
    if after.storage.committed != before.storage.committed or after.storage.faults != before.storage.faults + rises:
        return False
    return after.brokers[b].group.offset == before.brokers[b].group.offset


def is_awaited(broker, i):
    """Whether the generation that is being completed awaits an append."""
    append = broker.appends.slots[i]
    same = broker.group.generation == append.generation and not append.orphan
    return append.kind == GROUP_RECORD and same and broker.group.state == COMPLETING_REBALANCE


def stored_is_stable(before, after, b, i):
    """A group is Stable as soon as the assignment of its generation is committed, and takes that assignment. An older
    one changes nothing.
    """
    old = before.brokers[b].group
    new = after.brokers[b].group
    append = before.brokers[b].appends.slots[i]
    if append.kind != GROUP_RECORD or append.position == NOWHERE:
        return False
    if not is_awaited(before.brokers[b], i):
        return new.state == old.state and new.owner == old.owner
    for member in new.members:
        if member.parked == SYNC_PARKED:
            return False
    return new.state == STABLE and new.owner == before.storage.log.slots[append.position].owner


def offset_is_cached(before, after, b, i):
    """The group takes over an acknowledged commit, unless a later one is there, or it was deleted meanwhile. The client
    may go on.
    """
    old = before.brokers[b].group
    new = after.brokers[b].group
    append = before.brokers[b].appends.slots[i]
    if append.kind != OFFSET_RECORD or append.position == NOWHERE or new.state != old.state:
        return False
    record = before.storage.log.slots[append.position]
    if append.orphan or old.offset > append.position:
        if new.offset != old.offset or new.aged != old.aged:
            return False
    elif new.offset != append.position or new.aged != record.aged:
        return False
    for m in range(len(after.clients)):
        if contains(append.waiter, m) and after.network.requests[m].kind != WORK:
            return False
    return after.storage.log.slots[append.position].ghosts.answered == 1


def code_of(syncs, error):
    """The error that a client gets when an append failed (doSyncGroup, putCacheCallback). After a timeout, a client
    that sent a sync is to join again, and one that sent a commit is to retry.
    """
    if error == NOT_LEADER:
        return NOT_COORDINATOR
    if error == TIMED_OUT:
        return REBALANCE_IN_PROGRESS if syncs else REQUEST_TIMED_OUT
    if error == TOO_LARGE:
        return UNKNOWN_SERVER_ERROR if syncs else INVALID_COMMIT_OFFSET_SIZE
    return COORDINATOR_NOT_AVAILABLE


def is_told(before, after, error):
    """Whether all clients that are answered in a step get an error of the log."""
    for m in range(len(after.clients)):
        verdict = after.network.answers[m].verdict
        if before.network.answers[m].verdict == UNANSWERED and verdict != UNANSWERED:
            if verdict != code_of(before.clients[m].phase == SYNCING, error):
                return False
    return True


def not_stored_begins_rebalance(before, after, b, i, error):
    """If the assignment could not be stored, every parked sync is refused, and there is a rebalance. An older one
    changes nothing.
    """
    old = before.brokers[b].group
    new = after.brokers[b].group
    if before.brokers[b].appends.slots[i].kind != GROUP_RECORD or not is_told(before, after, error):
        return False
    return new.state == (PREPARING_REBALANCE if is_awaited(before.brokers[b], i) else old.state)


def commit_is_refused(before, after, b, i, error):
    """A commit that could not be stored is answered with an error, and nothing in the group changes."""
    append = before.brokers[b].appends.slots[i]
    for m in range(len(after.clients)):
        if contains(append.waiter, m) and after.network.answers[m].verdict == UNANSWERED:
            return False
    if not is_told(before, after, error):
        return False
    return append.kind == OFFSET_RECORD and after.brokers[b].group.state == before.brokers[b].group.state


def reset_is_appended(before, after, b):
    """A commit without a generation is appended without one, and creates an unknown group as Empty. If it is refused,
    nothing changes.
    """
    old = before.brokers[b]
    new = after.brokers[b]
    if after.storage.faults == before.storage.faults:
        return old.group.state == new.group.state and after.storage.log.length == before.storage.log.length
    counted = after.storage.faults == before.storage.faults + 1 and new.group.state == EMPTY
    grown = new.appends.length + new.prepared.length - old.appends.length - old.prepared.length
    if not counted or grown != 1 or not old.owned:
        return False
    return new.prepared.length > old.prepared.length or new.appends.slots[old.appends.length].generation == 0


def emptied(s):
    """A group is Empty after its last member has left."""
    for broker in s.brokers:
        if broker.group.state == EMPTY and broker.group.generation > 0:
            return True
    return False


def offset_of_stable(s):
    """A group is Stable, and has a committed offset."""
    for broker in s.brokers:
        if broker.group.state == STABLE and broker.group.offset != NOWHERE:
            return True
    return False


def commits_while_preparing(s):
    """A commit waits for its callback while members are collected."""
    for broker in s.brokers:
        if broker.group.state == PREPARING_REBALANCE and is_pending(broker):
            return True
    return False


def late_joined(s):
    """There is a parked join that no client waits for any more."""
    for broker in s.brokers:
        for member in broker.group.members:
            if member.parked == JOIN_PARKED and is_empty(member.waiter):
                return True
    return False


def leaving(s):
    """A LeaveGroup is in flight."""
    for late in s.network.late:
        if late.kind == LEAVE:
            return True
    return False


def dead_in_cache(s):
    """A group is Dead, and still in the cache."""
    for broker in s.brokers:
        if broker.group.state == DEAD:
            return True
    return False


STORED = (
    always(log_is_whole),
    always_step(callbacks_are_kept),
    always_step(acknowledged_once, of=("group_stored", "offset_stored")),
    always_step(failed_once, of=("group_not_stored", "offset_not_stored")),
    always_step(stored_is_stable, of=("group_stored",)),
    always_step(offset_is_cached, of=("offset_stored",)),
    always_step(not_stored_begins_rebalance, of=("group_not_stored",)),
    always_step(commit_is_refused, of=("offset_not_stored",)),
    always_step(reset_is_appended, of=("reset_offset",)),
)
LOCKED = (always_step(group_is_stored_as_it_is),)
"""From 0.11 on: before, the record was prepared under the group's lock, and appended later."""
REACHED = (
    sometimes(leaving),
    sometimes(emptied, generations=2),
    sometimes(offset_of_stable, log=2),
    sometimes(commits_while_preparing, log=2, faults=1),
    sometimes(late_joined, faults=1),
    sometimes(dead_in_cache, faults=1),
)
