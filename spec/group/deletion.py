"""What is deleted, asked for or by age: offsets, and groups that are Empty and have none.

Kafka decides under the group's lock, and appends the tombstones after it has released it, and has taken a
Dead group out of the cache: three steps, between which others go on. The tombstones are appended without acks: nobody
learns whether they are replicated.
"""

from kafkaproof.spec.group.cache import put_offset
from kafkaproof.spec.group.coordinator import forget_group, has_timers, lay_to_rest, subscribes
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
from kafkaproof.spec.group.states import DEAD, EMPTY, STABLE
from kafkaproof.spec.group.storage import (
    count_fault,
    decide_deletion,
    leads,
    note_death,
    note_deletion,
    put_tombstone,
    time_has_passed,
)
from kafkaproof.spec.group.verdicts import delete_group_verdict, delete_offset_verdict


def abandon_commits(broker):
    """The offsets that wait for their callbacks will not be in the cache."""
    for append in broker.appends.slots:
        if append.kind == OFFSET_RECORD or append.kind == TRANSACTION_RECORD:
            append.orphan = 1
    for prepared in broker.prepared.slots:
        if prepared.record.kind == OFFSET_RECORD:
            prepared.orphan = 1


def abandon_appends(broker):
    """The group of all callbacks is Dead; those of group records do nothing any more, but to answer a static member."""
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


def has_pending_commit(broker):
    """Whether a commit was accepted, and its callback has not run."""
    for prepared in broker.prepared.slots:
        if prepared.record.kind == OFFSET_RECORD and not prepared.orphan:
            return True
    for append in broker.appends.slots:
        if append.kind == OFFSET_RECORD and not append.orphan:
            return True
    return False


def is_expired(group):
    """Whether a committed offset is too old: of an Empty group since it is Empty, of a simple consumer since the
    commit, of a running group only when nobody subscribes to its topic (KIP-211, 2.1+).
    """
    if group.offset == NOWHERE:
        return False
    if group.state == EMPTY:
        return group.idle if group.generation > 0 else group.aged
    return group.state == STABLE and group.aged and not subscribes(group)


def is_forsaken(group):
    """Whether a group is Empty, and has no offset but an expired one."""
    return group.state == EMPTY and group.pending == NOWHERE and (group.offset == NOWHERE or is_expired(group))


def tombstones_of(group, dies):
    """What has to be written for the offset, and for a group that dies: without a generation it has no record."""
    if dies and group.generation > 0:
        return GROUP_TOMBSTONE if group.offset == NOWHERE else TOMBSTONES
    return NO_RECORD if group.offset == NOWHERE else OFFSET_TOMBSTONE


def die(broker):
    """transitionTo(Dead), with all offsets."""
    broker.tombstone = tombstones_of(broker.group, 1)
    lay_to_rest(broker.group)
    abandon_appends(broker)


def delete_committed(broker):
    """The committed offset leaves the cache."""
    broker.tombstone = tombstones_of(broker.group, 0)
    put_offset(broker.group, NOWHERE, 0)


def dies_without_offsets(group):
    """hasOffsets: whether a group is Empty, and no transaction has offsets of it, even those that are deleted."""
    return group.state == EMPTY and group.pending == NOWHERE


def remove_offsets(broker):
    """removeOffsets: what is committed and what is pending; an Empty group without offsets dies."""
    if dies_without_offsets(broker.group):
        die(broker)
    else:
        delete_committed(broker)
        abandon_commits(broker)
        broker.group.pending = NOWHERE


def clean_up(s, b: Broker):
    """The expiry task looks at the group.

    Guards:  its interval has passed; no commit is pending, no tombstone is due, and there is something to delete.
    Effects: an expired offset leaves the cache; an Empty group without offsets is Dead. Tombstones are due.
    Kafka:   GroupMetadataManager.cleanupGroupMetadata, GroupMetadata.removeExpiredOffsets, 2.1 to 3.9 (KIP-211).
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
    Request: NONE; else as `delete_group_verdict`.
    Effects: an Empty group is Dead, and tombstones are due; else nothing but the answer.
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
    Request: NONE; else as `delete_offset_verdict`.
    Effects: the offset leaves the cache, and so does what is pending; tombstones are due if there was one.
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
    """Broker `b` hears that the topic of the offset is deleted.

    Guards:  it has an offset of the topic; no commit is pending, no tombstone is due. (The API layer refuses commits
             of a topic that does not exist.)
    Effects: as when an operator deletes the offset, whoever subscribes to the topic.
    Kafka:   GroupCoordinator.handleDeletedPartitions, 0.10.2 to 3.9.
    """
    broker = s.brokers[b]
    group = broker.group
    if not has_timers(group) or broker.tombstone != NO_RECORD:
        return False
    if has_pending_commit(broker) or group.offset == NOWHERE and group.pending == NOWHERE:
        return False

    decide_deletion(s.storage, b, broker.group.offset)
    note_death(s.storage, dies_without_offsets(group))
    remove_offsets(broker)
    count_fault(s.storage)
    return True


def may_leave_cache(owned, leading):
    """Whether a Dead group leaves the cache, by a broker that owns the partition or not, leads or not: always."""
    return True


def remove_dead(s, b: Broker):
    """A Dead group leaves the cache.

    Guards:  it is Dead.
    Effects: broker `b` knows no such group.
    Kafka:   GroupMetadataManager.cleanupGroupMetadata, removeGroupsForPartition, 0.10 to 3.9.
    """
    broker = s.brokers[b]
    if broker.group.state != DEAD or not may_leave_cache(broker.owned, leads(s.storage, b)):
        return False

    forget_group(broker.group)
    return True


def bury(s, b: Broker):
    """The tombstones that were decided are appended, where broker `b` leads; else they are dropped.

    Guards:  some are due; a group that is dead has left the cache.
    Effects: they are in the log, perhaps behind what was written since; or nowhere.
    Kafka:   GroupMetadataManager.cleanupGroupMetadata, appendRecordsToLeader without acks, 0.10 to 3.9.
    """
    broker = s.brokers[b]
    if broker.tombstone == NO_RECORD or broker.group.state == DEAD:
        return False

    put_tombstone(s.storage, b, broker.tombstone)
    broker.tombstone = NO_RECORD
    return True
