"""Offsets are in a cache of their own: they are loaded, stay, and expire without a group."""

from kafkaproof.spec.group.cache import forget_membership, put_offset
from kafkaproof.spec.group.deletion import delete_committed, is_expired
from kafkaproof.spec.group.group_states import STABLE
from kafkaproof.spec.group.records import NO_RECORD
from kafkaproof.spec.group.sorts import NOWHERE, Broker
from kafkaproof.spec.group.storage import decide_deletion, time_has_passed
from kafkaproof.spec.language.domains import NOBODY


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
