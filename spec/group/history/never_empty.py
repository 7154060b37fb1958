"""Up to 0.10.0 no group is Empty, and offsets are in a cache of their own, with or without a group.

A group whose last member is gone becomes Dead, leaves the cache, and gets its tombstone, in this order and at once. The
tombstone is appended by the same thread; others may come in between, as after `deletion.die`.
"""

from kafkaproof.spec.group.cache import forget_membership, put_offset
from kafkaproof.spec.group.deletion import abandon_appends, delete_committed, is_expired
from kafkaproof.spec.group.group_states import DEAD, STABLE
from kafkaproof.spec.group.records import GROUP_TOMBSTONE, NO_RECORD, TOMBSTONES
from kafkaproof.spec.group.sorts import NOWHERE, Broker
from kafkaproof.spec.group.storage import decide_deletion, leads, may_stop, note_death, time_has_passed
from kafkaproof.spec.language.domains import NOBODY


def remove_group(storage, b, broker):
    """removeGroup, of a group without members, instead of a record of the Empty group: it is Dead, its tombstone is due,
    and its offset stays.

    Not modelled: that a tombstone which is already due is appended apart from this one.
    Kafka: GroupCoordinator.onCompleteJoin, 0.9 to 0.10.0; GroupMetadataManager.removeGroup, 0.9 to 0.10.0.
    """
    alone = broker.tombstone == NO_RECORD or broker.tombstone == GROUP_TOMBSTONE
    broker.tombstone = GROUP_TOMBSTONE if alone else TOMBSTONES
    forget_membership(broker.group)
    broker.group.state = DEAD
    abandon_appends(broker)
    note_death(storage, 1)


def stay_absent(group):
    """A commit without a generation creates no group, and a join creates one that prepares its rebalance at once.

    Kafka: GroupCoordinator.handleCommitOffsets, 0.9 to 0.10.0; GroupCoordinator.handleJoinGroup, 0.9 to 0.10.0.
    """
    pass


def keep_commits(broker):
    """A commit enters the cache when it is acknowledged, even if its group is gone, or the partition is.

    Kafka: GroupMetadataManager.prepareStoreOffsets, 0.9 to 0.10.0 (putCacheCallback).
    """
    pass


def disown_with_offsets(broker):
    """Give up the partition, and the offsets in the cache, which need no group.

    Kafka: GroupMetadataManager.removeGroupsForPartition, 0.9 to 0.10.0.
    """
    broker.owned = 0
    put_offset(broker.group, NOWHERE, 0)


def drop_loaded_group(group):
    """Drop the group that a load has read, because it failed. The offsets have entered the cache one by one.

    Kafka: GroupMetadataManager.loadGroupsAndOffsets, 0.9 to 0.10.0.
    """
    forget_membership(group)


def has_read_again(storage, b, broker):
    """Whether a broker that loads has read enough: one that is elected again has the high watermark that it had, and
    reads again what was acknowledged.

    Kafka: GroupMetadataManager.loadGroupsAndOffsets, 0.9 to 0.10.0.
    """
    again = broker.owned == 1 and leads(storage, b)
    return may_stop(storage, b, broker.read) and (not again or broker.read >= storage.committed)


def install_members(group):
    """Put a group that was read into the cache, Stable. Without one there are only offsets.

    Kafka: GroupCoordinator.onGroupLoaded, 0.9 to 0.10.0; GroupMetadataManager.loadGroupsAndOffsets, 0.9 to 0.10.0.
    """
    if group.leader != NOBODY:
        group.state = STABLE


def expire_offset(s, b: Broker):
    """The expiry task looks at the offsets.

    Guards:  its check interval has passed; no tombstone is due; the committed offset is too old.
    Effects: the offset leaves the cache, even while another commit waits for its callback; its tombstone is due.
    Kafka:   GroupMetadataManager.deleteExpiredOffsets, 0.9 to 0.10.0.
    """
    broker = s.brokers[b]
    if not time_has_passed(s.storage) or broker.tombstone != NO_RECORD or not is_expired(broker.group):
        return False

    decide_deletion(s.storage, b, broker.group.offset)
    delete_committed(broker)
    return True
