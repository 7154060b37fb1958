"""Deletion of offsets, and of Empty groups without offsets, either on request or by age.

Kafka decides under the group's lock, then removes a Dead group from the cache, and appends the tombstones after it has
released the lock. These are three steps; others may come in between. The tombstones are appended without acks: nobody
learns whether they are replicated.
"""

from kafkaproof.spec.group.cache import forget_membership, put_offset
from kafkaproof.spec.group.coordinator import JOIN_PARKED, has_timers, lay_to_rest, subscribes
from kafkaproof.spec.group.group_states import DEAD, EMPTY, STABLE
from kafkaproof.spec.group.network import NONE, answer_operator
from kafkaproof.spec.group.records import (
    GROUP_RECORD,
    GROUP_TOMBSTONE,
    NO_RECORD,
    OFFSET_RECORD,
    OFFSET_TOMBSTONE,
    STATIC_RECORD,
    TOMBSTONES,
    TRANSACTION_RECORD,
    forget_append,
)
from kafkaproof.spec.group.sorts import NOWHERE, Broker
from kafkaproof.spec.group.storage import (
    count_fault,
    decide_deletion,
    decide_topic_deletion,
    note_death,
    note_deletion,
    put_tombstone,
    time_has_passed,
)
from kafkaproof.spec.group.verdicts import delete_group_verdict, delete_offset_verdict


def abandon_commits(broker):
    """The offsets that wait for their callbacks will not enter the cache."""
    for append in broker.appends.slots:
        if append.kind == OFFSET_RECORD or append.kind == TRANSACTION_RECORD:
            append.orphan = 1
    for prepared in broker.prepared.slots:
        if prepared.record.kind == OFFSET_RECORD:
            prepared.orphan = 1


def abandon_appends(broker):
    """Mark the group of every callback as Dead. Callbacks of group records then only answer static members."""
    abandon_commits(broker)
    for append in broker.appends.slots:
        if append.kind == STATIC_RECORD:
            append.orphan = 1
    for prepared in broker.prepared.slots:
        if prepared.record.kind == GROUP_RECORD:
            prepared.silent = 1
    for k in range(len(broker.appends.slots) - 1):
        i = len(broker.appends.slots) - 2 - k
        if broker.appends.slots[i].kind == GROUP_RECORD:
            forget_append(broker, i)


def keep_waiters(broker):
    """Leave parked joins of static members to the callbacks that answer them, before the group becomes Dead."""
    for append in broker.appends.slots:
        if append.kind == STATIC_RECORD and not append.orphan:
            member = broker.group.members[append.now]
            append.waiter = member.waiter if member.parked == JOIN_PARKED else 0


def has_pending_commit(broker):
    """Whether a commit was accepted and its callback has not yet run."""
    for prepared in broker.prepared.slots:
        if prepared.record.kind == OFFSET_RECORD and not prepared.orphan:
            return True
    for append in broker.appends.slots:
        if append.kind == OFFSET_RECORD and not append.orphan:
            return True
    return False


def is_expired(group):
    """Whether a committed offset is too old. In an Empty group its age counts from when the group became Empty; for a
    simple consumer, from the commit; in a running group it expires only if that is Stable and nobody subscribes to
    its topic (2.8.2, 3.0.1+).

    Kafka: GroupMetadata.removeExpiredOffsets, 2.8.2; removeExpiredOffsets, 3.0.1 to 3.0; removeExpiredOffsets, 3.1.1
           to 3.9.
    """
    if group.offset == NOWHERE:
        return False
    if group.state == EMPTY:
        return group.idle if group.generation > 0 else group.aged
    return group.state == STABLE and group.aged and not subscribes(group)


def is_forsaken(group):
    """Whether a group is Empty, and has no offset or only an expired one."""
    return group.state == EMPTY and group.pending == NOWHERE and (group.offset == NOWHERE or is_expired(group))


def tombstones_of(group, dies):
    """The tombstones to write: for the offset, and for a group that dies if it has a generation, and so a record."""
    if dies and group.generation > 0:
        return GROUP_TOMBSTONE if group.offset == NOWHERE else TOMBSTONES
    return NO_RECORD if group.offset == NOWHERE else OFFSET_TOMBSTONE


def die(broker):
    """transitionTo(Dead), dropping all offsets."""
    broker.tombstone = tombstones_of(broker.group, 1)
    lay_to_rest(broker.group)
    abandon_appends(broker)


def delete_committed(broker):
    """Remove the committed offset from the cache."""
    broker.tombstone = tombstones_of(broker.group, 0)
    put_offset(broker.group, NOWHERE, 0)


def dies_without_offsets(group):
    """hasOffsets: whether a group is Empty, and no transaction holds offsets of it, even deleted ones."""
    return group.state == EMPTY and group.pending == NOWHERE


def remove_offsets(broker):
    """removeOffsets: remove committed and pending offsets. An Empty group without offsets dies."""
    if dies_without_offsets(broker.group):
        die(broker)
    else:
        delete_committed(broker)
        abandon_commits(broker)
        broker.group.pending = NOWHERE


def clean_up(s, b: Broker):
    """The expiry task looks at the group.

    Guards:  its check interval has passed; no commit is pending, no tombstone is due; there is something to delete.
    Effects: an expired offset leaves the cache; an Empty group without offsets becomes Dead. Tombstones are due.
    Kafka:   GroupMetadataManager.cleanupGroupMetadata, GroupMetadata.removeExpiredOffsets, 0.10.1 to 3.9 (KIP-211:
             2.1 to 3.9).
    """
    broker = s.brokers[b]
    group = broker.group
    if not time_has_passed(s.storage) or not has_timers(group) or broker.tombstone != NO_RECORD:
        return False
    if has_pending_commit(broker) or not is_expired(group) and not is_forsaken(group):
        return False

    decide_deletion(s.storage, b, broker.group.offset)
    note_death(s.storage, is_forsaken(group))
    if is_forsaken(group):
        die(broker)
    else:
        delete_committed(broker)
    return True


def delete_group(s, b: Broker):
    """An operator asks broker `b` to delete the group (KIP-229, 1.1+).

    Guards:  no tombstone is due.
    Request: NONE, or an error as in `delete_group_verdict`.
    Effects: an Empty group becomes Dead, and tombstones are due. Otherwise there is only the answer.
    Kafka:   GroupCoordinator.handleDeleteGroups, 1.1 to 3.9.
    """
    broker = s.brokers[b]
    if broker.tombstone != NO_RECORD:
        return False

    verdict = answer_operator(s.network, delete_group_verdict(broker))
    if verdict == NONE:
        decide_deletion(s.storage, b, broker.group.offset)
        note_deletion(s.storage, b)
        note_death(s.storage, 1)
        die(broker)
        count_fault(s.storage)
    return True


def delete_offset(s, b: Broker):
    """An operator asks broker `b` to delete the committed offset (KIP-496, 2.4+).

    Guards:  no tombstone is due.
    Request: NONE, or an error as in `delete_offset_verdict`.
    Effects: committed and pending offsets leave the cache; a tombstone is due if there was one.
    Kafka:   GroupCoordinator.handleDeleteOffsets, GroupMetadata.removeOffsets, 2.4 to 3.9.
    """
    broker = s.brokers[b]
    if broker.tombstone != NO_RECORD:
        return False

    verdict = answer_operator(s.network, delete_offset_verdict(broker))
    if verdict == NONE:
        decide_deletion(s.storage, b, broker.group.offset)
        note_death(s.storage, dies_without_offsets(broker.group))
        remove_offsets(broker)
        count_fault(s.storage)
    return True


def topic_deleted(s, b: Broker):
    """Broker `b` learns that the topic of the offset was deleted.

    Guards:  the group has an offset of the topic, or a commit to it is pending; no tombstone is due. (The API layer
             refuses commits to a topic that does not exist.)
    Effects: the same as when an operator deletes the offset, even if the group subscribes to the topic. A pending
             commit is dropped: its client is answered with NONE, but it does not enter the cache.
    Kafka:   GroupCoordinator.handleDeletedPartitions, GroupMetadata.removeOffsets, 0.10.2 to 3.9.
    """
    broker = s.brokers[b]
    group = broker.group
    if not has_timers(group) or broker.tombstone != NO_RECORD:
        return False
    if group.offset == NOWHERE and group.pending == NOWHERE and not has_pending_commit(broker):
        return False

    decide_topic_deletion(s.storage, b)
    note_death(s.storage, dies_without_offsets(group))
    remove_offsets(broker)
    count_fault(s.storage)
    return True


def remove_dead(s, b: Broker):
    """A Dead group leaves the cache.

    Guards:  the group is Dead.
    Effects: broker `b` no longer knows the group. (Up to 0.10.0 offsets may be there without it.)
    Kafka:   GroupMetadataManager.removeGroup, 0.9 to 0.10.0; cleanupGroupMetadata, 0.10.1 to 3.9;
             removeGroupsForPartition, 0.9 to 3.9.
    """
    broker = s.brokers[b]
    if broker.group.state != DEAD:
        return False

    forget_membership(broker.group)
    return True


def bury(s, b: Broker):
    """Broker `b` appends the tombstones that are due if it leads, and drops them otherwise.

    Guards:  some are due; a Dead group has left the cache.
    Effects: they are in the log, perhaps after records written since; or they are nowhere.
    Kafka:   GroupMetadataManager.removeGroup, 0.9 to 0.10.0; deleteExpiredOffsets, 0.9 to 0.10.0;
             cleanupGroupMetadata, 0.10.1 to 3.9 (appended without acks).
    """
    broker = s.brokers[b]
    if broker.tombstone == NO_RECORD or broker.group.state == DEAD:
        return False

    put_tombstone(s.storage, b, broker.tombstone)
    broker.tombstone = NO_RECORD
    return True
