"""Properties of groups up to 0.10.0: a group without members is gone, and offsets are apart from it."""

from kafkaproof.spec.group.coordinator import members_of
from kafkaproof.spec.group.group_states import ABSENT, COMPLETING_REBALANCE, DEAD, EMPTY, STABLE
from kafkaproof.spec.group.properties import offsets
from kafkaproof.spec.group.properties.offsets import is_tombstone_of_offset, last_before, offset_before
from kafkaproof.spec.group.properties.safety import COMPLETIONS, is_as_stored, is_coordinator
from kafkaproof.spec.group.records import GROUP_TOMBSTONE, TOMBSTONES
from kafkaproof.spec.group.sorts import NOWHERE
from kafkaproof.spec.language.model import always, always_step, sometimes


def never_empty(s):
    """No group is Empty: one without members is Dead or gone."""
    for broker in s.brokers:
        if broker.group.state == EMPTY:
            return False
    return True


def dies_without_members(before, after, b, leader, protocol, topic):
    """A completed join without members makes the group Dead: its tombstone is due, and the offset stays."""
    old = before.brokers[b].group
    new = after.brokers[b].group
    if members_of(new) > 0:
        return new.state == COMPLETING_REBALANCE
    tombstone = after.brokers[b].tombstone
    due = tombstone == GROUP_TOMBSTONE or tombstone == TOMBSTONES
    return new.state == DEAD and due and new.offset == old.offset and new.aged == old.aged


def loaded_as_read(before, after, b):
    """The coordinator by right has the offset and the group that the records which it has read say, each without the
    other, unless it had the group already (G10).
    """
    group = after.brokers[b].group
    read = before.brokers[b].read
    if not is_coordinator(after, b) or before.brokers[b].group.state != ABSENT:
        return True
    if group.offset != offset_before(after, read):
        return False
    last = last_before(after, read)
    if last == NOWHERE:
        return group.state == ABSENT and group.generation == 0
    return group.state == STABLE and is_as_stored(group, after.storage.log.slots[last])


def cached_is_kept(s):
    """No tombstone stands in the log behind the offset that the coordinator by right has in its cache."""
    for b in range(len(s.brokers)):
        offset = s.brokers[b].group.offset
        for position in range(len(s.storage.log.slots) - 1):
            if is_coordinator(s, b) and 0 <= offset < position:
                if is_tombstone_of_offset(s.storage.log.slots[position]):
                    return False
    return True


def offset_alone(s):
    """A coordinator has an offset without a group."""
    for b in range(len(s.brokers)):
        group = s.brokers[b].group
        if is_coordinator(s, b) and group.state == ABSENT and group.offset != NOWHERE:
            return True
    return False


def dead_with_its_offset(s):
    """A group is Dead, and its offset stays in the cache."""
    for broker in s.brokers:
        if broker.group.state == DEAD and broker.group.offset != NOWHERE:
            return True
    return False


OF_EXPIRY = (offsets.running_group_keeps_offset, offsets.dies_with_nothing)
"""What is asked of an expiry task that looks at groups."""
APART = (
    *(p for p in offsets.SAFETY if p.predicate is not offsets.loaded_is_log and p.predicate not in OF_EXPIRY),
    always(never_empty),
    always(cached_is_kept),
    always_step(dies_without_members, of=COMPLETIONS),
    always_step(loaded_as_read, of=("load",)),
    always_step(offsets.expires_by_age, of=("expire_offset",)),
    always_step(offsets.running_group_keeps_offset, of=("expire_offset",)),
)
GOALS = (sometimes(offset_alone, log=1), sometimes(dead_with_its_offset, log=2))
