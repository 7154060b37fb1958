"""Properties of groups: deletions and their tombstones, what the passing of time makes old, what a crash forgets."""

from kafkaproof.spec.group.coordinator import has_timers, members_of, subscribes
from kafkaproof.spec.group.group_states import ABSENT, DEAD, EMPTY
from kafkaproof.spec.group.properties.offsets import is_pending
from kafkaproof.spec.group.records import GROUP_TOMBSTONE, NO_RECORD, OFFSET_TOMBSTONE, TOMBSTONES
from kafkaproof.spec.group.sorts import NOWHERE
from kafkaproof.spec.language.model import always_step


def is_due(kind, group_dies, offset_goes):
    """Whether a tombstone is the one for a group that dies, an offset that goes, or both."""
    if group_dies:
        return kind == (TOMBSTONES if offset_goes else GROUP_TOMBSTONE)
    return kind == (OFFSET_TOMBSTONE if offset_goes else NO_RECORD)


def deleted_with_tombstone(before, after, b):
    """What is deleted has a tombstone: an offset that leaves the cache, and a group that dies and has a record."""
    old = before.brokers[b].group
    new = after.brokers[b].group
    if before.brokers[b].tombstone != NO_RECORD:
        return False
    dies = new.state == DEAD and old.state != DEAD
    goes = old.offset != NOWHERE and new.offset == NOWHERE
    if dies != (members_of(old) == 0 and dies) or dies and old.state != EMPTY:
        return False
    if new.generation != old.generation and not dies or new.state != old.state and not dies:
        return False
    return is_due(after.brokers[b].tombstone, dies and old.generation > 0, goes)


def abandoned_when_deleted(before, after, b):
    """Commits that wait for their callbacks do not enter the cache if the offset is deleted or the group dies."""
    old = before.brokers[b].group
    new = after.brokers[b].group
    deleted = new.state == DEAD and old.state != DEAD or old.offset != NOWHERE and new.offset == NOWHERE
    return not deleted or not is_pending(after.brokers[b])


def counts_when_deleted(before, after, b):
    """An operator deletes a group only if it is Empty and owned; an offset, only if the group does not subscribe to its
    topic. Otherwise nothing changes. Such a deletion counts as a fault.
    """
    old = before.brokers[b]
    new = after.brokers[b]
    if after.storage.faults != before.storage.faults:
        allowed = old.group.state == EMPTY or has_timers(old.group) and not subscribes(old.group)
        counted = after.storage.faults == before.storage.faults + 1
        return counted and allowed and old.owned == 1 and new.group.offset == NOWHERE and new.group.pending == NOWHERE
    return (
        new.group.state == old.group.state and new.group.offset == old.group.offset and old.tombstone == new.tombstone
    )


def empty_is_deleted(before, after, b):
    """DeleteGroups makes an Empty group Dead, and no other (KIP-229)."""
    dies = before.brokers[b].group.state == EMPTY and before.brokers[b].owned == 1 and not before.brokers[b].loading
    return dies == (before.brokers[b].group.state != DEAD and after.brokers[b].group.state == DEAD)


def offset_is_deleted(before, after, b):
    """OffsetDelete removes the offset of an Empty group, or of a group that does not subscribe to the topic. An Empty
    group dies with its last offset (KIP-496).
    """
    old = before.brokers[b].group
    new = after.brokers[b].group
    if not has_timers(old) or before.brokers[b].loading or old.state != EMPTY and subscribes(old):
        return new.state == old.state and new.offset == old.offset
    dies = old.state == EMPTY and old.pending == NOWHERE
    return new.offset == NOWHERE and (new.state == DEAD) == dies


def topic_takes_offsets(before, after, b):
    """When a topic is deleted, its offset is removed even if members subscribe, and commits in flight do not enter the
    cache. An Empty group dies with its last offset.
    """
    old = before.brokers[b].group
    new = after.brokers[b].group
    nothing = old.offset == NOWHERE and old.pending == NOWHERE and not is_pending(before.brokers[b])
    if nothing or is_pending(after.brokers[b]) or not has_timers(old):
        return False
    dies = old.state == EMPTY and old.pending == NOWHERE
    counted = after.storage.faults == before.storage.faults + 1
    return counted and new.offset == NOWHERE and new.pending == NOWHERE and (new.state == DEAD) == dies


def cleaned_in_time(before, after, b):
    """The expiry task runs only after its interval has passed, and only if there is something to remove."""
    old = before.brokers[b].group
    new = after.brokers[b].group
    acts = new.state == DEAD or old.offset != NOWHERE and new.offset == NOWHERE
    return before.storage.periods > 0 and has_timers(old) and acts


def dead_leaves(before, after, b):
    """A Dead group leaves the cache, and nothing is known of it afterwards."""
    return before.brokers[b].group.state == DEAD and after.brokers[b].group.state == ABSENT


def tombstone_is_written(before, after, b):
    """The tombstone that is due is appended if the broker leads, once the Dead group has left the cache. It is then no
    longer due.
    """
    old = before.brokers[b]
    leads = before.storage.leaders[before.storage.epoch - 1] == b
    if old.tombstone == NO_RECORD or old.group.state == DEAD or after.brokers[b].tombstone != NO_RECORD:
        return False
    length = before.storage.log.length
    if not leads:
        return after.storage.log.length == length
    return after.storage.log.length == length + 1 and after.storage.log.slots[length].kind == old.tombstone


def crash_forgets(before, after, b):
    """A broker whose process dies forgets the group and all callbacks. Clients that waited for an answer are
    disconnected.
    """
    old = before.brokers[b]
    new = after.brokers[b]
    if not old.owned and not old.loading or after.storage.faults != before.storage.faults + 1:
        return False
    if new.group.state != ABSENT or new.owned or new.loading or new.read > 0 or new.epoch != after.storage.epoch:
        return False
    empty = new.appends.length == 0 and new.prepared.length == 0 and new.tombstone == NO_RECORD
    return empty and after.storage.log.length == before.storage.log.length


def ages_by_retention(before, after, retention):
    """A retention period makes every record, every committed offset and every Empty group old, and changes nothing
    else. The check interval alone makes nothing old.
    """
    for b in range(len(after.brokers)):
        old = before.brokers[b].group
        new = after.brokers[b].group
        if not retention and (new.aged != old.aged or new.idle != old.idle):
            return False
        if retention and ((new.aged == 1) != (new.offset != NOWHERE) or new.state == EMPTY and not new.idle):
            return False
        if new.state != old.state or new.offset != old.offset:
            return False
    for p in range(len(after.storage.log.slots) - 1):
        aged = retention == 1 and p < after.storage.log.length or before.storage.log.slots[p].aged == 1
        if (after.storage.log.slots[p].aged == 1) != aged:
            return False
    return after.storage.periods == before.storage.periods + 1


OWN = ("clean_up", "delete_group", "delete_offset", "topic_deleted")
DELETED = (
    always_step(deleted_with_tombstone, of=OWN),
    always_step(abandoned_when_deleted, of=OWN),
    always_step(counts_when_deleted, of=("delete_group", "delete_offset")),
    always_step(empty_is_deleted, of=("delete_group",)),
    always_step(offset_is_deleted, of=("delete_offset",)),
    always_step(topic_takes_offsets, of=("topic_deleted",)),
    always_step(cleaned_in_time, of=("clean_up",)),
    always_step(dead_leaves, of=("remove_dead",)),
    always_step(tombstone_is_written, of=("bury",)),
    always_step(crash_forgets, of=("crash",)),
    always_step(ages_by_retention, of=("time_passes",)),
)
