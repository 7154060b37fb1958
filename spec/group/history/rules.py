"""What a coordinator did differently up to 2.8.1: loading, expiry of offsets and sessions, the initial delay.

Each function says up to which release it held. Records that are appended after the group's lock is released (up to
0.10.2) are in `unlocked`.
"""

from kafkaproof.spec.group.coordinator import subscribes
from kafkaproof.spec.group.group_states import EMPTY, PREPARING_REBALANCE
from kafkaproof.spec.group.sorts import NOWHERE
from kafkaproof.spec.language.domains import NOBODY


def loads_again(broker):
    """Whether an elected broker loads the partition: always. Meanwhile it answers that it is loading.

    Kafka: GroupMetadataManager.loadGroupsForPartition, 0.9 to 1.1; addLoadingPartition, 2.0 to 2.8.0.
    """
    return True


def is_below_high_watermark(storage, read):
    """Whether a new leader has read far enough: to the high watermark, which may lag behind by what it fetched last.

    Kafka: GroupMetadataManager.loadGroupsAndOffsets, 0.9 to 0.10.2; getHighWatermark, 0.9 to 0.10.1;
           ReplicaManager.getHighWatermark, 0.10.2.
    """
    return read == storage.log.length or read + 1 == storage.log.length


def expires_unsubscribed(group):
    """Whether a committed offset is too old: as in `deletion.is_expired`, but in any state of a running group it expires
    if nobody subscribes to its topic.

    Kafka: GroupMetadata.removeExpiredOffsets, 2.4.0 to 2.8.1; removeExpiredOffsets, 3.0.0; removeExpiredOffsets,
           3.1.0.
    """
    if group.offset == NOWHERE:
        return False
    if group.state == EMPTY:
        return group.idle if group.generation > 0 else group.aged
    return group.aged and not subscribes(group)


def expires_empty(group):
    """Whether a committed offset is too old: in a running group, never (KIP-211).

    Kafka: GroupMetadata.removeExpiredOffsets, 2.1 to 2.3.
    """
    if group.offset == NOWHERE or group.state != EMPTY:
        return False
    return group.idle if group.generation > 0 else group.aged


def expires_by_itself(group):
    """Whether a committed offset is too old: only its own age counts.

    Kafka: GroupMetadataManager.deleteExpiredOffsets, 0.9 to 0.10.0; GroupMetadata.removeExpiredOffsets, 0.10.1 to 2.0
           (expireTimestamp).
    """
    return group.offset != NOWHERE and group.aged


def is_kept_by_join(member):
    """Whether a member's session may end while its join is parked: never, even if it is new.

    Kafka: GroupCoordinator.shouldKeepMemberAlive, 0.9 to 2.1.0.
    """
    return False


def prepare_at_once(group):
    """prepareRebalance, without an initial delay: drop the assignment and start a delayed join.

    Kafka: GroupCoordinator.prepareRebalance, 0.9 to 0.10.2.
    """
    group.state = PREPARING_REBALANCE
    group.owner = NOBODY
    group.idle = 0


def last_callback(cached, position):
    """The one of two offsets that stays in the cache: the one whose callback runs last.

    Kafka: GroupMetadataManager.putOffset, 0.9 to 0.10.0; GroupMetadata.completePendingOffsetWrite, 0.10.1 to 0.10.2.
    """
    return position
